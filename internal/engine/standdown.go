package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cordon/internal/casefile"
	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/playbooks"
	"cordon/providers"
)

const (
	standDownStep  = "stand-down"
	standDownTitle = "Undo what can be undone"
	standDownWhy   = "It was a false alarm. What was changed is taken back, last first, where that is possible and where it is still in force."
)

// Undo is the verb of what takes a change back after a false alarm.
const Undo = "undo"

// StoodDown is the word of an ending after a false alarm.
const StoodDown = "stood down"

// StandDown ends the containment after a false alarm. Next then offers to undo, one by
// one and last first, what this case changed and what can be undone; the rest is named
// at the end. It may be called on a case that is over. Errors: ErrReason without a
// reason, ErrReadOnly.
func (r *Run) StandDown(reason string) error {
	switch {
	case r.o.Issuer == nil:
		return ErrReadOnly
	case strings.TrimSpace(reason) == "":
		return fmt.Errorf("stand down: %w", ErrReason)
	case r.st.standDown != "":
		return nil // again, after a crash: it goes on
	}
	r.shown, r.told = Prompt{}, nil
	return r.append(casefile.Event{Kind: standDownStep, Target: r.o.Runner, OK: true, Msg: reason})
}

// undoing are the tasks that stand a case down: one for each change of ours that took
// effect and can be undone, the last one first.
func (r *Run) undoing() []task {
	if r.st.standDown == "" {
		return nil
	}
	var all []task
	for i, m := range slices.Backward(r.st.made) {
		if r.undoable(m) {
			step := playbooks.Step{
				ID: standDownStep, Title: standDownTitle, Why: standDownWhy,
				Acts: []playbooks.Act{{Do: playbooks.Plan, Verb: Undo, Ask: r.askOf(m.task)}},
			}
			all = append(all, task{step: step, index: 1, on: m.change.Target, undo: &r.st.made[i].change})
		}
	}
	return all
}

// askOf is whom an act of the playbook asks: what two people had to agree to do, one does
// not take back alone.
func (r *Run) askOf(key string) string {
	for _, t := range r.book {
		if t.key() == key {
			return t.do().Ask
		}
	}
	return ""
}

// undoable reports whether a change is ours to take back: it took effect, it has a way
// back, and it is not itself a way back. What was so before was not our doing.
func (r *Run) undoable(m made) bool {
	return m.outcome.State == change.Applied && m.change.Undo != nil && m.verb != Undo && !strings.HasSuffix(m.task, renewal(""))
}

// planUndo offers the way back, if what was done is still in force.
func (r *Run) planUndo(ctx context.Context, t task) (Prompt, error) {
	sys, err := r.settler(*t.undo)
	if err != nil {
		return r.unreached(t, err.Error())
	}
	rctx, lost := r.record(ctx, t)
	force, why := r.inForce(rctx, sys, t)
	if *lost != nil {
		return Prompt{}, *lost
	}
	if err := ctx.Err(); err != nil {
		return Prompt{}, err
	}
	c := *t.undo.Undo
	c.ID = fmt.Sprintf("%s/%s.%d", Undo, t.undo.ID, r.st.tries[t.key()]+1)
	plan := change.Plan{
		Verb: Undo, Option: Undo, Title: c.Title, Covers: "takes back " + t.undo.ID + ": " + t.undo.Title,
		Changes: []change.Change{c}, Made: r.o.Clock.Now(), TipsOff: c.TipsOff,
	}
	if slices.ContainsFunc(r.st.settled, func(s string) bool { return strings.HasPrefix(s, t.undo.ID+": ") }) {
		plan.Limits = []string{"that it took effect was only seen by reading: somebody else may have done the same, and this takes that back too"}
	}
	if t.on.Kind == target.Host {
		plan.Contacts = []target.Ref{t.on}
	}
	switch force {
	case witness.No:
		return r.notNeeded(t, "it is not in force any more, so there is nothing to undo: "+why)
	case witness.Unknown:
		p := r.prompt(t, Choose, fmt.Sprintf("undo %s: %s", t.undo.ID, why))
		p.CannotDo = "it cannot be seen whether it is still in force: " + why
		return r.ask(p, Skip, Again, Stop), nil
	}
	return r.offer(t, []change.Plan{plan}, [][]task{{t}})
}

// inForce reads whether what a change did is still so.
func (r *Run) inForce(ctx context.Context, sys providers.System, t task) (witness.Tri, string) {
	if t.on.Kind == target.Runner && t.undo.System != operatorSystem {
		if r.gone(t.on) {
			return witness.No, "the registration was removed in this case"
		}
		seen, err := sys.Observe(ctx, t.on)
		if err != nil {
			return witness.Unknown, err.Error()
		}
		for _, o := range seen {
			if o.Exists == witness.No {
				return witness.No, o.Says
			}
		}
	}
	s, ok := sys.(providers.Settler)
	if !ok {
		return witness.Unknown, "this system cannot be asked"
	}
	state, why, err := s.Settle(ctx, *t.undo)
	switch {
	case err != nil:
		return witness.Unknown, err.Error()
	case state == change.Applied:
		return witness.Yes, why
	case state == change.Refused:
		return witness.No, why
	}
	return witness.Unknown, why
}

// stoodDown is the ending of a case that was stood down.
func (r *Run) stoodDown() Ending {
	e := Ending{Word: StoodDown, Exit: ExitDone, Notes: append([]string{"false alarm: " + r.st.standDown}, r.glassNotes()...)}
	for _, t := range r.undoing() {
		key := t.key()
		e.Notes = append(e.Notes, fmt.Sprintf("undo %s: %s: %s", t.undo.ID, r.st.end[key], strings.TrimSpace(r.st.why[key])))
		switch r.st.end[key] {
		case Skipped, RefusedBy, Unreached:
			e.Exit = max(e.Exit, ExitFailed)
		case InDoubt:
			e.Exit = ExitCannotTell
		}
	}
	e.Notes = append(e.Notes, r.leftOver()...)
	for _, m := range r.st.made {
		switch {
		case m.verb == Undo || strings.HasSuffix(m.task, renewal("")):
		case m.outcome.State == change.Applied && m.change.Undo == nil:
			e.Notes = append(e.Notes, fmt.Sprintf("cannot be undone: %s: %s", m.change.ID, m.change.Title))
		case m.outcome.State == change.Unknown || m.outcome.State == "":
			e.Notes = append(e.Notes, fmt.Sprintf("not known whether it took effect, look by hand: %s: %s", m.change.ID, m.change.Title))
			e.Exit = ExitCannotTell
		}
	}
	return e
}

// leftOver is what changes of ours leave behind once they are undone, or once the runner
// that they were made for is gone: nobody else will look for it.
func (r *Run) leftOver() []string {
	back := map[string]bool{} // what was taken back
	for _, t := range r.undoing() {
		back[t.undo.ID] = slices.Contains([]string{Done, NotNeeded}, r.st.end[t.key()])
	}
	var out []string
	for _, m := range r.st.made {
		c := m.change
		if m.outcome.State != change.Applied {
			continue
		}
		if c.Leaves != "" && (back[c.ID] || r.gone(c.Target)) {
			out = append(out, "left over: "+c.Leaves)
		}
		// what is not the runner's own does not end with it, as a workflow that was disabled, or whom its group serves
		if t, ok := r.taskOf(m.task); ok && c.Undo != nil && !back[c.ID] && (c.Target != t.on || c.Outlives) && t.on.Kind == target.Runner && r.gone(t.on) {
			out = append(out, fmt.Sprintf("still in force: %s; when it is safe, %s: %s", c.Title, c.Undo.Title, c.Undo.Call))
		}
	}
	return out
}
