package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cordon/internal/casefile"
	"cordon/internal/change"
	"cordon/playbooks"
)

// Answer takes one decision on the prompt that Next returned last. A decision for
// another prompt (ErrOutdated), without a needed reason (ErrReason), against a guard
// (ErrGuarded) or in a read-only run (ErrReadOnly) changes nothing.
func (r *Run) Answer(ctx context.Context, d Decision) error {
	p := r.shown
	if d.N == 0 || d.N != p.N {
		return ErrOutdated
	}
	if !slices.Contains(p.Choices, d.Verb) {
		return fmt.Errorf("%w: %q; one of %s", ErrChoice, d.Verb, strings.Join(p.Choices, ", "))
	}
	t, ok := r.taskOf(p.Task) // not the current one: a date may have passed since
	if !ok {
		return ErrOutdated
	}
	switch d.Verb {
	case Again, Stop:
		r.shown = Prompt{}
		return nil
	case Skip, Leave:
		if strings.TrimSpace(d.Reason) == "" {
			return fmt.Errorf("%s step %s: %w", d.Verb, p.Step, ErrReason)
		}
		r.shown = Prompt{}
		end := Skipped
		if d.Verb == Leave {
			end = InDoubt
		}
		if err := r.append(casefile.Event{Kind: d.Verb, Step: p.Step, Target: t.on, Msg: d.Reason}); err != nil {
			return err
		}
		return r.finish(t, end, d.Reason)
	case Begin:
		r.shown = Prompt{}
		if t.do().Do == playbooks.Wait {
			return r.beginIdle(t)
		}
		return r.beginWatch(t)
	case Did, Wait, Sign, Redo:
		return r.answerManual(ctx, t, p, d)
	default:
		return r.apply(ctx, t, p, d)
	}
}

// refused ends a task whose change the other side did not take. Where the playbook
// calls the act optional, a target out of reach is a gap and not a failure.
func (r *Run) refused(t task, out change.Outcome) error {
	if t.do().Optional && out.Status == 0 {
		return r.finish(t, Unreached, out.Why)
	}
	return r.finish(t, RefusedBy, out.Why)
}
