package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cordon/internal/casefile"
	"cordon/internal/change"
)

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
	plan, of := p.Plans[i], r.of[i]
	if len(plan.Changes) == 0 && len(plan.Contacts) == 0 {
		return fmt.Errorf("%w: %s is done by hand; skip it with what was done as the reason", ErrChoice, plan.Title)
	}
	waived, err := r.setAside(t, plan, d)
	if err != nil {
		return err
	}
	r.shown = Prompt{}
	if err := r.writeAside(t, plan, d, waived); err != nil {
		return err
	}
	c := confirmData{Task: t.key(), Plan: d.Plan, Option: plan.Option, Partly: plan.Partial, Waived: waived, Reason: d.Reason}
	for k, ch := range plan.Changes {
		c.Digest = append(c.Digest, ch.Digest())
		if of[k].key() != t.key() || c.Tasks != nil {
			if c.Tasks == nil {
				for range k {
					c.Tasks = append(c.Tasks, t.key())
				}
			}
			c.Tasks = append(c.Tasks, of[k].key())
		}
	}
	err = r.append(casefile.Event{Kind: "confirm", Step: t.step.ID, Target: t.on, OK: true, Msg: plan.Title, Data: encode(c)})
	if err != nil {
		return err
	}
	if len(plan.Changes) == 0 {
		return r.collect(ctx, t, plan)
	}
	for k, ch := range plan.Changes {
		out, err := r.effect(ctx, of[k], ch, c.Digest[k])
		if err != nil {
			return err
		}
		// A refused change leaves nothing in doubt: the rest of the same task goes on, so
		// that one job that may not be cancelled does not shield the others. Another
		// runner's changes wait, and so does everything after an unknown one, or when the
		// service asks for fewer requests.
		same := k+1 < len(of) && of[k+1].key() == of[k].key()
		if out.State == change.Unknown || out.State == change.Refused && (!same || !out.NotBefore.IsZero()) {
			r.stopped(t, plan, k, out)
			break
		}
	}
	return nil // Next shows the doubt, or concludes
}

// stopped says what of a plan was left when a change failed.
func (r *Run) stopped(t task, plan change.Plan, k int, out change.Outcome) {
	left := plan.Changes[k+1:]
	if len(left) == 0 {
		return
	}
	var ids []string
	for _, c := range left {
		ids = append(ids, c.ID)
	}
	p := r.prompt(t, Progress, fmt.Sprintf("stopped at %s (%s): %d of %d were made, nothing was sent for %s",
		plan.Changes[k].ID, out.State, k, len(plan.Changes), strings.Join(ids, ", ")))
	p.Outcome = &out
	r.tell(p)
}

// setAside checks every guard again and returns those that the decision sets aside.
func (r *Run) setAside(t task, plan change.Plan, d Decision) ([]string, error) {
	var waived []string
	for _, g := range r.guards(t, plan) {
		if g.Class == GuardApproval {
			if strings.TrimSpace(d.BreakGlass) == "" {
				return nil, fmt.Errorf("%w: %s", ErrApproval, g.Text)
			}
			continue
		}
		if !slices.Contains(d.Waive, g.ID) {
			return nil, fmt.Errorf("%w: %s", ErrGuarded, g.Text)
		}
		if strings.TrimSpace(d.Reason) == "" {
			return nil, fmt.Errorf("set aside %q: %w", g.Text, ErrReason)
		}
		waived = append(waived, g.ID)
	}
	return waived, nil
}

// writeAside writes down what is set aside, and that the glass is broken.
func (r *Run) writeAside(t task, plan change.Plan, d Decision, waived []string) error {
	held := slices.ContainsFunc(r.guards(t, plan), func(g Guard) bool { return g.Class == GuardApproval })
	for _, id := range waived {
		if err := r.append(casefile.Event{Kind: "waive", Step: t.step.ID, Target: t.on, Msg: d.Reason, Data: encode(struct {
			Guard string `json:"guard"`
		}{id})}); err != nil {
			return err
		}
	}
	if !held {
		return nil
	}
	return r.append(casefile.Event{
		Kind: "break-glass", Step: t.step.ID, Target: t.on, Msg: d.BreakGlass,
		Data: encode(glassData{Task: t.key(), Plan: d.Plan, Binds: binds(t.step.ID, t.key(), d.Plan, t.on)}),
	})
}

// effect makes one change of a confirmed plan.
func (r *Run) effect(ctx context.Context, t task, ch change.Change, approved string) (change.Outcome, error) {
	return r.effectFor(ctx, t, t.key(), ch, approved)
}

// effectFor makes one change for the task called key. The intent is on disk before the
// permit exists; whatever happens afterwards, a result line or its absence tells the
// next run what to do.
func (r *Run) effectFor(ctx context.Context, t task, key string, ch change.Change, approved string) (change.Outcome, error) {
	refuse := func(err error) (change.Outcome, error) {
		out := change.Outcome{Change: ch.ID, State: change.Refused, Why: err.Error(), At: r.o.Clock.Now()}
		return out, r.resultFor(t, key, "result", out)
	}
	applier, ok := r.o.Appliers[ch.System]
	if !ok {
		return change.Outcome{}, fmt.Errorf("apply %s: %w", ch.ID, ErrReadOnly)
	}
	err := r.append(casefile.Event{
		Kind: "intent", Step: t.step.ID, Target: ch.Target, Msg: t.do().Verb,
		Req: &casefile.Request{Method: ch.Call.Method, Path: ch.Call.URL}, Data: encode(intentData{key, approved, ch}),
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
	err = r.resultFor(t, key, "result", out) // also where an exchange was lost: the reserve of the case is for this line
	if *lost != nil {
		err = *lost
	}
	return out, err
}

func (r *Run) resultFor(t task, key, kind string, out change.Outcome) error {
	return r.append(casefile.Event{
		Kind: kind, Step: t.step.ID, Target: t.on, OK: out.State == change.Applied || out.State == change.Already,
		Status: out.Status, Msg: out.Why, Data: encode(resultData{key, t.do().Verb, out}),
	})
}
