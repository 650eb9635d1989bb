package transport

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// Repetitions of a read: at most two, and no wait that a person would notice.
const (
	maxRepeats    = 2
	maxRetryAfter = time.Second // a service that asks for more gets its answer handed on
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// repeat sends a read, again after a broken connection, a 5xx, or a 429 or 403 (GitHub
// says "slower" with either) whose Retry-After is short. It is the only retry in the program.
func (t *Transport) repeat(req *http.Request, send roundTrip) (*http.Response, error) {
	tries := 0
	counted := roundTrip(func(r *http.Request) (*http.Response, error) {
		if tries++; tries > 1 {
			t.count.repeated.Add(1)
		}
		return send(r)
	})
	rt := &retryablehttp.RoundTripper{Client: &retryablehttp.Client{
		HTTPClient: &http.Client{
			Transport:     counted,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		RetryMax:     maxRepeats,
		CheckRetry:   again,
		Backoff:      func(_, _ time.Duration, n int, resp *http.Response) time.Duration { return t.pause(n, resp) },
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}}
	plain := req.Clone(req.Context())
	plain.Body, plain.GetBody, plain.ContentLength = nil, nil, 0
	resp, err := rt.RoundTrip(plain)
	if resp != nil { // the library hands on both after its last try; a 5xx is an answer
		return resp, nil
	}
	if done := req.Context().Err(); done != nil {
		return nil, classify(req.Context(), done)
	}
	var wrapped *url.Error // its text holds the query
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return nil, err
}

func again(ctx context.Context, resp *http.Response, err error) (bool, error) {
	if ctx.Err() != nil {
		return false, err
	}
	if err != nil {
		return errors.Is(err, ErrNoAnswer) && !errors.Is(err, errNotTrusted), err
	}
	after, asked := retryAfter(resp)
	if asked && after > maxRetryAfter {
		return false, nil
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusForbidden:
		return asked, nil
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true, nil
	}
	return false, nil
}

func (t *Transport) pause(n int, resp *http.Response) time.Duration {
	if after, asked := retryAfter(resp); asked {
		return min(after, maxRetryAfter)
	}
	return t.o.Limits.Pause << n
}

// retryAfter reads the header in seconds; the date form counts as long, because
// whoever writes a date does not mean a second.
func retryAfter(resp *http.Response) (time.Duration, bool) {
	if resp == nil {
		return 0, false
	}
	v := resp.Header.Get("Retry-After")
	if v == "" {
		return 0, false
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > 1<<20 {
		return time.Hour, true
	}
	return time.Duration(n) * time.Second, true
}
