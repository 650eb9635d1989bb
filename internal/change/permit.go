package change

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// Errors of Admit and Permit. Callers test with errors.Is.
var (
	ErrCaptured = errors.New("captured for the plan, not sent")
	ErrNoPermit = errors.New("no permit: nothing outside changes without a confirmed change")
	ErrSpent    = errors.New("permit already used: one call, once")
	ErrMismatch = errors.New("not the call that was approved")
	ErrStale    = errors.New("changed since it was planned: plan again")
)

// Issuer makes permits. Only a run that may write has one; it is safe for
// concurrent use. The zero value issues nothing.
type Issuer struct{ live bool }

// NewIssuer returns an issuer. Its only caller is the place that decides that this
// process may write at all.
func NewIssuer() *Issuer { return &Issuer{live: true} }

// Permit lets through c's captured call once. approved is the digest that was
// confirmed: if c was edited since, the error is ErrMismatch.
func (i *Issuer) Permit(c Change, approved string) (*Permit, error) {
	if i == nil || !i.live {
		return nil, ErrNoPermit
	}
	if c.Call.IsZero() {
		return nil, fmt.Errorf("%w: %s has no captured call", ErrMismatch, c.ID)
	}
	if c.Digest() != approved {
		return nil, fmt.Errorf("%w: %s was edited after approval", ErrMismatch, c.ID)
	}
	return &Permit{call: c.Call}, nil
}

// Permit is leave for one call. It can only come from an Issuer.
type Permit struct {
	call Call
	used atomic.Bool
}

// Used reports whether the call left (or was on its way when something broke): from
// then on a missing answer means unknown, before it means that nothing happened.
func (p *Permit) Used() bool { return p.used.Load() }

type (
	permitKey  struct{}
	captureKey struct{}
)

// WithPermit puts p where Admit finds it.
func WithPermit(ctx context.Context, p *Permit) context.Context {
	return context.WithValue(ctx, permitKey{}, p)
}

// Captured collects the call that a typed client would have sent.
type Captured struct {
	mu    sync.Mutex
	calls []Call
}

// WithCapture makes every mutating call below ctx be recorded and refused.
func WithCapture(ctx context.Context) (context.Context, *Captured) {
	c := &Captured{}
	return context.WithValue(ctx, captureKey{}, c), c
}

// Call returns the one captured call; none or several is a defect of the operation.
func (c *Captured) Call() (Call, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.calls) != 1 {
		return Call{}, fmt.Errorf("an operation makes one mutating call, this one made %d", len(c.calls))
	}
	return c.calls[0], nil
}

// Admit is asked just before call would leave. Nil means: send it now, once. It is
// the only guard; whoever sends mutating bytes must ask it.
func Admit(ctx context.Context, call Call) error {
	if c, ok := ctx.Value(captureKey{}).(*Captured); ok {
		c.mu.Lock()
		c.calls = append(c.calls, call)
		c.mu.Unlock()
		return ErrCaptured
	}
	if err := Check(ctx, call); err != nil {
		return err
	}
	if p := permitOf(ctx); !p.used.CompareAndSwap(false, true) {
		return ErrSpent
	}
	return nil
}

// Check gives the answer that Admit would give now, and spends and records nothing.
// It is for work that must precede sending (fetching the credential) and must not
// happen for a call that will not leave. Its nil is not leave to send.
func Check(ctx context.Context, call Call) error {
	if _, ok := ctx.Value(captureKey{}).(*Captured); ok {
		return ErrCaptured
	}
	p := permitOf(ctx)
	switch {
	case p == nil:
		return fmt.Errorf("%w (%s)", ErrNoPermit, call.place())
	case call != p.call:
		return fmt.Errorf("%w: approved %s, would send %s", ErrMismatch, p.call.place(), call.place())
	case p.Used():
		return ErrSpent
	}
	return nil
}

// Left reports whether the permit in ctx was used: the one call left, or was on its
// way when something broke. Without a permit it is false.
func Left(ctx context.Context) bool {
	p := permitOf(ctx)
	return p != nil && p.Used()
}

func permitOf(ctx context.Context) *Permit {
	p, _ := ctx.Value(permitKey{}).(*Permit)
	return p
}

// place names a call in an error without its query and body: those may hold a value
// that must not be seen when the call is one that nobody planned.
func (c Call) place() string {
	at, query, has := strings.Cut(c.URL, "?")
	if has && query != "" {
		at += "?…"
	}
	return c.Method + " " + at
}

// PlanCall runs op with nothing sent and returns the call it would make.
func PlanCall(ctx context.Context, op func(context.Context) error) (Call, error) {
	ctx, got := WithCapture(ctx)
	err := op(ctx)
	if err != nil && !errors.Is(err, ErrCaptured) {
		return Call{}, err
	}
	return got.Call()
}
