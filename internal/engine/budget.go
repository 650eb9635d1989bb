package engine

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Budget limits the requests and the time of one process on one case. What only widens
// the picture (exposure, jobs) stops, between two requests, when no more than the reserve
// is left: pausing, stopping and deleting must not wait behind it. The zero Budget limits
// nothing.
type Budget struct {
	Calls   int           // requests; 0: no limit
	Reserve int           // of those, kept for containment
	Time    time.Duration // of work since the run was opened here, without what it waits for an answer; 0: no limit
	Keep    time.Duration // of that, kept for containment
}

// Why a read that only widens the picture stopped.
var (
	errSpent = errors.New("stopped to leave requests for containment")
	errLate  = errors.New("stopped to leave time for containment")
)

// worked is how long the run has been at work in this process.
func (r *Run) worked() time.Duration { return r.o.Clock.Now().Sub(r.began) - r.waited }

// answered ends the time in which a prompt waited.
func (r *Run) answered() {
	if !r.since.IsZero() {
		r.waited += r.o.Clock.Now().Sub(r.since)
		r.since = time.Time{}
	}
}

// spend returns a ctx for reads that only widen the picture: it ends, with errSpent or
// errLate as its cause, when the rest of the budget is kept for containment.
func (r *Run) spend(ctx context.Context) (context.Context, func()) {
	ctx, stop := context.WithCancelCause(ctx)
	b := r.o.Budget
	r.over = func() {
		if b.Calls > 0 && r.calls >= b.Calls-b.Reserve {
			stop(fmt.Errorf("%w: %d of %d requests are used, %d are kept back", errSpent, r.calls, b.Calls, b.Reserve))
		}
		if at := r.worked(); b.Time > 0 && at >= b.Time-b.Keep {
			stop(fmt.Errorf("%w: %s of %s are used, %s are kept back", errLate, at.Round(time.Second), b.Time, b.Keep))
		}
	}
	r.over()
	return ctx, func() {
		r.over = nil
		stop(nil)
	}
}

// spent is why a read failed: the budget where that stopped it, else its error.
func spent(ctx context.Context, err error) string {
	if cause := context.Cause(ctx); errors.Is(cause, errSpent) || errors.Is(cause, errLate) {
		return cause.Error()
	}
	return err.Error()
}
