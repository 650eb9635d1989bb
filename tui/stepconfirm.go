package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordon/internal/app"
	"cordon/internal/change"
	"cordon/internal/engine"
)

// confirm opens the dialog for what is on screen. The decision carries the number of
// the prompt and the hash of the plan that the dialog was opened for.
func (p *stepper) confirm() tea.Cmd {
	d := &dialog{th: p.e.th, keys: p.e.keys, wall: p.e.wall}
	n := p.cur.N
	if p.cur.Kind == engine.Watch {
		d.title, d.want, d.why = "Begin to watch "+clean(p.cur.Target.String()), "y", "reads the provider, and logs in to the hosts at the start and at the end"
		d.facts = []string{clean(p.cur.Text)}
		d.yes = func(string) tea.Cmd {
			if p.cur != nil && p.cur.N == n {
				p.decide(engine.Decision{Verb: engine.Begin}, "watching; the next look comes by itself")
			}
			return nil
		}
		p.dialog = d.open()
		return nil
	}
	plan, guards := p.cur.Plans[p.plan], p.cur.Guards[p.plan]
	d.title = clean(plan.Title)
	d.facts = effects(plan)
	d.want, d.why = app.Confirmation(plan)
	var waive []string
	for _, g := range guards {
		d.held = append(d.held, clean(g.Text))
		waive = append(waive, g.ID)
	}
	d.blocks = func() string { return p.stale(plan) }
	hash := plan.Hash()
	d.yes = func(reason string) tea.Cmd {
		if p.cur != nil && p.cur.N == n {
			p.decide(engine.Decision{Verb: engine.Apply, Plan: hash, Waive: waive, Reason: reason}, doing(plan))
		}
		return nil
	}
	p.dialog = d.open()
	return nil
}

// effects are the lines of a dialog: the exact calls, and whether there is a way back.
func effects(plan change.Plan) []string {
	var out []string
	for _, c := range plan.Contacts {
		out = append(out, "logs in to "+clean(c.ID)+": "+clean(plan.TipsOff))
	}
	for _, c := range plan.Changes {
		out = append(out, "sends "+clean(c.Call.String()))
		if len(c.Hits) > 0 {
			out = append(out, fmt.Sprintf("also hits %d: %s", len(c.Hits), hits(c)))
		}
		if len(c.Destroys) > 0 {
			out = append(out, "destroys "+clean(strings.Join(c.Destroys, ", ")))
		}
		if c.Undo == nil {
			out = append(out, "cannot be undone")
		} else {
			out = append(out, "undo: "+clean(c.Undo.Call.String()))
		}
	}
	return out
}

func hits(c change.Change) string {
	var h []string
	for _, t := range c.Hits {
		h = append(h, clean(t.Kind+" "+t.ID))
	}
	return strings.Join(h, ", ")
}

// doing is what the screen says while a plan is carried out.
func doing(plan change.Plan) string {
	if len(plan.Changes) == 0 && len(plan.Contacts) > 0 {
		return "logged in to " + clean(plan.Contacts[0].ID) + ", reading it"
	}
	return "sending: " + clean(plan.Title)
}
