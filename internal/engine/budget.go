package engine

import (
	"context"
	"errors"
	"fmt"
)

// Budget limits the requests of one process on one case. What only widens the picture
// (exposure, jobs) stops when no more than Reserve are left: pausing, stopping and
// deleting must not wait behind it. The zero Budget limits nothing.
type Budget struct {
	Calls   int // requests; 0: no limit
	Reserve int // of those, kept for containment
}

// errSpent is why a read that only widens the picture stopped.
var errSpent = errors.New("stopped to leave requests for containment")

// spend returns a ctx for reads that only widen the picture: it ends, with errSpent as
// its cause, when the rest of the budget is kept for containment.
func (r *Run) spend(ctx context.Context) (context.Context, func()) {
	ctx, stop := context.WithCancelCause(ctx)
	b := r.o.Budget
	r.over = func() {
		if b.Calls > 0 && r.calls >= b.Calls-b.Reserve {
			stop(fmt.Errorf("%w: %d of %d requests are used, %d are kept back", errSpent, r.calls, b.Calls, b.Reserve))
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
	if cause := context.Cause(ctx); errors.Is(cause, errSpent) {
		return cause.Error()
	}
	return err.Error()
}
