package gitlab

import (
	"context"
	"net/url"
	"sync"
	"time"

	"cordon/internal/transport"
	"cordon/internal/witness"
	"cordon/providers"
)

// Bounds of what is remembered.
const (
	maxRecent      = 64       // answers
	maxRecentBytes = 16 << 20 // of all of them
	maxRecentList  = 200_000  // runners of the last listing
)

// Recent remembers raw answers in memory for a minute's reuse (providers.WithRecent):
// what triage just read need not be asked again by the plan that follows. Several
// Providers of one service may share it, since it holds answers and no redaction. Any
// change that an Applier makes empties it. It is safe for concurrent use; the zero
// value is ready.
type Recent struct {
	now func() time.Time // real time; nil: the machine's

	mu    sync.Mutex
	epoch int // grows with every change: what was asked before one is not kept after it
	kept  map[string]recalled
	bytes int
	list  *listed
}

type recalled struct {
	a    answer
	read time.Time // real time at which it was asked for
}

// listed is the last whole listing, as far as capacity needs it.
type listed struct {
	read    time.Time
	ready   map[int64]bool // id to online and not paused
	partial bool
}

func (r *Recent) real() time.Time {
	if r.now != nil {
		return r.now()
	}
	return time.Now()
}

// begin is the mark under which an answer that is asked for now may be kept.
func (r *Recent) begin() (epoch int, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.epoch, r.real()
}

func (r *Recent) keep(key string, a answer, epoch int, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if epoch != r.epoch || len(a.Body) > maxRecentBytes/4 {
		return
	}
	if r.kept == nil {
		r.kept = map[string]recalled{}
	}
	r.drop(key)
	for len(r.kept) >= maxRecent || r.bytes+len(a.Body) > maxRecentBytes {
		oldest := ""
		for k, x := range r.kept {
			if oldest == "" || x.read.Before(r.kept[oldest].read) {
				oldest = k
			}
		}
		r.drop(oldest)
	}
	r.kept[key] = recalled{a, at}
	r.bytes += len(a.Body)
}

func (r *Recent) drop(key string) {
	r.bytes -= len(r.kept[key].a.Body)
	delete(r.kept, key)
}

func (r *Recent) find(key string, max time.Duration) (answer, bool) {
	if max <= 0 {
		return answer{}, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	x, ok := r.kept[key]
	if !ok || r.real().Sub(x.read) > max {
		return answer{}, false
	}
	return x.a, true
}

// forget empties the memory: something was or will be changed.
func (r *Recent) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.epoch++
	r.kept, r.bytes, r.list = nil, 0, nil
}

func (r *Recent) keepList(l listed, epoch int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if epoch == r.epoch {
		r.list = &l
	}
}

// peers counts the runners of the last listing that could take a job instead of id.
func (r *Recent) peers(id int64, max time.Duration) (n int, partial, ok bool) {
	if max <= 0 {
		return 0, false, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.list == nil || r.real().Sub(r.list.read) > max {
		return 0, false, false
	}
	for other, ready := range r.list.ready {
		if other != id && ready {
			n++
		}
	}
	return n, r.list.partial, true
}

// ask reads one of the answers that may be reused. A reused one is recorded as such,
// with the request id and the date of the call that got it.
func (p *Provider) ask(ctx context.Context, path string, q url.Values) (answer, error) {
	key := path + "?" + q.Encode()
	if a, ok := p.recent.find(key, providers.RecentFrom(ctx)); ok {
		x := transport.Exchange{
			System: p.o.Name, At: a.At, Method: "GET", Path: p.base.Path + "/api/v4/" + path,
			Status: a.Status, RequestID: a.RequestID, Date: a.Date, Bytes: int64(len(a.Body)), Reused: true,
		}
		if len(q) > 0 {
			x.Path += "?" + q.Encode()
		}
		transport.Record(ctx, x)
		return a, nil
	}
	epoch, real := p.recent.begin()
	at := p.clock.Now()
	a, err := p.api.get(ctx, path, q)
	a.At = at
	if err == nil {
		p.recent.keep(key, a, epoch, real)
	}
	return a, err
}

// ready reports whether a runner of a list could take a job.
func (w wireRunner) ready() bool {
	return w.Online != nil && *w.Online && w.paused() == witness.No
}
