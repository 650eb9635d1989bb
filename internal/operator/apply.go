package operator

import (
	"context"
	"errors"
	"fmt"

	"cordon/internal/change"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
)

// errGone means that the configuration has no such action, or another form of it, any more.
var errGone = errors.New("not an operation of this configuration: plan again")

// Applier carries out OpDo and OpUndo. It is not constructed in read-only mode. Safe
// for concurrent use.
type Applier struct{ s *System }

// NewApplier returns the applier of s.
func NewApplier(s *System) *Applier { return &Applier{s} }

// Apply implements providers.Applier: the command is started once, after change.Admit.
// Where the action has a verify, that is asked before (it may be so already) and after.
// A command that ended well is applied unless verify does not confirm it; one that
// failed may have done half of its work, so only verify can call it refused.
func (a *Applier) Apply(ctx context.Context, c change.Change) (change.Outcome, error) {
	out := change.Outcome{Change: c.ID, State: change.Refused, At: a.s.o.Clock.Now()}
	end := func(state string, err error) (change.Outcome, error) {
		out.State = state
		if err != nil {
			out.Why = untrusted.Clean(err.Error(), 500)
		}
		return out, err
	}
	r, err := a.s.known(c)
	if err != nil {
		return end(change.Refused, fmt.Errorf("apply %s: %w", c.ID, err))
	}
	// Asked before verify too: without leave to act, nothing is started at all.
	if err := change.Check(ctx, r.change.Call); err != nil {
		return end(change.Refused, fmt.Errorf("%s: %w", c.Title, err))
	}
	if string(r.change.Before) != string(c.Before) {
		return end(change.Refused, fmt.Errorf("%s: the program is another one now: %w", c.Title, change.ErrStale))
	}
	if is, why := a.s.verify(ctx, r); is == r.want() {
		out.Why = "it was so before: " + why
		return end(change.Already, nil)
	}
	if err := ctx.Err(); err != nil {
		return end(change.Refused, fmt.Errorf("%s: nothing was started: %w", c.Title, err))
	}
	if err := change.Admit(ctx, r.change.Call); err != nil {
		return end(change.Refused, fmt.Errorf("%s: %w", c.Title, err))
	}
	e := a.s.run(ctx, r.action, r.args.Name, r.word, r.argv)
	out.Status = max(e.exit, 0)
	switch {
	case !e.started:
		return end(change.Refused, fmt.Errorf("%s: nothing was started: %w", c.Title, e.err))
	case e.err != nil:
		return end(change.Unknown, fmt.Errorf("%s: started, and how it ended is not known: %w", c.Title, e.err))
	}
	said := fmt.Sprintf("the command ended with exit code %d", e.exit)
	if e.kept != nil {
		said += "; its output could not be kept: " + e.kept.Error()
	}
	is, why := a.s.verify(ctx, r)
	switch {
	case is == r.want():
		out.Why = untrusted.Clean(said+"; "+why, 500)
		return end(change.Applied, nil)
	case len(r.action.Verify) == 0 && e.exit == 0:
		out.Why = untrusted.Clean(said+"; nothing confirms it", 500)
		return end(change.Applied, nil)
	case is != witness.Unknown && e.exit != 0:
		return end(change.Refused, fmt.Errorf("%s: %s; %s", c.Title, said, why))
	}
	return end(change.Unknown, fmt.Errorf("%s: %s; %s", c.Title, said, why))
}

// again is a change of this configuration, made again from its arguments.
type again struct {
	action Action
	args   Args
	change change.Change
	word   string
	argv   []string
}

// want is what verify says when the change took effect.
func (r again) want() witness.Tri { return witness.Of(r.change.Op == OpDo) }

// known makes the change again from its closed arguments, with the configuration as it
// is now. What is started is this, and Admit compares it with what was approved.
func (s *System) known(c change.Change) (again, error) {
	r := again{word: "do"}
	if c.Op != OpDo && c.Op != OpUndo {
		return r, fmt.Errorf("%w: %s", errGone, untrusted.Clean(c.Op, 80))
	}
	if err := change.Strict(c.Args, &r.args); err != nil {
		return r, err
	}
	var ok bool
	if r.action, ok = s.o.Actions[r.args.Name]; !ok {
		return r, fmt.Errorf("%w: no action %s", errGone, untrusted.Clean(r.args.Name, 63))
	}
	cmd := r.action.Do
	if c.Op == OpUndo {
		r.word, cmd = "undo", r.action.Undo
	}
	var err error
	if r.argv, err = s.argv(cmd, r.args); err != nil {
		return r, err
	}
	r.change, err = s.change(c.Op, r.action, c.Target, r.args)
	return r, err
}

// verify asks whether it is so now, by exit code: 0 yes, 1 no, anything else cannot
// tell. It is Unknown where there is no verify, and where no process may be started.
func (s *System) verify(ctx context.Context, r again) (witness.Tri, string) {
	switch {
	case len(r.action.Verify) == 0:
		return witness.Unknown, "the action has no verify: look by hand"
	case !s.o.Processes:
		return witness.Unknown, "verify is not run in a read-only process"
	}
	argv, err := s.argv(r.action.Verify, r.args)
	if err != nil {
		return witness.Unknown, "verify: " + err.Error()
	}
	e := s.run(ctx, r.action, r.args.Name, "verify", argv)
	switch {
	case e.err != nil:
		return witness.Unknown, "verify cannot tell: " + e.err.Error()
	case e.exit == 0:
		return witness.Yes, "verify says that it is so"
	case e.exit == 1:
		return witness.No, "verify says that it is not so"
	}
	return witness.Unknown, fmt.Sprintf("verify cannot tell (exit code %d)", e.exit)
}

// Settle implements providers.Settler with verify.
func (s *System) Settle(ctx context.Context, c change.Change) (state, why string, err error) {
	r, err := s.known(c)
	if err != nil {
		return change.Unknown, "", fmt.Errorf("settle %s: %w", c.ID, err)
	}
	is, why := s.verify(ctx, r)
	if ctx.Err() != nil {
		return change.Unknown, "", ctx.Err()
	}
	if is == witness.Unknown {
		why += "; if cordon was killed meanwhile, the command ended half done, and what it had started itself may still run"
	}
	why = untrusted.Clean(why, 500)
	switch is {
	case witness.Unknown:
		return change.Unknown, why, nil
	case r.want():
		return change.Applied, why, nil
	}
	return change.Refused, why, nil
}
