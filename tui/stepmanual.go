package tui

import (
	"bytes"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordon/internal/app"
	"cordon/internal/engine"
	"cordon/playbooks"
)

// canManual says why what a person did cannot be written down now.
func (p *stepper) canManual() string {
	if p.cur.CannotDo != "" {
		return p.cur.CannotDo
	}
	if p.can(engine.Did) == "" || p.can(engine.Sign) == "" {
		return ""
	}
	return p.can(engine.Did)
}

// manualLines is what a person has to do and what is on record of it.
func (p *stepper) manualLines(w int) []string {
	var b bytes.Buffer
	app.Lines{W: &b}.Manual(p.cur.Manual)
	var out []string
	for l := range strings.Lines(b.String()) {
		label, text, _ := strings.Cut(strings.TrimSpace(l), " ")
		out = append(out, hang(label, strings.TrimSpace(text), w)...)
	}
	return out
}

// manual asks what became of it, and then for what that answer needs. Nothing is
// chosen beforehand.
func (p *stepper) manual() tea.Cmd {
	words := []string{engine.Did, engine.Wait}
	if p.can(engine.Sign) == "" {
		words = []string{engine.Sign, engine.Redo, engine.Wait}
	}
	p.form = newForm(p.e.th, p.e.keys, p.cur.Text, func(v []string) (tea.Cmd, string) {
		switch {
		case !slices.Contains(words, v[0]):
			return nil, "write one of: " + strings.Join(words, ", ")
		case v[0] == engine.Did:
			p.did()
		case v[0] == engine.Wait:
			p.waits()
		case v[0] == engine.Redo:
			return p.reason(engine.Redo, "Send it back: what is missing?"), ""
		default:
			p.sign()
		}
		return nil, ""
	}, strings.Join(words, " | "))
	return nil
}

// did asks for the fields, a file, and a reason where something holds it back.
func (p *stepper) did() {
	pr, m := p.cur, p.cur.Manual
	var labels []string
	for _, f := range m.Fields {
		l := clean(f.Title) + " (" + f.Kind
		if f.Required {
			l += ", required"
		}
		labels = append(labels, l+")")
	}
	n := len(labels)
	labels = append(labels, "file to keep with it (its path)")
	if len(m.Guards) > 0 {
		labels = append(labels, "why all the same: "+clean(m.Guards[0].Text))
	}
	p.form = newForm(p.e.th, p.e.keys, p.cur.Text, func(v []string) (tea.Cmd, string) {
		if p.cur == nil || p.cur.N != pr.N {
			return nil, "the question has changed: esc, and look again"
		}
		d := engine.Decision{Verb: engine.Did, Fields: map[string]string{}}
		for i, f := range m.Fields {
			got, err := engine.CheckField(f, v[i])
			if err != nil {
				return nil, clean(err.Error())
			}
			d.Fields[f.ID] = got
		}
		switch {
		case v[n] != "":
			if err := app.CheckFile(v[n]); err != nil {
				return nil, clean(err.Error())
			}
			d.Attach = []string{v[n]}
		case m.Attach && len(m.Files) == 0:
			return nil, "a file has to be kept with this"
		}
		if len(v) > n+1 && v[n+1] != "" {
			d.Reason = v[n+1]
			for _, g := range m.Guards {
				d.Waive = append(d.Waive, g.ID)
			}
		}
		p.decide(d, "writing it down")
		return nil, ""
	}, labels...)
	for i, f := range m.Fields {
		p.form.fields[i].text = f.Value
	}
}

// waits asks for whom, until when and why.
func (p *stepper) waits() {
	pr, m := p.cur, p.cur.Manual
	p.form = newForm(p.e.th, p.e.keys, "Let it wait: the steps that do not need it go on", func(v []string) (tea.Cmd, string) {
		if p.cur == nil || p.cur.N != pr.N {
			return nil, "the question has changed: esc, and look again"
		}
		d := engine.Decision{Verb: engine.Wait, Reason: v[2], Fields: map[string]string{}}
		for _, f := range m.Fields {
			if f.Value != "" {
				d.Fields[f.ID] = f.Value
			}
		}
		var err error
		if d.Owner, err = engine.CheckField(engine.ManualField{Title: "who", Kind: playbooks.FieldPerson, Required: true}, v[0]); err != nil {
			return nil, clean(err.Error())
		}
		if d.Due, err = app.Until(v[1], m.Now); err != nil {
			return nil, clean(err.Error())
		}
		if d.Reason == "" {
			return nil, "a reason is needed: it is kept in the case"
		}
		p.decide(d, "writing it down")
		return nil, ""
	}, "for whom", "until when (2026-11-30, 14d, 12h)", "why")
	p.form.fields[0].text = m.Owner
}

// sign asks for the word, and for a reason where whoever signs did the work.
func (p *stepper) sign() {
	pr, m := p.cur, p.cur.Manual
	labels := []string{"type sign to say that you saw it done"}
	if len(m.Guards) > 0 {
		labels = append(labels, "why all the same: "+clean(m.Guards[0].Text))
	}
	p.form = newForm(p.e.th, p.e.keys, "Sign for: "+p.cur.Text, func(v []string) (tea.Cmd, string) {
		d := engine.Decision{Verb: engine.Sign}
		switch {
		case p.cur == nil || p.cur.N != pr.N:
			return nil, "the question has changed: esc, and look again"
		case v[0] != engine.Sign:
			return nil, "not signed: write sign, or esc"
		case len(v) > 1 && v[1] == "":
			return nil, "a reason is needed: it is kept in the case"
		case len(v) > 1:
			d.Reason = v[1]
			for _, g := range m.Guards {
				d.Waive = append(d.Waive, g.ID)
			}
		}
		p.decide(d, "writing it down")
		return nil, ""
	}, labels...)
}
