package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"cordon/internal/clock"
	"cordon/internal/untrusted"
	"cordon/providers"
)

// Reserve is how many calls of the hour lists and searches leave for containment: a plan,
// its reads, its call and an hour of watching for three runners. Of a small limit they
// leave a fifth.
const Reserve = 300

// errKept is why a read that only widens the picture was not sent.
var errKept = fmt.Errorf("%w, not sent", providers.ErrLimited)

// rate is what an answer says of the primary limit; Limit 0: nothing.
type rate struct {
	Limit, Remaining int
	Reset            time.Time
	Resource         string // core, search, audit_log, …
}

func readRate(h http.Header) rate {
	n := func(k string) int {
		v, err := strconv.Atoi(h.Get(aside + k))
		if err != nil || v < 0 {
			return -1
		}
		return v
	}
	r := rate{Limit: n("X-Ratelimit-Limit"), Remaining: n("X-Ratelimit-Remaining"), Resource: untrusted.Clean(h.Get("X-Ratelimit-Resource"), 40)}
	if r.Limit <= 0 || r.Remaining < 0 {
		return rate{}
	}
	if at := n("X-Ratelimit-Reset"); at > 0 {
		r.Reset = time.Unix(int64(at), 0).UTC()
	}
	if r.Resource == "" {
		r.Resource = "core"
	}
	return r
}

// reserve is how many calls are kept for containment.
func (r rate) reserve() int { return min(Reserve, r.Limit/5) }

// limits is what is known of the primary limits of the credential for looking, by
// resource, and until when GitHub asked for no more requests at all. It is safe for
// concurrent use.
type limits struct {
	clock clock.Clock
	mu    sync.Mutex
	by    map[string]known
	quiet time.Time // until then nothing is asked for mere looking
}

// unsaid is how long to wait where a secondary limit names no time (docs: rate limits for
// the REST API: "wait for at least one minute").
const unsaid = time.Minute

// again is when the same may be asked once more by our clock; zero: at once, or a is no
// answer that asks for fewer requests. A wait of a second is the transport's own.
func (a answer) again(now time.Time) time.Time {
	switch {
	case a.Status != 429 && !(a.Status == 403 && a.limited()), a.waits && a.wait <= time.Second:
		return time.Time{}
	case a.waits:
		return now.Add(a.wait)
	case a.Rate.Limit > 0 && a.Rate.Remaining == 0 && !a.Rate.Reset.IsZero():
		if a.Date.IsZero() {
			return a.Rate.Reset
		}
		return now.Add(a.Rate.Reset.Sub(a.Date))
	}
	return now.Add(unsaid)
}

type known struct {
	rate
	until time.Time // the reset on our clock
}

// saw keeps what an answer says. GitHub's reset is a time of its own clock; Date tells
// how far that is from ours.
func (l *limits) saw(a answer) {
	if until := a.again(l.clock.Now()); !until.IsZero() {
		l.mu.Lock()
		if until.After(l.quiet) {
			l.quiet = until
		}
		l.mu.Unlock()
	}
	if a.Rate.Limit == 0 || a.Rate.Reset.IsZero() {
		return
	}
	now := l.clock.Now()
	k := known{rate: a.Rate, until: a.Rate.Reset}
	if !a.Date.IsZero() {
		k.until = now.Add(a.Rate.Reset.Sub(a.Date))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[string]known{}
	}
	old, ok := l.by[a.Rate.Resource]
	same := ok && old.Reset.Equal(k.Reset) && old.Limit == k.Limit
	if same && old.Remaining < k.Remaining { // answers overtake each other
		return
	}
	if a.acting && !same { // another token's count says nothing of the reserve of this one
		return
	}
	if ok || len(l.by) < 20 {
		l.by[a.Rate.Resource] = k
	}
}

// spare says why a call of a resource is not made for mere looking, nil: it may be.
func (l *limits) spare(request, resource string) error {
	l.mu.Lock()
	k, ok := l.by[resource]
	quiet := l.quiet
	l.mu.Unlock()
	if l.clock.Now().Before(quiet) {
		return fmt.Errorf("%s: %w: GitHub asked for no more requests until %s; going on before may block the credential", request, errKept, quiet.UTC().Format("15:04:05 MST"))
	}
	if !ok || k.Remaining > k.reserve() || !l.clock.Now().Before(k.until) {
		return nil
	}
	return fmt.Errorf("%s: %w: %d of %d calls are left until %s, and the last %d are kept for containment",
		request, errKept, k.Remaining, k.Limit, k.Reset.Format("15:04 MST"), k.reserve())
}

// sparing is a service that stops at the reserve.
type sparing struct {
	service
	limits *limits
}

func (s sparing) get(ctx context.Context, path string, q url.Values) (answer, error) {
	if err := s.limits.spare("GET "+path, resource(path)); err != nil {
		return answer{Request: "GET " + path}, err
	}
	return s.service.get(ctx, path, q)
}

// resource is the limit that a path counts against (docs: rate limits).
func resource(path string) string {
	switch {
	case len(path) > 10 && path[len(path)-10:] == "/audit-log":
		return "audit_log"
	case len(path) > 7 && path[:7] == "search/":
		return "search"
	}
	return "core"
}
