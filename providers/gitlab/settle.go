package gitlab

import (
	"context"
	"errors"

	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/providers"
)

// Settle implements providers.Settler.
func (p *Provider) Settle(ctx context.Context, c change.Change) (state, why string, err error) {
	ctx = providers.WithRecent(ctx, 0)
	if err := p.belongs(c); err != nil {
		return change.Unknown, err.Error(), err
	}
	if c.Op == opCancel {
		return p.settleJob(ctx, c)
	}
	id, err := p.own(target.Ref{System: c.Target.System, Kind: c.Target.Kind, ID: c.Target.ID})
	if err != nil {
		return change.Unknown, err.Error(), err
	}
	w, _, err := p.details(ctx, id, false)
	if errors.Is(err, providers.ErrNotFound) {
		if err = p.gone(ctx, err); err == nil {
			return settledGone(c.Op)
		}
	}
	if err != nil {
		return change.Unknown, err.Error(), finished(ctx, err)
	}
	want, switches := wanted(c.Op)
	switch {
	case c.Op == opDeregister:
		return change.Refused, "the registration reads back as still there", nil
	case !switches:
		return change.Unknown, "GitLab does not say when a token was last replaced; replace it again, or remove the runner", nil
	case w.paused() == want:
		return change.Applied, "reads back as " + pausedWord(want), nil
	case w.paused() == witness.Unknown:
		return change.Unknown, "GitLab does not say whether it is paused", nil
	}
	return change.Refused, "it reads back as " + pausedWord(w.paused()), nil
}

func settledGone(op string) (string, string, error) {
	if op == opDeregister {
		return change.Applied, "404, and the same credential still reads its lists: the registration is gone", nil
	}
	return change.Applied, "moot: the registration and every token of it are gone", nil
}

func pausedWord(t witness.Tri) string {
	if t == witness.Yes {
		return "paused"
	}
	return "not paused"
}

func (p *Provider) settleJob(ctx context.Context, c change.Change) (string, string, error) {
	in, err := change.Parse[cancelArgs](c.Op, c.Args)
	if err != nil {
		return change.Unknown, err.Error(), err
	}
	now, err := p.jobStatus(ctx, in)
	switch {
	case err != nil:
		return change.Unknown, err.Error(), finished(ctx, err)
	case over(now), now == "canceling" && !in.Force:
		return change.Applied, "the job reads back as " + now, nil
	}
	return change.Refused, "the job reads back as " + now, nil
}
