package transport

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"cordon/internal/secret"
)

// send puts one request on the wire and reads its whole answer, so that whatever is
// handed on can neither grow nor stall. Every call of send is one Exchange.
func (t *Transport) send(req *http.Request, body []byte, cred secret.Secret, changing bool) (*http.Response, error) {
	out := req.Clone(req.Context())
	out.Header = cleanHeaders(req.Header)
	out.Body, out.ContentLength = bodyOf(body), int64(len(body))
	out.GetBody = nil // without it net/http cannot send a body a second time on its own
	out.Host = ""
	if t.o.Auth != nil && !cred.IsZero() {
		t.o.Auth(out, cred)
	}
	x := Exchange{System: t.o.System, At: t.o.Clock.Now(), Method: req.Method, Path: t.recordedPath(req.URL, changing), Changing: changing}
	resp, data, err := t.exchange(out, changing)
	if resp != nil {
		x.read(resp.StatusCode, resp.Header)
	}
	x.Bytes = int64(len(data))
	if err != nil {
		x.Err = err.Error()
	}
	Record(req.Context(), x)
	if err != nil {
		return nil, err
	}
	resp.Body, resp.ContentLength = bodyOf(data), int64(len(data))
	resp.TransferEncoding = nil
	return resp, nil
}

// exchange returns the response also with an error where its head was read.
func (t *Transport) exchange(out *http.Request, changing bool) (*http.Response, []byte, error) {
	resp, err := t.o.Next.RoundTrip(out)
	if err != nil {
		return nil, nil, classify(out.Context(), err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, t.o.Limits.Body+1))
	switch {
	case int64(len(data)) > t.o.Limits.Body:
		return resp, nil, fmt.Errorf("%w: answer over %d bytes", ErrTooLarge, t.o.Limits.Body)
	case err != nil:
		return resp, nil, classify(out.Context(), err)
	}
	return resp, data, t.stays(resp, out, changing)
}

// stays refuses an answer that sends us to another place, and any that does so with
// a change: following it would be a second call that nobody approved.
func (t *Transport) stays(resp *http.Response, out *http.Request, changing bool) error {
	if resp.StatusCode < 300 || resp.StatusCode > 399 || resp.Header.Get("Location") == "" {
		return nil
	}
	if changing {
		return ErrRedirect
	}
	to, err := out.URL.Parse(resp.Header.Get("Location"))
	if err != nil {
		return ErrRedirect
	}
	next := &http.Request{Method: out.Method, URL: to}
	if err := t.inside(next); err != nil {
		return errors.Join(ErrRedirect, err)
	}
	if !t.onTable(next, nil) {
		return ErrRedirect
	}
	return nil
}
