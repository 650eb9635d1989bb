// Package clock is the one source of time for everything that is judged or
// recorded. Real runs use Real; only a lab makes a scaled one, so that an hour of
// agent silence passes in seconds. Network timeouts never go through here: they
// are real in both. Standard library only.
package clock

import (
	"context"
	"time"
)

// Clock tells and waits. Implementations are safe for concurrent use.
type Clock interface {
	// Now is the current time in UTC.
	Now() time.Time
	// Wait blocks until d has passed on this clock or ctx ends, and then returns ctx.Err().
	Wait(ctx context.Context, d time.Duration) error
}

// Real is the machine's clock.
type Real struct{}

// Now implements Clock.
func (Real) Now() time.Time { return time.Now().UTC() }

// Wait implements Clock.
func (Real) Wait(ctx context.Context, d time.Duration) error { return wait(ctx, d) }

// Scaled runs Factor times as fast as the machine's clock, counted from Start,
// when both showed the same time. A Factor below 1 is treated as 1.
type Scaled struct {
	Start  time.Time
	Factor float64
}

// Now implements Clock.
func (s Scaled) Now() time.Time {
	return s.Start.Add(time.Duration(float64(time.Since(s.Start)) * s.factor())).UTC()
}

// Wait implements Clock.
func (s Scaled) Wait(ctx context.Context, d time.Duration) error {
	return wait(ctx, time.Duration(float64(d)/s.factor()))
}

func (s Scaled) factor() float64 { return max(s.Factor, 1) }

func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
