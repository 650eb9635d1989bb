package github

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"cordon/providers"
)

// A run has one actor and one triggering actor; an attempt in between was started by
// somebody that only the attempt itself names.
func TestEachAttemptIsOfWhoStartedIt(t *testing.T) {
	l, p, since := openPast(t)
	p.repos("acme/web")
	at := since.Add(time.Hour)
	var jobs []pastJob
	for n := range 4 {
		j := on(int64(n+1), "build", at.Add(time.Duration(n)*time.Hour))
		j.attempt = n + 1
		jobs = append(jobs, j)
	}
	p.run("acme/web", 900, at, func(r *pastRun) {
		r.actor, r.trigger, r.attempt, r.began = "mallory", "alice", 4, map[int]string{2: "trudy", 3: "bob"}
	}, jobs...)
	who := func() (map[string]string, string) {
		list, partial, err := l.Jobs(context.Background(), build07, since, 10)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, j := range list {
			out[j.Ref.ID] = string(j.Actor)
		}
		return out, partial
	}
	got, partial := who()
	if want := map[string]string{"1": "mallory", "2": "trudy", "3": "bob", "4": "alice"}; !maps.Equal(got, want) || partial != "" {
		t.Errorf("%v %q", got, partial)
	}
	if n := p.count("/attempts/"); n != 2 {
		t.Errorf("%d attempts were asked for: the first and the last are told by the run", n)
	}
	p.change(func(p *past) { p.deny["repos/acme/web/actions/runs/900/attempts/2"] = 403 })
	got, partial = who()
	if got["2"] != "" || got["3"] != "bob" || !strings.Contains(partial, "who started attempt 2 of run 900") {
		t.Errorf("who could not be asked is not named, and that is said: %v %q", got, partial)
	}
}

func TestWhoStartedAnAttemptCostsNoMoreThanIsAllowed(t *testing.T) {
	l, p, since := openPast(t)
	p.repos("acme/web")
	at := since.Add(time.Hour)
	var jobs []pastJob
	for n := range maxAttempts + 10 {
		j := on(int64(n+1), "build", at.Add(time.Duration(n)*time.Minute))
		j.attempt = n + 2
		jobs = append(jobs, j)
	}
	p.run("acme/web", 900, at, func(r *pastRun) { r.attempt = maxAttempts + 20 }, jobs...)
	_, partial, err := l.Jobs(providers.WithCalls(context.Background(), 1000), build07, since, 1000)
	if n := p.count("/attempts/"); err != nil || n != maxAttempts || !strings.Contains(partial, "who started attempt") {
		t.Errorf("%d requests, %q, %v", n, partial, err)
	}
}
