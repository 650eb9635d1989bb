package providers

import (
	"context"
	"time"

	"cordon/internal/target"
)

// Namesaker looks, while a registration is still there, which others are called as it is.
// Optional, for a service that does not tell since when a registration exists.
type Namesaker interface {
	// Namesakes lists the other registrations with one of the names or hosts of traits, and
	// those with all of its labels. An error says that nothing could be listed at all.
	Namesakes(ctx context.Context, t target.Ref, traits Traits) (Known, error)
}

// Known is what was there before a registration went: none of it is its return.
type Known struct {
	At      time.Time    `json:"at"`                // our clock, when the last list was read
	Names   []string     `json:"names"`             // that were looked for
	Refs    []target.Ref `json:"refs,omitempty"`    // others that had one of them
	Labels  []string     `json:"labels,omitempty"`  // that were looked for
	Alike   []target.Ref `json:"alike,omitempty"`   // others that had all of them
	Partial string       `json:"partial,omitempty"` // why there may have been more; empty: every list was read
}
