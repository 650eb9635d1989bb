package enginemodel

import (
	"context"
	"sync"
	"time"
)

// Clock goes on by a millisecond each time somebody looks, and by what somebody waits
// for at once.
type Clock struct {
	mu    sync.Mutex
	at    time.Time
	ran   time.Duration
	waits []time.Duration
}

// NewClock starts at a fixed time.
func NewClock() *Clock { return &Clock{at: time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)} }

// Now implements clock.Clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.ran = c.at.Add(time.Millisecond), c.ran+time.Millisecond
	return c.at
}

// Wait implements clock.Clock.
func (c *Clock) Wait(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d > 0 {
		c.at, c.ran = c.at.Add(d), c.ran+d
		c.waits = append(c.waits, d)
	}
	return ctx.Err()
}

// Steady implements clock.Steady.
func (c *Clock) Steady() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ran
}

// Jump sets the clock forward or back, as a correction of the machine's clock does.
func (c *Clock) Jump(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// Waits are the waits so far.
func (c *Clock) Waits() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]time.Duration(nil), c.waits...)
}
