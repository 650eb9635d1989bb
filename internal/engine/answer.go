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
	r.answered()
	err := r.take(ctx, d)
	if err == nil && d.Verb != Again {
		r.picked = ""
	}
	return err
}

func (r *Run) take(ctx context.Context, d Decision) error {
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
	case Stop:
		r.shown = Prompt{}
		return nil
	case Again:
		r.shown = Prompt{}
		if p.Kind != Doubt || p.Outcome.State != change.Refused {
			return nil
		}
		return r.append(casefile.Event{Kind: "again", Step: p.Step, Target: t.on, Msg: p.Text, Data: encode(againData{Tasks: []string{t.key()}})})
	case Anew:
		if strings.TrimSpace(d.Reason) == "" {
			return fmt.Errorf("do step %s again although it may have been done: %w", p.Step, ErrReason)
		}
		r.shown = Prompt{}
		return r.append(casefile.Event{Kind: "anew", Step: p.Step, Target: t.on, Msg: d.Reason, Data: encode(anewData{t.key(), p.Outcome.Change})})
	case Skip, Leave:
		if strings.TrimSpace(d.Reason) == "" {
			return fmt.Errorf("%s step %s: %w", d.Verb, p.Step, ErrReason)
		}
		r.shown = Prompt{}
		end, why := Skipped, d.Reason
		if d.Verb == Leave {
			end = InDoubt
			if p.Outcome.State == change.Refused {
				end, why = RefusedBy, p.Outcome.Why+"; left: "+d.Reason
			}
		}
		if err := r.append(casefile.Event{Kind: d.Verb, Step: p.Step, Target: t.on, Msg: d.Reason}); err != nil {
			return err
		}
		return r.finish(t, end, why)
	case Begin, Blind:
		r.shown = Prompt{}
		if t.do().Do == playbooks.Wait {
			return r.beginIdle(t)
		}
		return r.beginWatch(t, d.Verb == Blind)
	case Did, Wait, Sign, Redo:
		return r.answerManual(ctx, t, p, d)
	default:
		return r.apply(ctx, t, p, d)
	}
}
