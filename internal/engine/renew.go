package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/change"
	"cordon/providers"
)

var errOther = errors.New("what would have to be sent is not what was confirmed")

// renew makes a pause again before it ends. That the same call may be made again was
// part of its confirmation; anything else opens the pause for a person.
func (r *Run) renew(ctx context.Context, t task, of change.Change) (Prompt, error) {
	c, err := r.sameAgain(ctx, t, of)
	if ctx.Err() != nil {
		return Prompt{}, ctx.Err()
	}
	if err != nil {
		return r.expired(t, err.Error())
	}
	digest := c.Digest()
	err = r.append(casefile.Event{
		Kind: "renew", Step: t.step.ID, Target: t.on, OK: true, Msg: fmt.Sprintf("ends by itself after %s: made again, as confirmed with %s", of.Lease, of.ID),
		Data: encode(renewData{Task: t.key(), Of: of.ID, Digest: digest}),
	})
	if err != nil {
		return Prompt{}, err
	}
	out, err := r.effectFor(ctx, t, renewal(t.key()), c, digest)
	if err != nil {
		return Prompt{}, err
	}
	if out.State != change.Applied {
		return r.expired(t, out.State+": "+out.Why)
	}
	until, _ := r.lease(t)
	p := r.prompt(t, Progress, fmt.Sprintf("%s: %s is paused until %s", Renewed, t.on.Short(), until.UTC().Format("2006-01-02 15:04Z")))
	p.Word, p.Outcome = Renewed, &out
	return p, nil
}

// sameAgain plans the pause afresh and takes the change that makes the confirmed call.
func (r *Run) sameAgain(ctx context.Context, t task, of change.Change) (change.Change, error) {
	sys, err := r.system(t.on)
	if err != nil {
		return change.Change{}, err
	}
	rctx, lost := r.record(ctx, t)
	plans, err := sys.Plan(rctx, providers.Pause, t.on, r.planArgs(t))
	if *lost != nil {
		return change.Change{}, *lost
	}
	if err != nil {
		return change.Change{}, err
	}
	for _, p := range plans {
		for _, c := range p.Changes {
			if c.Call == of.Call && c.Op == of.Op && c.Target == of.Target && c.Lease <= of.Lease {
				c.ID = fmt.Sprintf("%s/renew-%d", of.ID, r.st.renewed[of.ID]+1)
				return c, nil
			}
		}
	}
	return change.Change{}, errOther
}

// expired opens the pause again: it ends by itself, and could not be made again.
func (r *Run) expired(t task, why string) (Prompt, error) {
	says := fmt.Sprintf("the pause of %s ends by itself at %s and could not be made again (%s); it is open again", t.on.Short(), r.until(t), why)
	err := r.append(casefile.Event{Kind: "drift", Step: t.step.ID, Target: t.on, Msg: says, Data: encode(alarmData{t.key(), Expired, t.on, says})})
	if err != nil {
		return Prompt{}, err
	}
	p := r.prompt(t, Progress, Expired+": "+says)
	p.Word = Expired
	return p, nil
}

func (r *Run) until(t task) string {
	until, _ := r.lease(t)
	return until.UTC().Format("15:04:05Z")
}

// wake is the first time at which a pause has to be made again; zero: none ends.
func (r *Run) wake() time.Time {
	var first time.Time
	for _, t := range r.paused() {
		if until, of := r.lease(t); of != nil {
			if at := until.Add(-of.Lease / 4); first.IsZero() || at.Before(first) {
				first = at
			}
		}
	}
	return first
}
