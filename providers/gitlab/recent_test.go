package gitlab

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"cordon/internal/change"
	"cordon/internal/evidence"
	"cordon/internal/transport"
	"cordon/providers"
	"cordon/providers/providertest"
)

const minute = time.Minute

// keeper is a sink that remembers what it was given.
type keeper struct {
	mu    sync.Mutex
	items map[string]evidence.Item
	gaps  []evidence.Gap
}

func (k *keeper) Put(_ context.Context, it evidence.Item, r io.Reader) (evidence.Item, error) {
	b, err := io.ReadAll(r)
	if err == nil && !json.Valid(bytes.TrimSpace(b)) {
		err = io.ErrUnexpectedEOF
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.items == nil {
		k.items = map[string]evidence.Item{}
	}
	k.items[it.Name] = it
	return it, err
}

func (k *keeper) Miss(_ context.Context, g evidence.Gap) error {
	k.gaps = append(k.gaps, g)
	return nil
}

// gather does the three reads of the express profile.
func (l *lab) gather(t *testing.T, ctx context.Context) *keeper {
	t.Helper()
	k := &keeper{}
	if _, err := l.Gather(ctx, runner(42, Project), providers.Express, k); err != nil || len(k.items) != 3 {
		t.Fatalf("%v, %d items", err, len(k.items))
	}
	return k
}

func (l *lab) reads() int64 { return l.tr.Counts().Reads }

func TestWhatWasJustReadIsReusedOnlyWhereThatWasAskedFor(t *testing.T) {
	l := open(t, providertest.Wait)
	real := time.Now()
	l.recent.now = func() time.Time { return real }
	ctx := t.Context()
	l.gather(t, ctx)
	if n := l.reads(); n != 3 {
		t.Fatalf("%d reads for three answers", n)
	}
	if l.gather(t, ctx); l.reads() != 6 {
		t.Errorf("%d reads: without WithRecent nothing may be reused", l.reads())
	}
	var seen []transport.Exchange
	recorded := transport.WithRecorder(providers.WithRecent(ctx, minute), func(x transport.Exchange) { seen = append(seen, x) })
	if l.gather(t, recorded); l.reads() != 6 {
		t.Errorf("%d reads: three answers of this minute were there", l.reads())
	}
	if len(seen) != 3 {
		t.Fatalf("%d exchanges on record, want the three that were reused", len(seen))
	}
	for _, x := range seen {
		if !x.Reused || x.RequestID != "01REQUEST" || x.Date.IsZero() || !strings.HasPrefix(x.Path, "/api/v4/runners/42") {
			t.Errorf("a reused answer is recorded as %+v", x)
		}
	}
	real = real.Add(minute + time.Second)
	if l.gather(t, recorded); l.reads() != 9 {
		t.Errorf("%d reads: answers of more than a minute ago were reused", l.reads())
	}
}

func TestReusedEvidenceCarriesTheTimeAtWhichItWasRead(t *testing.T) {
	l := open(t, providertest.Wait)
	first := l.gather(t, t.Context())
	again := l.gather(t, providers.WithRecent(t.Context(), minute))
	for name, it := range again.items {
		if !it.At.Equal(first.items[name].At) {
			t.Errorf("%s: kept as of %s, it was read at %s", name, it.At, first.items[name].At)
		}
	}
}

func TestObservingApplyingAndSettlingLookAgainWhateverTheContextSays(t *testing.T) {
	warm := func(t *testing.T) (*lab, change.Change, context.Context) {
		l := open(t, providertest.Wait)
		c := l.planned(t, providers.Pause)[0]
		ctx := providers.WithRecent(t.Context(), time.Hour)
		if _, err := l.Observe(ctx, runner(42, Project)); err != nil { // its answers are remembered
			t.Fatal(err)
		}
		l.fake.change(func(f *fake) { f.runners[42].paused = true })
		return l, c, ctx
	}
	t.Run("observe", func(t *testing.T) {
		l, _, ctx := warm(t)
		if seen, err := l.Observe(ctx, runner(42, Project)); err != nil || seen[0].Paused != "yes" {
			t.Errorf("observed %v (%v), and it is paused now", seen, err)
		}
	})
	t.Run("settle", func(t *testing.T) {
		l, c, ctx := warm(t)
		if state, why, _ := l.Settle(ctx, c); state != change.Applied {
			t.Errorf("settled %s (%s), and it is paused now", state, why)
		}
	})
	t.Run("apply", func(t *testing.T) {
		l, c, _ := warm(t)
		out, err := l.apply.Apply(providers.WithRecent(allowed(t, c), time.Hour), c)
		if err != nil || out.State != change.Already {
			t.Errorf("applied %+v (%v), and it was so already", out, err)
		}
	})
}

func TestAChangeEmptiesTheMemory(t *testing.T) {
	l := open(t, providertest.Wait)
	ctx := providers.WithRecent(t.Context(), time.Hour)
	c := l.planned(t, providers.Pause)[0]
	l.gather(t, ctx)
	epoch, at := l.recent.begin()
	if out, err := l.apply.Apply(allowed(t, c), c); err != nil || out.State != change.Applied {
		t.Fatalf("%+v, %v", out, err)
	}
	l.recent.keep("slow?", answer{}, epoch, at)
	if _, ok := l.recent.find("slow?", time.Hour); ok {
		t.Error("an answer that was asked for before the change is kept after it")
	}
	r, err := l.Runner(ctx, runner(42, Project))
	if err != nil || r.Paused != "yes" {
		t.Errorf("%v (%v): read from before the pause", r.Paused, err)
	}
}

func TestThePlanOfAPauseTakesItsCapacityFromTheListThatWasJustRead(t *testing.T) {
	l := open(t, providertest.Wait, func(o *Options) { o.Scopes = []string{"instance"} })
	ctx := providers.WithRecent(t.Context(), minute)
	if err := l.Runners(ctx, func(providers.Page) error { return nil }); err != nil {
		t.Fatal(err)
	}
	l.gather(t, ctx)
	before := l.reads()
	plans, err := l.Plan(ctx, providers.Pause, runner(42, Project), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := l.reads() - before; n != 0 {
		t.Errorf("planning read %d times what was just read", n)
	}
	if says := plans[0].Changes[0].Capacity; !strings.Contains(says, "1 other online") || !strings.Contains(says, "not compared") {
		t.Errorf("capacity %q: one other is online, and tags were not compared", says)
	}
	c := plans[0].Changes[0]
	before = l.reads()
	l.fake.change(func(f *fake) { f.runners[42].tags = []string{"other"} })
	if _, err := l.apply.Apply(allowed(t, c), c); err == nil || l.fake.count("pause") != 0 {
		t.Errorf("a plan made on reused answers was applied to a runner that has drifted: %v", err)
	}
	if n := l.reads() - before; n != 1 {
		t.Errorf("%d reads before a change, want the one that compares", n)
	}
}

func TestAListWithAHoleSaysSoAndTheMemoryIsBounded(t *testing.T) {
	l := open(t, providertest.Wait)
	l.fake.change(func(f *fake) { f.deny["groups/acme/runners"] = 403 })
	if err := l.Runners(t.Context(), func(providers.Page) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if _, partial, ok := l.recent.peers(42, minute); !ok || !partial {
		t.Errorf("list kept %v, partial %v: a scope of it failed", ok, partial)
	}
	epoch, at := l.recent.begin()
	big := answer{Body: make([]byte, maxRecentBytes/5)}
	for i := range 2 * maxRecent {
		l.recent.keep(strings.Repeat("x", i+1), answer{}, epoch, at.Add(time.Duration(i)))
	}
	for i := range 10 {
		l.recent.keep(strings.Repeat("y", i+1), big, epoch, at.Add(time.Hour))
	}
	if len(l.recent.kept) > maxRecent || l.recent.bytes > maxRecentBytes {
		t.Errorf("%d answers, %d bytes", len(l.recent.kept), l.recent.bytes)
	}
	if _, ok := l.recent.find("x", 100*time.Hour); ok {
		t.Error("the oldest was kept, newer ones were dropped for it")
	}
}
