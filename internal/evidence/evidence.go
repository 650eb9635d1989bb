// Package evidence is what is kept of what was seen: items, and the gaps where
// something could not be seen. casefile stores them; providers and hosts produce
// them and know nothing of where they go. Standard library only.
package evidence

import (
	"context"
	"io"
	"time"
)

// Item describes one kept thing. Name is its place in the case, made of
// [A-Za-z0-9._/-] (a claimed path from a host goes into Source, never into Name).
type Item struct {
	Name      string    `json:"name"`
	Source    string    `json:"source"` // where it came from: a route, a path on the host, a command
	Media     string    `json:"media,omitempty"`
	Digest    string    `json:"digest,omitempty"` // sha256 of the bytes as stored, lower-case hex; set by the sink
	Size      int64     `json:"size"`             // bytes as stored; set by the sink
	At        time.Time `json:"at"`               // when it was read
	Truncated bool      `json:"truncated,omitempty"`
	Redacted  int       `json:"redacted,omitempty"` // how many values were replaced before storing
	Sealed    bool      `json:"sealed,omitempty"`   // encrypted to the recipients of the case
}

// Gap is something that was asked for and could not be had. A gap is never "nothing found".
type Gap struct {
	Name string    `json:"name"`
	Why  string    `json:"why"`
	At   time.Time `json:"at"`
}

// Sink takes evidence. Put stores the bytes until EOF and returns the item with
// Digest and Size set; what is put must hold no secret in clear. Both calls are
// durable when they return and safe for concurrent use.
type Sink interface {
	Put(ctx context.Context, it Item, r io.Reader) (Item, error)
	Miss(ctx context.Context, g Gap) error
}

type sinkKey struct{}

// WithSink lets reads below ctx keep their raw answers in s.
func WithSink(ctx context.Context, s Sink) context.Context {
	return context.WithValue(ctx, sinkKey{}, s)
}

// SinkFrom returns the sink of ctx, or nil where nothing is to be kept.
func SinkFrom(ctx context.Context) Sink {
	s, _ := ctx.Value(sinkKey{}).(Sink)
	return s
}
