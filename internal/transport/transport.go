// Package transport is the only way HTTP leaves cordon.
//
// A Transport belongs to one configured service. It lets through the reads on that
// service's table; everything else has to pass change.Admit, which captures it for
// a plan, refuses it, or lets it through once. A GET that is not on the table is a
// change like any other. Credentials are attached here and nowhere else, so typed
// clients never hold a token; requests go only to the service's own address; answers
// are capped after decompression and silence ends in an error; reads are repeated in
// this one place, changes never. It may import levels 0 and 1 and knows no provider.
package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"cordon/internal/change"
	"cordon/internal/clock"
	"cordon/internal/secret"
)

// Credential fetches one credential; it may ask a person or run a command, and ends
// with ctx. The zero Secret means: send without one.
type Credential func(ctx context.Context) (secret.Secret, error)

// Limits bound one request. Zero fields take the defaults.
type Limits struct {
	Body  int64         // bytes of an answer after decompression; default 8 MiB
	Wait  time.Duration // for one request with its repetitions, real time; default 30 s
	Pause time.Duration // before the first repetition of a read, doubled after; default 250 ms, at most 500 ms
}

// Defaults of Limits, and the cap on what is sent.
const (
	DefaultBody  = 8 << 20
	DefaultWait  = 30 * time.Second
	defaultPause = 250 * time.Millisecond
	maxPause     = 500 * time.Millisecond
	maxRequest   = 1 << 20
)

// Options make a Transport.
type Options struct {
	System string   // configured name, for errors and records
	Base   *url.URL // scheme, host and base path; nothing leaves for anywhere else
	Reads  []Route  // the table of reads; empty: there are none
	Look   Credential
	Act    Credential // asked only for a call that has its permit; nil: no change can leave
	Auth   func(*http.Request, secret.Secret)
	Next   http.RoundTripper // nil: a plain transport of its own
	Clock  clock.Clock       // for Exchange.At; nil: the machine's
	Limits Limits
}

// Transport implements http.RoundTripper. It is safe for concurrent use.
type Transport struct {
	o     Options
	count counters
}

type counters struct{ reads, changes, refused, repeated atomic.Int64 }

// Counts says what a Transport did so far, in wire requests. Tests count by it; nothing
// else asks.
type Counts struct{ Reads, Changes, Refused, Repeated int64 }

// New returns the way to one service. Whoever is done with it calls CloseIdleConnections.
func New(o Options) *Transport {
	if o.Clock == nil {
		o.Clock = clock.Real{}
	}
	if o.Next == nil {
		o.Next = Plain()
	}
	if o.Limits.Body <= 0 {
		o.Limits.Body = DefaultBody
	}
	if o.Limits.Wait <= 0 {
		o.Limits.Wait = DefaultWait
	}
	if o.Limits.Pause <= 0 {
		o.Limits.Pause = defaultPause
	}
	o.Limits.Pause = min(o.Limits.Pause, maxPause)
	return &Transport{o: o}
}

// Plain is the transport below: proxies from the environment, small header limit,
// HTTP/2 where the service offers it.
func Plain() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxResponseHeaderBytes = 256 << 10
	t.IdleConnTimeout = 30 * time.Second
	return t
}

// Counts returns how many requests reached the wire, were refused, and were repeated.
func (t *Transport) Counts() Counts {
	return Counts{
		Reads: t.count.reads.Load(), Changes: t.count.changes.Load(),
		Refused: t.count.refused.Load(), Repeated: t.count.repeated.Load(),
	}
}

// CloseIdleConnections ends connections that wait for reuse.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.o.Next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// RoundTrip implements http.RoundTripper. Every error is a *Error: it names system,
// method and path and never shows a query, a body, a credential or foreign text.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	fail := func(err error) (*http.Response, error) {
		return nil, &Error{System: t.o.System, Method: req.Method, Path: shownPath(req.URL), Err: err}
	}
	body, err := readRequest(req)
	if err != nil {
		return fail(err)
	}
	if err := t.inside(req); err != nil {
		t.count.refused.Add(1)
		return fail(err)
	}
	ctx, cancel := context.WithTimeout(req.Context(), t.o.Limits.Wait)
	defer cancel()
	do := t.change
	if t.onTable(req, body) {
		do = t.read
	}
	resp, err := do(req.WithContext(ctx), body)
	if err != nil {
		if done := req.Context().Err(); done != nil && !errors.Is(err, done) {
			err = fmt.Errorf("%w (%w)", err, done)
		}
		return fail(err)
	}
	resp.Request = req // never the request that carried the credential
	return resp, nil
}

// read sends a request of the table, and again where that may help.
func (t *Transport) read(req *http.Request, body []byte) (*http.Response, error) {
	from, what := t.o.Look, "looking"
	if Acting(req.Context()) && t.o.Act != nil {
		from, what = t.o.Act, "acting"
	}
	cred, err := fetch(req.Context(), from, what)
	if err != nil {
		return nil, err
	}
	return t.repeat(req, func(r *http.Request) (*http.Response, error) {
		t.count.reads.Add(1)
		return t.send(r, body, cred, false)
	})
}

// change sends what has its permit, once. The credential for acting is fetched
// before the permit is spent and only if there is one: a plan needs no such
// credential, and failing to get it must leave the outcome known.
func (t *Transport) change(req *http.Request, body []byte) (*http.Response, error) {
	ctx := req.Context()
	call := change.Call{Method: req.Method, URL: req.URL.String(), Body: string(body)}
	if err := change.Check(ctx, call); err != nil {
		if errors.Is(err, change.ErrCaptured) {
			return nil, change.Admit(ctx, call)
		}
		t.count.refused.Add(1)
		return nil, err
	}
	if t.o.Act == nil {
		t.count.refused.Add(1)
		return nil, fmt.Errorf("%w: none for acting", ErrNoCredential)
	}
	cred, err := fetch(ctx, t.o.Act, "acting")
	if err != nil {
		return nil, err
	}
	if err := change.Admit(ctx, call); err != nil {
		t.count.refused.Add(1)
		return nil, err
	}
	t.count.changes.Add(1)
	return t.send(req, body, cred, true)
}

func fetch(ctx context.Context, c Credential, what string) (secret.Secret, error) {
	if c == nil {
		return secret.Secret{}, nil
	}
	s, err := c(ctx)
	if err != nil {
		return secret.Secret{}, fmt.Errorf("%w for %s: %w", ErrNoCredential, what, err)
	}
	return s, nil
}

func readRequest(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	defer req.Body.Close()
	b, err := io.ReadAll(io.LimitReader(req.Body, maxRequest+1))
	if err != nil {
		return nil, fmt.Errorf("read the request's own body: %w", err)
	}
	if len(b) > maxRequest {
		return nil, fmt.Errorf("%w: request body over %d bytes", ErrTooLarge, maxRequest)
	}
	return b, nil
}

func bodyOf(b []byte) io.ReadCloser {
	if len(b) == 0 {
		return http.NoBody
	}
	return io.NopCloser(bytes.NewReader(b))
}
