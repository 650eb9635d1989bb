package providers

import (
	"context"
	"time"

	"cordon/internal/target"
)

// Expirer says what a service will delete by itself of what bears on a target. Optional;
// reads only.
type Expirer interface {
	// Expiring looks at what there is since a time. What the service does not tell is an
	// Expiry without a time, never left out; the error is for a broken request or a
	// finished ctx.
	Expiring(ctx context.Context, t target.Ref, since time.Time) ([]Expiry, error)
}

// Expiry is one thing that a service deletes by itself.
type Expiry struct {
	What  string    `json:"what"`
	Where string    `json:"where,omitempty"`
	At    time.Time `json:"at,omitzero"` // zero: not known, and Why says so; or never, and Never says so
	Never bool      `json:"never,omitempty"`
	Why   string    `json:"why,omitempty"` // how that is known, or why it is not
}
