package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cordon/internal/casefile"
	"cordon/internal/change"
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
	t, _ := r.current()
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
		return r.beginWatch(t)
	default:
		return r.apply(ctx, t, p, d)
	}
}

// apply carries out the plan on screen: guards again, then for each change an
// intent, the one call under its permit, and the result.
func (r *Run) apply(ctx context.Context, t task, p Prompt, d Decision) error {
	if r.o.Issuer == nil {
		return ErrReadOnly
	}
	i := slices.IndexFunc(p.Plans, func(pl change.Plan) bool { return pl.Hash() == d.Plan })
	if i < 0 {
		return fmt.Errorf("%w: no plan with that hash is on screen", ErrOutdated)
	}
	plan := p.Plans[i]
	if len(plan.Changes) == 0 && len(plan.Contacts) == 0 {
		return fmt.Errorf("%w: %s is done by hand; skip it with what was done as the reason", ErrChoice, plan.Title)
	}
	var waived []string
	for _, g := range r.guards(t, plan) {
		if !slices.Contains(d.Waive, g.ID) {
			return fmt.Errorf("%w: %s", ErrGuarded, g.Text)
		}
		if strings.TrimSpace(d.Reason) == "" {
			return fmt.Errorf("set aside %q: %w", g.Text, ErrReason)
		}
		waived = append(waived, g.ID)
	}
	r.shown = Prompt{}
	for _, id := range waived {
		if err := r.append(casefile.Event{Kind: "waive", Step: t.step.ID, Target: t.on, Msg: d.Reason, Data: encode(struct {
			Guard string `json:"guard"`
		}{id})}); err != nil {
			return err
		}
	}
	c := confirmData{Task: t.key(), Plan: d.Plan, Option: plan.Option, Waived: waived, Reason: d.Reason}
	for _, ch := range plan.Changes {
		c.Digest = append(c.Digest, ch.Digest())
	}
	err := r.append(casefile.Event{Kind: "confirm", Step: t.step.ID, Target: t.on, OK: true, Msg: plan.Title, Data: encode(c)})
	if err != nil {
		return err
	}
	if len(plan.Changes) == 0 {
		return r.collect(ctx, t, plan)
	}
	for k, ch := range plan.Changes {
		out, err := r.effect(ctx, t, ch, c.Digest[k])
		if err != nil {
			return err
		}
		if out.State == change.Unknown || out.State == change.Refused {
			break
		}
	}
	return nil // Next shows the doubt, or concludes
}

// effect makes one change. The intent is on disk before the permit exists; whatever
// happens afterwards, a result line or its absence tells the next run what to do.
func (r *Run) effect(ctx context.Context, t task, ch change.Change, approved string) (change.Outcome, error) {
	refuse := func(err error) (change.Outcome, error) {
		out := change.Outcome{Change: ch.ID, State: change.Refused, Why: err.Error(), At: r.o.Clock.Now()}
		return out, r.result(t, "result", out)
	}
	applier, ok := r.o.Appliers[ch.System]
	if !ok {
		return change.Outcome{}, fmt.Errorf("apply %s: %w", ch.ID, ErrReadOnly)
	}
	err := r.append(casefile.Event{
		Kind: "intent", Step: t.step.ID, Target: ch.Target, Msg: t.do().Verb,
		Req: &casefile.Request{Method: ch.Call.Method, Path: ch.Call.URL}, Data: encode(intentData{t.key(), approved, ch}),
	})
	if err != nil {
		return change.Outcome{}, fmt.Errorf("apply %s: nothing was sent, because the intent could not be recorded: %w", ch.ID, err)
	}
	permit, err := r.o.Issuer.Permit(ch, approved)
	if err != nil {
		return refuse(err)
	}
	rctx, lost := r.record(ctx, t)
	out, err := applier.Apply(change.WithPermit(rctx, permit), ch)
	out.Change = ch.ID
	if out.At.IsZero() {
		out.At = r.o.Clock.Now()
	}
	switch {
	case out.State == "" && permit.Used():
		out.State = change.Unknown
	case out.State == "":
		out.State = change.Refused
	}
	if err != nil && out.Why == "" {
		out.Why = err.Error()
	}
	err = r.result(t, "result", out) // also where an exchange was lost: the reserve of the case is for this line
	if *lost != nil {
		err = *lost
	}
	return out, err
}

func (r *Run) result(t task, kind string, out change.Outcome) error {
	return r.append(casefile.Event{
		Kind: kind, Step: t.step.ID, Target: t.on, OK: out.State == change.Applied || out.State == change.Already,
		Status: out.Status, Msg: out.Why, Data: encode(resultData{t.key(), t.do().Verb, out}),
	})
}

// refused ends a task whose change the other side did not take. Where the playbook
// calls the act optional, a target out of reach is a gap and not a failure.
func (r *Run) refused(t task, out change.Outcome) error {
	if t.do().Optional && out.Status == 0 {
		return r.finish(t, Unreached, out.Why)
	}
	return r.finish(t, RefusedBy, out.Why)
}
