package tui

import (
	"fmt"
	"slices"
	"strings"

	"cordon/internal/app"
	"cordon/internal/change"
	"cordon/internal/engine"
	"cordon/internal/host"
	"cordon/internal/target"
	"cordon/internal/witness"
)

// planWidth is the least width at which plans stand side by side.
const planWidth = 46

// right is what the run asks or does, in w cells, scrolled to p.off.
func (p *stepper) right(w, h int) []string {
	th := p.e.th
	var head, body []string
	add := func(style func(...string) string, text string) {
		for _, l := range wrap(text, w) {
			head = append(head, style(l))
		}
	}
	switch {
	case p.cur != nil && p.over():
		body = p.ended(w)
	case p.cur != nil:
		add(th.Title.Render, fmt.Sprintf("%d/%d %s", p.cur.Index, p.cur.Of, clean(p.cur.Title)))
		head = append(head, clip(th, clean(p.cur.Target.String()), w))
		body = p.asked(w)
	case p.dead:
		add(th.Title.Render, "the run stands still")
	case p.busy != "":
		add(th.Title.Render, p.busy+" "+th.Glyph("more"))
		switch {
		case p.reads != nil:
			body = p.howFar(w)
		case p.watch != nil:
			body = verdict(th, *p.watch, w)
		default:
			body = []string{"", "if a security key blinks, touch it; if a credential", "command asks, it asks on its own terminal"}
		}
	}
	if n := len(p.alarm); n > 0 {
		text := th.Glyph("bad") + " " + p.alarm[n-1]
		if n > 1 {
			text += fmt.Sprintf(" (and %d before it: l)", n-1)
		}
		for _, l := range clamp(th, wrap(text, w), 3) {
			head = append(head, th.Bad.Render(l))
		}
	}
	if p.last != "" && !p.over() && p.err == nil {
		for _, l := range clamp(th, wrap("last: "+p.last, w), 2) {
			head = append(head, th.Dim.Render(l))
		}
	}
	if p.err != nil {
		for _, l := range clamp(th, wrap(th.Glyph("bad")+" "+clean(errText(p.err)), w), 4) {
			head = append(head, th.Bad.Render(l))
		}
	}
	return p.scrolled(head, body, w, h)
}

// scrolled shows as much of body as fits under head, and says what is below.
func (p *stepper) scrolled(head, body []string, w, h int) []string {
	th := p.e.th
	room := max(1, h-len(head)-1)
	p.lastOff = max(0, len(body)-room)
	p.off = min(p.off, p.lastOff)
	end := min(len(body), p.off+room)
	out := append(head, body[p.off:end]...)
	if below := len(body) - end; below > 0 {
		for len(out) < h-1 {
			out = append(out, "")
		}
		out = append(out[:h-1], th.Dim.Render(clip(th, fmt.Sprintf("%s %d more lines below: j", th.Glyph("down"), below), w)))
	}
	return out
}

// clamp keeps the first n lines and marks the cut.
func clamp(th Theme, lines []string, n int) []string {
	if len(lines) > n {
		lines = append(lines[:n-1:n-1], lines[n-1]+th.Glyph("more"))
	}
	return lines
}

// asked is the body of a prompt.
func (p *stepper) asked(w int) []string {
	th := p.e.th
	var out []string
	if p.cur.Text != "" {
		for _, l := range wrap(clean(p.cur.Text), w) {
			out = append(out, th.Warn.Render(l))
		}
	}
	if p.cur.CannotDo != "" {
		for _, l := range wrap(th.Glyph("bad")+" cannot be applied: "+clean(p.cur.CannotDo), w) {
			out = append(out, th.Bad.Render(l))
		}
	}
	out = append(out, p.leases(w)...)
	if p.cur.Manual != nil {
		out = append(out, p.manualLines(w)...)
	}
	for _, o := range p.cur.Seen {
		out = append(out, hang("saw", says(o), w)...)
	}
	n := len(p.cur.Plans)
	if n > 1 && w/n >= planWidth {
		return append(out, p.sideBySide(w/n)...)
	}
	if n > 1 {
		var tabs []string
		for i, pl := range p.cur.Plans {
			tabs = append(tabs, th.Mark(i == p.plan)+clean(pl.Option))
		}
		out = append(out, fmt.Sprintf("plan %d of %d (tab):%s", p.plan+1, n, strings.Join(tabs, "")))
	}
	if n > 0 {
		out = append(out, planLines(th, p.cur.Plans[p.plan], p.cur.Guards[p.plan], p.looks, w)...)
	}
	return append(out, hang("why", clean(p.cur.Why), w)...)
}

// sideBySide lays all plans out in columns of w cells.
func (p *stepper) sideBySide(w int) []string {
	th := p.e.th
	var cols [][]string
	rows := 0
	for i, pl := range p.cur.Plans {
		c := append([]string{th.Mark(i == p.plan) + th.Title.Render(clean(pl.Option)) + " (tab)"}, planLines(th, pl, p.cur.Guards[i], p.looks, w-2)...)
		cols, rows = append(cols, c), max(rows, len(c))
	}
	out := make([]string, rows)
	for r := range rows {
		for _, c := range cols {
			cell := ""
			if r < len(c) {
				cell = c[r]
			}
			out[r] += fit(th, cell, w)
		}
	}
	return out
}

// planLines are the lines of one plan, what matters most first.
func planLines(th Theme, pl change.Plan, guards []engine.Guard, looks []host.Looking, w int) []string {
	var out []string
	row := func(style func(...string) string, label, text string) {
		if text == "" {
			return
		}
		for _, l := range hang(label, clean(text), w) {
			out = append(out, style(l))
		}
	}
	plain := th.Plain.Render
	row(th.Title.Render, "what", pl.Title)
	for _, g := range guards {
		row(th.Warn.Render, "held", g.Text+" ("+g.Class+")")
	}
	row(plain, "covers", pl.Covers)
	for _, r := range app.Reaches(pl, looks) {
		row(plain, "reaches", r.Does)
	}
	for _, l := range looksOf(pl, looks) {
		if l.Problem != "" {
			row(th.Warn.Render, "fails", "before any contact: "+l.Problem)
		}
	}
	if len(pl.Changes) == 0 && appliable(pl) {
		row(th.Warn.Render, "tips off", pl.TipsOff)
	}
	for _, c := range pl.Changes {
		if len(pl.Changes) > 1 {
			row(th.Title.Render, "change", c.Title)
		}
		row(plain, "where", c.Target.String())
		row(plain, "who else", hits(c))
		row(plain, "capacity", c.Capacity)
		row(th.Warn.Render, "destroys", strings.Join(c.Destroys, ", "))
		if c.TipsOff == "" {
			row(plain, "tips off", "nobody, as far as is known")
		} else {
			row(th.Warn.Render, "tips off", c.TipsOff)
		}
		back := plain
		if app.NoWayBack(pl, c) {
			back = th.Warn.Render
		}
		row(th.Warn.Render, "ends", c.Ends)
		row(back, "undo", app.WayBack(pl, c))
		row(plain, "sends", c.Call.String())
	}
	for _, x := range pl.Limits {
		row(plain, "limit", x)
	}
	for _, x := range pl.Manual {
		row(plain, "by hand", x)
	}
	for _, x := range pl.ByHand {
		row(plain, "by hand", strings.TrimSpace(x.Title+"  "+x.URL+"  "+x.Command))
	}
	return out
}

// looksOf are the looks at a plan's contacts.
func looksOf(pl change.Plan, looks []host.Looking) []host.Looking {
	return slices.DeleteFunc(slices.Clone(looks), func(l host.Looking) bool {
		return !slices.ContainsFunc(pl.Contacts, func(c target.Ref) bool { return c.ID == l.Host })
	})
}

// hang writes a label and text wrapped beside it.
func hang(label, text string, w int) []string {
	if text == "" {
		return nil
	}
	const tab = 9
	lines := wrap(text, max(8, w-tab))
	for i, l := range lines {
		if i == 0 {
			lines[i] = fmt.Sprintf("%-*s%s", tab, label, l)
		} else {
			lines[i] = strings.Repeat(" ", tab) + l
		}
	}
	return lines
}

func says(o witness.Observation) string {
	text := o.Says
	if o.CouldNot != "" {
		text = "could not see: " + o.CouldNot
	}
	return clean(fmt.Sprintf("%s: %s", o.Source, text))
}
