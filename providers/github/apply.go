package github

import (
	"context"
	"errors"
	"fmt"

	"cordon/internal/change"
	"cordon/internal/transport"
	"cordon/providers"
)

// Applier carries out changes. It is constructed only where the process may write; what it
// sends still needs a permit for each call.
type Applier struct{ p *Provider }

var _ providers.Applier = (*Applier)(nil)

// NewApplier returns the Applier of p.
func NewApplier(p *Provider) *Applier { return &Applier{p: p} }

// Apply implements providers.Applier.
func (a *Applier) Apply(ctx context.Context, c change.Change) (change.Outcome, error) {
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
	op, err := a.p.belongs(c)
	if err != nil {
		return end(change.Refused, "", err)
	}
	already, err := op.compare(ctx, a.p, c)
	switch {
	case err != nil:
		return end(change.Refused, "nothing was sent: "+err.Error(), err)
	case already != "":
		return end(change.Already, already+"; nothing was sent", nil)
	}
	m, err := a.p.send(ctx, op.request())
	out.Status, out.RequestID, out.Date = m.Status, m.RequestID, m.Date
	switch {
	case err != nil && (transport.NeverSent(err) || !change.Left(ctx)):
		return end(change.Refused, "nothing was sent: "+err.Error(), err)
	case err != nil && providers.Doubtful(m.Status, err):
		return end(change.Unknown, "it was sent and no trustworthy answer came: "+err.Error(), err)
	case err != nil:
		out.NotBefore = m.again(a.p.clock.Now())
		return a.refused(ctx, c, op, err, end)
	}
	return a.readBack(ctx, c, op, end)
}

type ending func(state, why string, err error) (change.Outcome, error)

// refused tells a plain no from one that means that there is nothing left to do.
func (a *Applier) refused(ctx context.Context, c change.Change, op operation, err error, end ending) (change.Outcome, error) {
	switch o := op.(type) {
	case deregister:
		if errors.Is(err, providers.ErrNotFound) {
			return a.readBack(ctx, c, op, end) // somebody else was faster, or an earlier answer was lost
		}
		if errors.Is(err, providers.ErrConflict) {
			return end(change.Refused, a.p.busyWith(ctx, o)+": "+err.Error(), err)
		}
	case groupNew:
		if errors.Is(err, providers.ErrConflict) || errors.Is(err, providers.ErrForbidden) || errors.Is(err, providers.ErrNotFound) {
			return end(change.Refused, "GitHub made no group: its plan may allow no further one, or the credential may not; take the labels off, or use a group that is there: "+err.Error(), err)
		}
	case cancel:
		if !errors.Is(err, providers.ErrConflict) {
			break
		}
		if state, why, serr := o.settle(ctx, a.p, c); serr == nil && state == change.Applied {
			return end(change.Already, "GitHub has nothing to cancel (409): "+why, nil)
		}
	}
	return end(change.Refused, "", err)
}

// busyWith says what stands in the way of a removal: the runs to be ended first. Nothing is
// tried again from here: a person decides that, and the engine counts.
func (p *Provider) busyWith(ctx context.Context, o deregister) string {
	const refused = "GitHub does not remove it while it counts as busy, and no force exists"
	w, _, err := p.details(ctx, p.act, o.scope(), o.Runner)
	if err != nil {
		return refused + " (the runner could not be read again)"
	}
	on, err := p.onIt(ctx, o.scope(), w, fewCalls)
	if err == nil && len(on.jobs) > 0 {
		j := on.jobs[0]
		return fmt.Sprintf("%s: job %d %q of run %d is on it (%s); cancel that run, then again",
			refused, j.job.ID, p.text(j.job.Name), j.run.ID, p.page(fmt.Sprintf("%s/actions/runs/%d", j.repo, j.run.ID)))
	}
	if err == nil {
		err = on.failed
	}
	if err != nil {
		return refused + "; its jobs could not be read (" + err.Error() + "): look at them, then again"
	}
	s := refused + "; no job on it can be seen"
	if on.partial != "" {
		s += " (" + on.partial + ")"
	}
	return s + ": GitHub may hold it for hours (actions/runner#3775); keep it out of reach and try again later"
}

// readBack looks whether what GitHub accepted is so. An answer that contradicts what was
// read back leaves it unknown, and so does one that could not be read back: its status alone
// is no proof (actions-runner-controller#702).
func (a *Applier) readBack(ctx context.Context, c change.Change, op operation, end ending) (change.Outcome, error) {
	state, why, err := op.settle(ctx, a.p, c)
	_, cancels := op.(cancel)
	switch {
	case state == change.Applied:
		return end(change.Applied, why, nil)
	case cancels && err == nil:
		return end(change.Applied, "GitHub accepted it (202); "+why, nil)
	case state == change.Refused:
		err := fmt.Errorf("%w: GitHub accepted it, but %s", providers.ErrMalformed, why)
		return end(change.Unknown, "GitHub accepted it, but "+why, err)
	}
	if err == nil {
		err = fmt.Errorf("%w: %s", providers.ErrUnavailable, why)
	}
	return end(change.Unknown, "GitHub accepted it, but it cannot be seen what came of it: "+why, err)
}
