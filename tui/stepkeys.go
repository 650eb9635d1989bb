package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cordon/internal/app"
	"cordon/internal/change"
	"cordon/internal/engine"
)

// appliable reports whether a plan does anything from here.
func appliable(p change.Plan) bool { return len(p.Changes)+len(p.Contacts) > 0 }

// key of a question: the same step on the same target is the same question.
func key(p engine.Prompt) string { return p.Kind + " " + p.Step + " " + p.Target.String() }

// Mode implements page.
func (p *stepper) Mode() Mode {
	switch {
	case p.dialog != nil:
		return p.dialog.mode()
	case p.form != nil:
		return Typing
	}
	return Normal
}

// can is "" when verb is a choice now, else why it is not.
func (p *stepper) can(verb string) string {
	switch {
	case p.dead:
		return "this run stands still: esc, then open the case again"
	case p.cur == nil:
		return "cordon is at work: wait for it"
	case !slices.Contains(p.cur.Choices, verb):
		if verb == engine.Apply && p.cur.CannotDo != "" {
			return p.cur.CannotDo
		}
		return "not a choice here"
	}
	return ""
}

// canApply says why the plan on screen cannot be confirmed now.
func (p *stepper) canApply() string {
	if p.cur != nil && p.cur.Kind == engine.Watch {
		return p.can(engine.Begin)
	}
	if p.cur != nil && p.cur.Kind == engine.Manual {
		return p.canManual()
	}
	if why := p.can(engine.Apply); why != "" {
		return why
	}
	plan := p.cur.Plans[p.plan]
	if !appliable(plan) {
		return "this plan is done by hand: x skips it, with what was done as the reason"
	}
	return p.stale(plan, "r reads it again")
}

// stale is why an old reading may not be acted on, and what reads it again: what cannot
// be undone, or hits more than one, is only done on what was read a moment ago.
func (p *stepper) stale(plan change.Plan, again string) string {
	want, _ := app.Confirmation(plan)
	if old := p.e.wall().Sub(p.read); want != "y" && old > staleAfter {
		return fmt.Sprintf("what you see was read %s ago: %s", age(old), again)
	}
	return ""
}

// Keys implements page.
func (p *stepper) Keys() []Binding {
	k := p.e.keys
	switch {
	case p.dialog != nil:
		return p.dialog.bindings()
	case p.form != nil:
		return p.form.bindings()
	}
	if p.held() {
		return []Binding{k.TakeOver.When(p.e.mayTake), k.Follow, k.Back}
	}
	if p.over() {
		return []Binding{k.Export, k.Brief, k.Steps, k.Down, k.Back}
	}
	apply := k.Apply.When(p.canApply)
	if p.cur != nil && p.cur.Kind == engine.Watch {
		apply.Help = "begin"
	}
	ks := []Binding{apply}
	if p.cur != nil && p.cur.Kind == engine.Doubt {
		ks = []Binding{k.Again.When(func() string { return p.can(engine.Again) }), k.LeaveDoubt.When(func() string { return p.can(engine.Leave) }), k.Anew.When(func() string { return p.can(engine.Anew) })}
	} else {
		ks = append(ks, k.Again.When(func() string { return p.can(engine.Again) }), k.Skip.When(func() string { return p.can(engine.Skip) }))
	}
	if p.can(engine.Blind) == "" {
		ks = append([]Binding{apply, k.Blind}, ks[1:]...)
	}
	if p.cur != nil && len(p.cur.Plans) > 1 {
		ks = append([]Binding{apply, k.NextPlan}, ks[1:]...)
	}
	ks = append(ks, k.Brief, k.Steps)
	if len(p.grid.Runners) > 1 {
		ks = append(ks, k.Matrix)
	}
	return append(ks, k.Window, k.Note, k.Attach, k.Down, k.Back)
}

// over reports whether the run has ended.
func (p *stepper) over() bool { return p.cur != nil && p.cur.Kind == engine.Finished }

func (p *stepper) key(k tea.KeyMsg) tea.Cmd {
	if p.dialog != nil {
		closed, cmd := p.dialog.key(k)
		if closed {
			p.dialog = nil
		}
		return cmd
	}
	if p.form != nil {
		f := p.form
		closed, cmd := f.key(k)
		if closed && p.form == f {
			p.form = nil
		}
		return cmd
	}
	if cmd, mine := p.side(k); mine {
		return cmd
	}
	keys := p.e.keys
	off := func(why string, do func() tea.Cmd) tea.Cmd {
		if why != "" {
			return say(why)
		}
		return do()
	}
	switch {
	case p.over() && keys.Open.Is(k):
		return say("the run is over: e writes the bundle, esc goes back")
	case keys.Apply.Is(k):
		return off(p.canApply(), p.confirm)
	case keys.NextPlan.Is(k), keys.PrevPlan.Is(k):
		p.turnPlan(keys.NextPlan.Is(k))
	case keys.Again.Is(k):
		if p.dead || p.cur == nil && p.err == nil {
			return say(p.can(engine.Again))
		}
		return p.again()
	case keys.Skip.Is(k):
		return off(p.can(engine.Skip), func() tea.Cmd { return p.reason(engine.Skip, "Skip: "+p.cur.Title) })
	case keys.LeaveDoubt.Is(k):
		return off(p.can(engine.Leave), func() tea.Cmd { return p.reason(engine.Leave, "Go on with the doubt on record: "+p.cur.Text) })
	case keys.Anew.Is(k):
		return off(p.can(engine.Anew), func() tea.Cmd {
			return p.reason(engine.Anew, "Plan anew, although the last try may have taken effect: "+p.cur.Text)
		})
	case keys.Blind.Is(k):
		return off(p.can(engine.Blind), p.blind)
	case keys.Window.Is(k):
		return p.window()
	case keys.Brief.Is(k):
		return p.brief()
	case keys.Steps.Is(k):
		return push(newReader(p.e, "what was done", func() []string { return p.log }, true))
	case keys.Export.Is(k):
		return p.export()
	default:
		p.off = scroll(keys, k, p.off, p.lastOff)
	}
	return nil
}

func (p *stepper) turnPlan(next bool) {
	if p.cur == nil || len(p.cur.Plans) == 0 {
		return
	}
	n := len(p.cur.Plans)
	if next {
		p.plan = (p.plan + 1) % n
	} else {
		p.plan = (p.plan + n - 1) % n
	}
	p.off = 0
}

// again plans or looks once more, or tries again after an error.
func (p *stepper) again() tea.Cmd {
	if p.cur == nil || len(p.cur.Choices) == 0 {
		p.send(order{}, "trying again")
		return nil
	}
	p.decide(engine.Decision{Verb: engine.Again}, "reading the provider again")
	return nil
}

// decide answers the prompt on screen.
func (p *stepper) decide(d engine.Decision, busy string) {
	d.N = p.cur.N
	p.send(order{decision: &d}, busy)
}

func (p *stepper) send(o order, busy string) {
	p.cur, p.busy, p.err = nil, busy, nil
	p.drv.give(o)
}

// reason asks for the written reason of a skip or of a doubt that is left.
func (p *stepper) reason(verb, title string) tea.Cmd {
	n := p.cur.N
	p.form = newForm(p.e.th, p.e.keys, title, func(v []string) (tea.Cmd, string) {
		if v[0] == "" {
			return nil, "a reason is needed: it is kept in the case"
		}
		if p.cur == nil || p.cur.N != n {
			return nil, "the question has changed: esc, and look again"
		}
		p.decide(engine.Decision{Verb: verb, Reason: v[0]}, "writing it down")
		return nil, ""
	}, "why")
	return nil
}

// window asks since when the runner is suspect, and why then.
func (p *stepper) window() tea.Cmd {
	if p.dead || p.about.ID == "" || p.over() {
		return say("the suspect window can be changed while the case runs")
	}
	f := newForm(p.e.th, p.e.keys, "Since when is this runner suspect? Now: "+since(p.about), func(v []string) (tea.Cmd, string) {
		at, err := parseSince(v[0], p.e.now())
		if err != nil {
			return nil, err.Error()
		}
		if v[1] == "" {
			return nil, "a reason is needed: it is kept in the case"
		}
		p.send(order{since: at, why: v[1]}, "writing it down")
		return nil, ""
	}, "since (2026-11-02 18:00, UTC, or 72h ago as 72h)", "why then")
	p.form = f
	return nil
}

// parseSince reads a time in UTC or a duration back from now.
func parseSince(s string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04Z", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil {
			if t.After(now) {
				return t, errors.New("that is in the future")
			}
			return t.UTC(), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return now.Add(-d).UTC(), nil
	}
	return time.Time{}, errors.New("write 2026-11-02 18:00 (UTC), or 72h for 72 hours ago")
}

// export writes the bundle where the person stands, or where the demo says.
func (p *stepper) export() tea.Cmd {
	switch {
	case p.about.ID == "":
		return say("no case is open here")
	case !p.about.Kept:
		return say("a dry run keeps nothing to export")
	case p.exporting:
		return say("the bundle is being written")
	}
	p.exporting = true
	dir, id, drv, a := ".", p.about.ID, p.drv, p.e.app
	if p.e.demo != nil {
		dir = p.e.demo.Dir
	}
	return p.e.safe(func(ctx context.Context) tea.Msg {
		h, err := a.HandOver(ctx, id, dir)
		return handedMsg{drv, h, err}
	})
}
