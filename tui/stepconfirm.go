package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordon/internal/app"
	"cordon/internal/change"
	"cordon/internal/engine"
	"cordon/internal/host"
)

// confirm opens the dialog for what is on screen. The decision carries the number of
// the prompt and the hash of the plan that the dialog was opened for.
func (p *stepper) confirm() tea.Cmd {
	if p.cur.Kind == engine.Manual {
		return p.manual()
	}
	d := &dialog{th: p.e.th, keys: p.e.keys, wall: p.e.wall}
	n := p.cur.N
	if p.cur.Kind == engine.Watch {
		return p.watchDialog(engine.Begin, "reads the provider, and the hosts at the start and at the end")
	}
	plan, guards := p.cur.Plans[p.plan], p.cur.Guards[p.plan]
	d.title = clean(plan.Title)
	d.facts = effects(plan, p.looks)
	d.want, d.why = app.Confirmation(plan)
	var waive []string
	alone := false
	for _, g := range guards {
		if g.Class == engine.GuardApproval {
			// Nothing sets this aside. One person may break the glass, which is written down
			// as that and never costs one key only.
			alone = true
			d.held = append(d.held, clean(g.Text)+"; going on without them breaks the glass, and is kept as that")
			d.want, d.why = lastOf(plan, d.want), "without the second person"
			continue
		}
		d.held = append(d.held, clean(g.Text))
		waive = append(waive, g.ID)
	}
	d.blocks = func() string { return p.stale(plan, "esc, and then r reads it again") } // in here r is a letter
	hash := plan.Hash()
	d.yes = func(reason string) tea.Cmd {
		if p.cur != nil && p.cur.N == n {
			dec := engine.Decision{Verb: engine.Apply, Plan: hash, Waive: waive, Reason: reason}
			if alone {
				dec.BreakGlass = reason
			}
			p.decide(dec, doing(plan))
		}
		return nil
	}
	p.dialog = d.open()
	return nil
}

// blind asks before a watch that no host sees.
func (p *stepper) blind() tea.Cmd {
	return p.watchDialog(engine.Blind, "reads the provider alone: the verdict cannot be silent then")
}

func (p *stepper) watchDialog(verb, why string) tea.Cmd {
	n := p.cur.N
	d := &dialog{
		th: p.e.th, keys: p.e.keys, wall: p.e.wall,
		title: "Begin to watch " + clean(p.cur.Target.String()), facts: []string{clean(p.cur.Text)}, want: "y", why: why,
	}
	d.yes = func(string) tea.Cmd {
		if p.cur != nil && p.cur.N == n {
			p.decide(engine.Decision{Verb: verb}, "watching; the next look comes by itself")
		}
		return nil
	}
	p.dialog = d.open()
	return nil
}

// lastOf is what has to be typed instead of y: the end of what the plan is about.
func lastOf(plan change.Plan, want string) string {
	id := ""
	switch {
	case want != "y":
		return want
	case len(plan.Changes) > 0:
		id = plan.Changes[0].Target.ID
	case len(plan.Contacts) > 0:
		id = plan.Contacts[0].ID
	}
	return id[max(0, len(id)-4):]
}

// effects are the lines of a dialog: the exact calls, and whether there is a way back.
// A plan that only reads says what looking does itself, as a change says what it sends.
func effects(plan change.Plan, looks []host.Looking) []string {
	var out []string
	for _, r := range app.Reaches(plan, looks) {
		out = append(out, clean(r.Does), clean(plan.TipsOff))
	}
	for _, l := range looksOf(plan, looks) {
		out = append(out, lookFacts(l, len(plan.Changes) == 0)...)
	}
	for _, c := range plan.Changes {
		out = append(out, "sends "+clean(c.Call.String()))
		if len(c.Hits) > 0 {
			out = append(out, fmt.Sprintf("also hits %d: %s", len(c.Hits), hits(c)))
		}
		if len(c.Destroys) > 0 {
			out = append(out, "destroys "+clean(strings.Join(c.Destroys, ", ")))
		}
		if c.Ends != "" {
			out = append(out, "ends "+clean(c.Ends)+" whole")
		}
		if app.NoWayBack(plan, c) {
			out = append(out, "cannot be undone")
		} else {
			out = append(out, "undo: "+clean(app.WayBack(plan, c)))
		}
	}
	return out
}

// lookFacts is what a person has to know of a way beside its name: what fails, what a
// security key asks, and, where all is said, what looking does there.
func lookFacts(l host.Looking, all bool) []string {
	var out []string
	if l.Problem != "" {
		out = append(out, "would fail before any contact: "+clean(l.Problem))
	}
	if l.Touches > 0 {
		out = append(out, fmt.Sprintf("YOUR SECURITY KEY WILL ASK: %d times", l.Touches))
	}
	if !all {
		return out
	}
	for _, e := range l.Effects {
		out = append(out, "looking is not free: "+clean(e))
	}
	return out
}

func hits(c change.Change) string {
	return clean(c.Blast())
}

// doing is what the screen says while a plan is carried out.
func doing(plan change.Plan) string {
	if len(plan.Changes) == 0 && len(plan.Contacts) > 0 {
		return "reading " + clean(plan.Contacts[0].ID)
	}
	return "sending: " + clean(plan.Title)
}
