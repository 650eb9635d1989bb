package gitlab

import (
	"context"
	"errors"
	"fmt"

	"cordon/internal/change"
	"cordon/internal/transport"
	"cordon/providers"
)

// Applier carries out changes. It is constructed only where the process may write;
// what it sends still needs a permit for each call.
type Applier struct{ p *Provider }

var _ providers.Applier = (*Applier)(nil)

// NewApplier returns the Applier of p.
func NewApplier(p *Provider) *Applier { return &Applier{p: p} }

// Apply implements providers.Applier.
func (a *Applier) Apply(ctx context.Context, c change.Change) (change.Outcome, error) {
	ctx = providers.WithRecent(ctx, 0)
	out := change.Outcome{Change: c.ID, State: change.Refused, At: a.p.clock.Now()}
	end := func(state, why string, err error) (change.Outcome, error) {
		out.State, out.Why = state, why
		if err != nil {
			if why == "" {
				out.Why = err.Error()
			}
			err = fmt.Errorf("%s %s: %w", c.Op, c.Target.Short(), err)
		}
		return out, err
	}
	if err := a.p.belongs(c); err != nil {
		return end(change.Refused, "", err)
	}
	already, err := a.p.compare(ctx, c)
	switch {
	case err != nil:
		return end(change.Refused, "nothing was sent: "+err.Error(), err)
	case already != "":
		return end(change.Already, already+"; nothing was sent", nil)
	}
	a.p.recent.forget()       // nobody plans on what is about to change,
	defer a.p.recent.forget() // nor on what was read while it did
	m, err := run(ctx, a.p.api, c.Op, c.Args)
	out.Status, out.RequestID, out.Date = m.Status, m.RequestID, m.Date
	switch {
	case err != nil && (transport.NeverSent(err) || !change.Left(ctx)):
		return end(change.Refused, "nothing was sent: "+err.Error(), err)
	case errors.Is(err, providers.ErrNotFound) && c.Op == opDeregister:
		return a.readBack(ctx, c, end) // somebody else was faster, or an earlier answer was lost
	case err != nil && providers.Doubtful(m.answer.Status, err):
		return end(change.Unknown, "it was sent and no trustworthy answer came: "+err.Error(), err)
	case err != nil:
		return end(change.Refused, "", err)
	}
	if c.Op == opRotate {
		if m.token.IsZero() {
			err := malformed(m.answer, "no token in the answer to a reset")
			return end(change.Unknown, "GitLab said yes, but its answer held no token: "+err.Error(), err)
		}
		out.Made = a.deliver(ctx, c, m)
		return end(change.Applied, "GitLab issued a new token; the old one is refused", nil)
	}
	return a.readBack(ctx, c, end)
}

type ending func(state, why string, err error) (change.Outcome, error)

// readBack looks whether what GitLab accepted is so. An answer that contradicts what
// was read back leaves it unknown: GitLab has accepted a pause and not paused
// (terraform-provider-gitlab#1164). Where reading fails, GitLab's own yes stands.
func (a *Applier) readBack(ctx context.Context, c change.Change, end ending) (change.Outcome, error) {
	state, why, err := a.p.Settle(ctx, c)
	switch {
	case state == change.Applied:
		return end(change.Applied, why, nil)
	case state == change.Refused:
		err := fmt.Errorf("%w: GitLab accepted it, but %s", providers.ErrMalformed, why)
		return end(change.Unknown, "GitLab accepted it, but "+why, err)
	case c.Op == opDeregister:
		if err == nil {
			err = fmt.Errorf("%w: %s", providers.ErrUnavailable, why)
		}
		return end(change.Unknown, "GitLab accepted it, but it cannot be seen whether it is gone: "+why, err)
	}
	return end(change.Applied, "GitLab accepted it; reading back failed: "+why, nil)
}
