package providers

import (
	"context"
	"time"
)

type recentKey struct{}

// WithRecent says that answers read no longer ago than max, in real time, may be used
// again: for planning, and for keeping what was just read. What is reused keeps the
// time at which it was read. It is never for Observe, Apply or Settle, which look
// again whatever ctx says. Zero asks for everything afresh, which is also the default.
// A provider without a memory ignores it.
func WithRecent(ctx context.Context, max time.Duration) context.Context {
	return context.WithValue(ctx, recentKey{}, max)
}

// RecentFrom is how old a reused answer may be below ctx; zero: nothing is reused.
func RecentFrom(ctx context.Context) time.Duration {
	d, _ := ctx.Value(recentKey{}).(time.Duration)
	return max(d, 0)
}
