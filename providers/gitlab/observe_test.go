package gitlab

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"cordon/internal/evidence"
	"cordon/internal/witness"
	"cordon/providers"
	"cordon/providers/providertest"
)

func (l *lab) observed(t *testing.T, ctx context.Context) witness.Observation {
	t.Helper()
	seen, err := l.Observe(ctx, runner(42, Project))
	if err != nil || len(seen) != 1 {
		t.Fatalf("%+v, %v", seen, err)
	}
	return seen[0]
}

func TestAContactIsTheRunnersOwnOnlyIfNoJobExplainsIt(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*fake)
		busy witness.Tri
		want witness.Tri
	}{
		"idle and heard of a minute ago": {func(f *fake) { delete(f.jobs, 500) }, witness.No, witness.Yes},
		"a job runs, with its own token": {func(*fake) {}, witness.Yes, witness.Unknown},
		"a job is being canceled":        {func(f *fake) { f.jobs[500].status = "canceling" }, witness.Yes, witness.Unknown},
		"a job ended at that time": {func(f *fake) {
			f.jobs[500].status, f.jobs[500].finished = "success", f.now.Add(-time.Minute)
		}, witness.No, witness.Unknown},
		"not heard of for longer than the lag": {func(f *fake) {
			delete(f.jobs, 500)
			f.runners[42].contact = f.now.Add(-2 * time.Hour)
			for _, m := range f.runners[42].managers {
				m["contacted_at"] = stamp(f.now.Add(-2 * time.Hour))
			}
		}, witness.No, witness.Unknown},
		"jobs are hidden": {func(f *fake) { f.deny["runners/42/jobs"] = 403 }, witness.Unknown, witness.Unknown},
	} {
		l := open(t, providertest.Wait)
		l.fake.change(c.edit)
		o := l.observed(t, context.Background())
		if o.Busy != c.busy || o.Polling != c.want || o.Exists != witness.Yes || o.Clock != witness.ClockLagging || o.Lag != time.Hour {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

func TestTheLatestContactOfAnyManagerCounts(t *testing.T) {
	l := open(t, providertest.Wait)
	late := l.fake.now.Add(-time.Second)
	l.fake.change(func(f *fake) { f.runners[42].managers[1]["contacted_at"] = stamp(late) })
	if o := l.observed(t, context.Background()); !o.LastContact.Equal(late.Truncate(time.Millisecond)) {
		t.Errorf("last contact %v, want %v", o.LastContact, late)
	}
	l.fake.change(func(f *fake) { f.deny["runners/42/managers"] = 500 })
	if o := l.observed(t, context.Background()); o.Exists != witness.Yes || !strings.Contains(o.Says, "managers could not be read") {
		t.Errorf("managers unreadable: %+v", o)
	}
}

func TestA404CountsOnlyWhileTheCredentialStillReadsItsLists(t *testing.T) {
	ref := runner(42, Project)
	for name, c := range map[string]struct {
		deny map[string]int
		gone bool
	}{
		"really gone":                     {nil, true},
		"the credential is revoked":       {map[string]int{"version": 401}, false},
		"its list is refused":             {map[string]int{"runners/all": 403}, false},
		"one of its lists is hidden":      {map[string]int{"groups/": 404}, false},
		"refused is not gone":             {map[string]int{"runners/42": 403}, false},
		"a service in trouble is no 404":  {map[string]int{"runners/42": 500}, false},
		"the credential is refused there": {map[string]int{"runners/42": 401}, false},
	} {
		l := open(t, providertest.Wait)
		c0 := l.planned(t, providers.Deregister)[0]
		l.fake.change(func(f *fake) {
			delete(f.runners, 42)
			for k, v := range c.deny {
				f.deny[k] = v
			}
		})
		o := l.observed(t, context.Background())
		if (o.Exists == witness.No) != c.gone || (o.CouldNot == "") != c.gone || (o.Polling == witness.No) != c.gone {
			t.Errorf("%s: %+v", name, o)
		}
		state, why, err := l.Settle(context.Background(), c0)
		if (state == "applied") != c.gone || err != nil || why == "" {
			t.Errorf("%s: settles as %s, %s, %v", name, state, why, err)
		}
		out, err := l.apply.Apply(allowed(t, c0), c0)
		if (out.State == "already") != c.gone || (err == nil) != c.gone || len(l.wire.Changes()) != 0 {
			t.Errorf("%s: applied: %+v, %v", name, out, err)
		}
		if _, err := l.Runner(context.Background(), ref); err == nil {
			t.Errorf("%s: it reads", name)
		}
	}
}

func TestObservationsPointAtTheRedactedAnswersTheyRestOn(t *testing.T) {
	l := open(t, providertest.Wait)
	sink := &providertest.Sink{}
	ctx := evidence.WithSink(context.Background(), sink)
	o := l.observed(t, ctx)
	if len(o.Evidence) != 4 || len(sink.Items) != 4 {
		t.Fatalf("digests %v, items %+v", o.Evidence, sink.Items)
	}
	for i, it := range sink.Items {
		if it.Digest != o.Evidence[i] {
			t.Errorf("%s: not the digest that the observation names", it.Name)
		}
		file := sink.Files[it.Name]
		if !strings.HasPrefix(it.Name, "provider/gl/observed/42-") || !strings.Contains(file, `"status":200`) || !strings.Contains(file, "01REQUEST") {
			t.Errorf("%s: %s", it.Name, file)
		}
	}
	if f := sink.Files["provider/gl/observed/42-details.json"]; !strings.Contains(f, "build-07 shell") || !strings.Contains(f, "hmac:") {
		t.Errorf("details: %s", f)
	}
	l.fake.change(func(f *fake) { delete(f.runners, 42) })
	if o := l.observed(t, ctx); len(o.Evidence) != 1 || !strings.Contains(sink.Files["provider/gl/observed/42-details.json"], `"status":404`) {
		t.Errorf("a 404 is evidence too: %+v", o)
	}
	full := errors.New("no space left")
	if _, err := l.Observe(evidence.WithSink(context.Background(), &providertest.Sink{Fail: full}), runner(42, Project)); !errors.Is(err, full) {
		t.Errorf("evidence that could not be kept: %v", err)
	}
}

func TestTheExpressSnapshotIsThreeReads(t *testing.T) {
	l := open(t, providertest.Wait)
	sink := &providertest.Sink{}
	gaps, err := l.Gather(context.Background(), runner(42, Project), providers.Express, sink)
	if err != nil || len(gaps) != 0 {
		t.Fatalf("%+v, %v", gaps, err)
	}
	var got []string
	for _, s := range l.wire.Sent() {
		got = append(got, s.Method+" "+s.URI)
	}
	want := "GET /api/v4/runners/42 GET /api/v4/runners/42/managers GET /api/v4/runners/42/jobs?per_page=100&status=running"
	if strings.Join(got, " ") != want {
		t.Errorf("asked %v", got)
	}
	for name, holds := range map[string]string{"runner.json": "build-07 shell", "managers.json": "s_aaaa", "jobs.json": "mallory"} {
		if f := sink.Files["provider/gl/"+name]; !strings.Contains(f, holds) {
			t.Errorf("%s: %q", name, f)
		}
	}
	l.fake.change(func(f *fake) { f.deny["runners/42/managers"] = 403 })
	gaps, err = l.Gather(context.Background(), runner(42, Project), providers.Express, sink)
	if err != nil || len(gaps) != 1 || gaps[0].Name != "provider/gl/managers.json" || len(sink.Gaps) != 1 {
		t.Errorf("one refused: %+v, %v", gaps, err)
	}
	if _, err := l.Gather(context.Background(), runner(42, Project), providers.Triage, sink); !errors.Is(err, providers.ErrNoVerb) {
		t.Errorf("another profile: %v", err)
	}
	full := errors.New("no space left")
	if _, err := l.Gather(context.Background(), runner(42, Project), providers.Express, &providertest.Sink{Fail: full}); !errors.Is(err, full) {
		t.Errorf("a full disk is an error, not a gap: %v", err)
	}
}
