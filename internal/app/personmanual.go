package app

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cordon/internal/engine"
	"cordon/playbooks"
)

// manual asks for what a person does elsewhere: field by field, an empty line keeping
// what is on record. Whatever cannot be taken is asked again.
func (p *Person) manual(pr engine.Prompt, d engine.Decision) (engine.Decision, error) {
	m := pr.Manual
	back := engine.Decision{N: pr.N, Verb: engine.Again}
	switch d.Verb {
	case engine.Redo:
		if d.Reason == "" {
			p.Out.Printf("say what is missing: %s WHY", engine.Redo)
			return back, nil
		}
		return d, nil
	case engine.Sign:
		ok, err := p.held(m.Guards, &d)
		if err != nil || !ok {
			return back, err
		}
		a, err := p.line("type sign to say that you saw it done: ")
		if err != nil || a != engine.Sign {
			return back, err
		}
		return d, nil
	}
	d.Fields = map[string]string{}
	if d.Verb == engine.Wait && len(m.Fields) > 0 {
		p.Out.Printf("what is known so far (empty: not yet):")
	}
	for _, f := range m.Fields {
		if was, ok := p.typed[pr.Task+" "+f.ID]; ok {
			f.Value = was
		}
		v, err := p.field(f, d.Verb == engine.Did)
		if err != nil {
			return back, err
		}
		if p.typed == nil {
			p.typed = map[string]string{}
		}
		d.Fields[f.ID], p.typed[pr.Task+" "+f.ID] = v, v
	}
	if d.Verb == engine.Wait {
		return p.wait(pr, d)
	}
	for len(d.Attach) < engine.MaxFiles {
		missing := m.Attach && len(m.Files)+len(d.Attach) == 0
		ask := "file to keep with it (empty: no more): "
		if missing {
			ask = "file to keep with it (one is wanted; - goes back, and it can wait): "
		}
		a, err := p.line(ask)
		if err != nil || missing && a == "-" {
			return back, err
		}
		if a == "" && missing {
			continue
		}
		if a == "" {
			break
		}
		if err := CheckFile(a); err != nil {
			p.Out.Printf("%v", err)
			continue
		}
		d.Attach = append(d.Attach, a)
	}
	var held []engine.Guard // about an answer that is still the same
	for _, g := range m.Guards {
		i := slices.IndexFunc(m.Fields, func(f engine.ManualField) bool { return g.ID == "online:"+f.ID })
		if i < 0 || m.Fields[i].Value == d.Fields[m.Fields[i].ID] {
			held = append(held, g)
		}
	}
	ok, err := p.held(held, &d)
	if err != nil || !ok {
		return back, err
	}
	a, err := p.line("write this down as done? y to go on: ")
	if err != nil || a != "y" {
		p.Out.Printf("not written down")
		return back, err
	}
	return d, nil
}

// held asks for a reason where guards stand; false: there is none.
func (p *Person) held(guards []engine.Guard, d *engine.Decision) (bool, error) {
	for _, g := range guards {
		p.Out.Printf("held back: %s", g.Text)
		d.Waive = append(d.Waive, g.ID)
	}
	if len(guards) == 0 {
		return true, nil
	}
	why, err := p.line("why go on all the same (empty: do not): ")
	d.Reason = why
	return why != "", err
}

func (p *Person) field(f engine.ManualField, whole bool) (string, error) {
	f.Required = f.Required && whole
	ask := f.Title + " (" + f.Kind
	if f.Required {
		ask += ", required"
	}
	ask += ")"
	if f.Value != "" {
		ask += " [" + f.Value + "]"
	}
	for {
		a, err := p.line(p.Out.Safe(ask) + ": ")
		if err != nil {
			return "", err
		}
		switch a {
		case "":
			a = f.Value
		case "-":
			a = ""
		}
		v, err := engine.CheckField(f, a)
		if err == nil {
			return v, nil
		}
		p.Out.Printf("%v", err)
	}
}

// wait asks for whom and until when.
func (p *Person) wait(pr engine.Prompt, d engine.Decision) (engine.Decision, error) {
	m := pr.Manual
	back := engine.Decision{N: pr.N, Verb: engine.Again}
	var err error
	if d.Owner, err = p.field(engine.ManualField{Title: "who does it", Kind: playbooks.FieldPerson, Required: true, Value: m.Owner}, true); err != nil {
		return back, err
	}
	for d.Due.IsZero() {
		was := ""
		if !m.Due.IsZero() && !m.Late {
			was = " [" + m.Due.UTC().Format("2006-01-02 15:04Z") + "]"
		}
		a, err := p.line("until when (2026-11-30, or 14d from now)" + was + ": ")
		if err != nil {
			return back, err
		}
		if a == "" && was != "" {
			d.Due = m.Due
			break
		}
		if d.Due, err = Until(a, m.Now); err != nil {
			p.Out.Printf("%v", err)
		}
	}
	for d.Reason == "" {
		if d.Reason, err = p.line("why it waits: "); err != nil {
			return back, err
		}
	}
	return d, nil
}

// Until reads a day, a day with a time in UTC, or a number of hours or days from now.
// A day means its end.
func Until(s string, now time.Time) (time.Time, error) {
	if n := len(s) - 1; n > 0 && (s[n] == 'd' || s[n] == 'h') {
		if x, err := strconv.Atoi(s[:n]); err == nil && x > 0 && x < 10000 {
			if s[n] == 'd' {
				x *= 24
			}
			return now.Add(time.Duration(x) * time.Hour).UTC(), nil
		}
	}
	day, err := engine.ParseDate(strings.TrimSpace(s))
	if err != nil {
		return time.Time{}, fmt.Errorf("%w, or 14d, or 12h", err)
	}
	t, err := time.Parse("2006-01-02 15:04Z", day)
	if err != nil {
		t, _ = time.Parse("2006-01-02", day) // ParseDate wrote one of the two
		t = t.Add(24*time.Hour - time.Minute)
	}
	if !t.After(now) {
		return time.Time{}, errors.New("that is not in the future")
	}
	return t.UTC(), nil
}
