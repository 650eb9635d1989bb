package transport

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	"cordon/internal/untrusted"
)

// Exchange is what is kept of one request that reached the wire, reads too.
type Exchange struct {
	System    string    `json:"system"`
	At        time.Time `json:"at"` // when it was sent, on the run's clock
	Method    string    `json:"method"`
	Path      string    `json:"path"` // with the query of a read; without that of a change
	Status    int       `json:"status,omitempty"`
	RequestID string    `json:"request_id,omitempty"`
	Date      time.Time `json:"date,omitzero"` // the service's own clock
	Bytes     int64     `json:"bytes"`         // of the answer, after decompression
	Changing  bool      `json:"changing,omitempty"`
	Reused    bool      `json:"reused,omitempty"` // nothing was sent: this is what a call said that was made at At
	Err       string    `json:"err,omitempty"`
}

type recorderKey struct{}

// WithRecorder hands every Exchange below ctx to f, in the goroutine that made it and one
// at a time: pages of a list are read side by side, and a journal has one writer. A read
// that was repeated is several exchanges.
func WithRecorder(ctx context.Context, f func(Exchange)) context.Context {
	var turn sync.Mutex
	return context.WithValue(ctx, recorderKey{}, func(x Exchange) {
		turn.Lock()
		defer turn.Unlock()
		f(x)
	})
}

// Record hands x to the recorder of ctx, if there is one. Contacts that are not HTTP go
// through it too, so that one record holds every call.
func Record(ctx context.Context, x Exchange) {
	if f, ok := ctx.Value(recorderKey{}).(func(Exchange)); ok && f != nil {
		f(x)
	}
}

// requestIDs are the headers in which services name a request for their own support.
var requestIDs = []string{"X-Request-Id", "X-Github-Request-Id"}

// RequestID is the service's name for the exchange, cleaned, "" if it gave none.
func RequestID(h http.Header) string {
	for _, k := range requestIDs {
		if v := h.Get(k); v != "" {
			return untrusted.Clean(v, 128)
		}
	}
	return ""
}

// Date is the service's own clock at the answer, zero if it gave none.
func Date(h http.Header) time.Time {
	d, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return time.Time{}
	}
	return d.UTC()
}

func (x *Exchange) read(status int, h http.Header) {
	x.Status, x.RequestID, x.Date = status, RequestID(h), Date(h)
}

// recordedPath keeps the query of a read: the table allows only keys that hold no secret.
func (t *Transport) recordedPath(u *url.URL, changing bool) string {
	if changing || u.RawQuery == "" {
		return shownPath(u)
	}
	return shownPath(u) + "?" + u.RawQuery
}
