package github

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/providers"
	"cordon/providers/providertest"
)

func TestCancelingEndsAWholeRunAndSaysWhatGoesWithIt(t *testing.T) {
	l := openActing(t, providertest.Wait)
	plans := l.plans(t, providers.Cancel, orgRunner)
	if got := options(plans); got != "cancel, force" || !strings.Contains(all(plans[0]), "whole runs") {
		t.Fatalf("%s: %s", got, all(plans[0]))
	}
	c, forced := plans[0].Changes[0], plans[1].Changes[0]
	if len(plans[0].Changes) != 1 || !strings.HasSuffix(c.Call.URL, "/repos/acme/web/actions/runs/77/cancel") || !strings.HasSuffix(forced.Call.URL, "/force-cancel") || c.Call.Body != "" {
		t.Errorf("%s, %s", c.Call, forced.Call)
	}
	job := func(id string) target.Ref {
		return target.Ref{System: "gh", Scope: target.Scope{Level: repository, Path: "acme/web"}, Kind: target.Job, ID: id}
	}
	if c.Target != job("500") || !slices.Equal(c.Hits, []target.Ref{orgRunner, job("501"), job("502")}) {
		t.Errorf("%s hits %v", c.Target, c.Hits)
	}
	if c.Ends != "run 77" || forced.Ends != "run 77" { // which a person types the end of, and not the job's id
		t.Errorf("it ends %q, by force %q", c.Ends, forced.Ends)
	}
	for _, want := range []string{`"build"`, "push by mallory on main", "2 other jobs"} {
		if !strings.Contains(c.Title, want) {
			t.Errorf("what a person decides by is missing (%s): %s", want, c.Title)
		}
	}
	l.do(t, c)
	if out, err := l.apply.Apply(allowed(t, forced), forced); err != nil || out.State != change.Already {
		t.Errorf("it is over: %+v, %v", out, err)
	}
	if p := l.plans(t, providers.Cancel, orgRunner); len(p) != 1 || !p[0].Nothing {
		t.Errorf("nothing runs: %+v", p)
	}
}

// Ids are unique in their scope alone, and so are names: a run is cancelled where both agree.
func TestAJobOfAnotherScopesRunnerIsNeverCanceled(t *testing.T) {
	for name, c := range map[string]struct {
		runner int64
		on     string
		does   bool
		says   string
	}{
		"its own":                         {23, "build-07", true, ""},
		"its own, in another case":        {23, "Build-07", true, ""},
		"another runner with its id":      {23, "web-1", false, "no job was found"},
		"another runner with its name":    {8, "build-07", false, "left alone: job 600 of acme/web is on runner 8"},
		"its id, and GitHub names nobody": {23, "", false, "whether it is on this one is not known"},
	} {
		l := openActing(t, providertest.Wait)
		l.fake.change(func(f *fake) {
			f.acts().runs["acme/web"] = []*actRun{{ID: 78, Status: "in_progress", Attempt: 1, Branch: "main", Jobs: []*actJob{{ID: 600, Runner: c.runner, Name: "site", On: c.on, Status: "in_progress"}}}}
		})
		plans := l.plans(t, providers.Cancel, orgRunner)
		if does := len(plans[0].Changes) > 0; does != c.does || !strings.Contains(plans[0].Title+all(plans[0]), c.says) {
			t.Errorf("%s: %+v", name, plans[0])
		}
	}
}

func TestAcceptedIsNotOverAndForceIsTheSecondWay(t *testing.T) {
	l := openActing(t, providertest.Wait)
	l.fake.change(func(f *fake) { f.acts().stubborn = true })
	plans := l.plans(t, providers.Cancel, orgRunner)
	out := l.do(t, plans[0].Changes[0])
	if out.Status != 202 || !strings.Contains(out.Why, "in_progress") || !strings.Contains(out.Why, "force") {
		t.Errorf("%+v", out)
	}
	if out := l.do(t, plans[1].Changes[0]); !strings.Contains(out.Why, "completed") {
		t.Errorf("%+v", out)
	}
}

func TestOnlyTheDescribedAnswerIsAYes(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   string
	}{{202, `{}`, change.Applied}, {200, `{}`, change.Unknown}, {202, `null`, change.Unknown}, {204, ``, change.Unknown}} {
		l := openActing(t, providertest.Wait)
		ch := l.plans(t, providers.Cancel, orgRunner)[0].Changes[0]
		l.wire.Hostile(&providertest.Answer{Status: c.status, Media: "application/json", Body: c.body}, providertest.Changes)
		if out, _ := l.apply.Apply(allowed(t, ch), ch); out.State != c.want {
			t.Errorf("%d %s: %+v", c.status, c.body, out)
		}
	}
}

func TestARunThatEndedOrWasStartedAgainIsNotCanceled(t *testing.T) {
	l := openActing(t, providertest.Wait)
	c := l.plans(t, providers.Cancel, orgRunner)[0].Changes[0]
	l.fake.change(func(f *fake) { f.acts().runs["acme/web"][0].Attempt = 2 })
	if out, err := l.apply.Apply(allowed(t, c), c); !errors.Is(err, change.ErrStale) || out.State != change.Refused {
		t.Errorf("started again: %+v, %v", out, err)
	}
	l.fake.change(func(f *fake) { f.acts().runs["acme/web"][0].Attempt = 1 })
	l.wire.Service = endsBetween{l.fake} // it ends after it was looked at: GitHub says 409
	if out, err := l.apply.Apply(allowed(t, c), c); err != nil || out.State != change.Already || out.Status != 409 {
		t.Errorf("it ended in between: %+v, %v", out, err)
	}
}

func TestWhatCouldNotBeLookedAtIsSaid(t *testing.T) {
	l := openActing(t, providertest.Wait)
	l.fake.change(func(f *fake) {
		f.deny["repos/acme/web/actions/runs"] = 403
		f.groups["orgs/acme"][2].Repos = []int64{100, 101}
	})
	p := l.plans(t, providers.Cancel, orgRunner)
	if len(p) != 1 || p[0].Nothing || !strings.Contains(all(p[0]), "busy") || !strings.Contains(all(p[0]), "acme/web") {
		t.Errorf("busy, and its jobs are hidden: %+v", p)
	}
	l.fake.change(func(f *fake) { f.runners["orgs/acme"][23].Busy = false })
	if p := l.plans(t, providers.Cancel, orgRunner); len(p) != 1 || !p[0].Nothing || !strings.Contains(all(p[0]), "not looked at") {
		t.Errorf("idle by GitHub's word: %+v", p)
	}
}

func TestARemovalIsRefusedWhileBusyAndNamesTheRun(t *testing.T) {
	l := openActing(t, providertest.Wait)
	c := l.plans(t, providers.Deregister, orgRunner)[0].Changes[0]
	out, err := l.apply.Apply(allowed(t, c), c)
	if out.State != change.Refused || out.Status != 422 || !errors.Is(err, providers.ErrConflict) || !strings.Contains(out.Why, l.base+"/acme/web/actions/runs/77") || !strings.Contains(out.Why, "cancel that run") {
		t.Fatalf("%+v, %v", out, err)
	}
	if n := len(l.wire.Changes()); n != 1 {
		t.Errorf("it was tried %d times: again is for a person", n)
	}
	l.do(t, l.plans(t, providers.Cancel, orgRunner)[0].Changes[0])
	again := l.plans(t, providers.Deregister, orgRunner)[0].Changes[0]
	if out := l.do(t, again); !strings.Contains(out.Why, "404") {
		t.Errorf("%+v", out)
	}
}

func TestRemovingWaitsForEvidenceAndCannotBeUndone(t *testing.T) {
	l := openActing(t, providertest.Wait)
	plans := l.plans(t, providers.Deregister, orgRunner)
	c := plans[0].Changes[0]
	want := []string{"provider/gh/organization.acme.23/runner.json", "host/*/snapshot.json", "provider/gh/organization.acme.23/group.json"}
	if c.Undo != nil || plans[0].Reversible() || c.TipsOff == "" || !slices.Equal(c.Destroys, want) || !strings.Contains(all(plans[0]), "2.336.0") {
		t.Errorf("%+v", c)
	}
	sink := &providertest.Sink{}
	if _, err := l.Gather(context.Background(), orgRunner, providers.Express, sink); err != nil {
		t.Fatal(err)
	}
	for _, name := range c.Destroys {
		if strings.HasPrefix(name, "provider/") && sink.Files[name] == "" {
			t.Errorf("%s is destroyed, and no gathering keeps it", name)
		}
	}
	if len(plans) != 2 || len(plans[1].Changes) != 0 || !strings.Contains(all(plans[1]), "Force remove") {
		t.Errorf("no way by hand: %+v", plans)
	}
}

func TestARotationIsByHandAndSaysWhatTakesTheKeyAway(t *testing.T) {
	l := openActing(t, providertest.Wait)
	for _, ref := range []target.Ref{orgRunner, repoRunner, entRunner} {
		p := l.plans(t, providers.Rotate, ref)
		if len(p) != 1 || len(p[0].Changes) != 0 || p[0].Nothing || !strings.Contains(all(p[0]), "one hour") || !strings.Contains(all(p[0]), "removal of the runner") {
			t.Errorf("%+v", p)
		}
	}
}

func TestA404CountsOnlyWhileTheCredentialStillReadsTheList(t *testing.T) {
	for name, c := range map[string]struct {
		deny map[string]int
		gone bool
	}{
		"really gone":                     {nil, true},
		"the credential is revoked":       {map[string]int{"": 401}, false},
		"its list is refused":             {map[string]int{"orgs/acme/actions/runners": 403}, false},
		"its list is hidden":              {map[string]int{"orgs/acme/actions/runners": 404}, false},
		"refused is not gone":             {map[string]int{"orgs/acme/actions/runners/23": 403}, false},
		"a service in trouble is no 404":  {map[string]int{"orgs/acme/actions/runners/23": 500}, false},
		"the credential is refused there": {map[string]int{"orgs/acme/actions/runners/23": 401}, false},
	} {
		l := openActing(t, providertest.Wait)
		c0 := l.plans(t, providers.Deregister, orgRunner)[0].Changes[0]
		l.fake.change(func(f *fake) {
			delete(f.runners["orgs/acme"], 23)
			for k, v := range c.deny {
				f.deny[k] = v
			}
		})
		o := l.look(t, orgRunner)
		if (o.Exists == "no") != c.gone || (o.CouldNot == "") != c.gone || (o.Polling == "no") != c.gone {
			t.Errorf("%s: %+v", name, o)
		}
		state, why, err := l.Settle(context.Background(), c0)
		if (state == change.Applied) != c.gone || err != nil || why == "" {
			t.Errorf("%s: settles as %s, %s, %v", name, state, why, err)
		}
		out, err := l.apply.Apply(allowed(t, c0), c0)
		if (out.State == change.Already) != c.gone || (err == nil) != c.gone || len(l.wire.Changes()) != 0 {
			t.Errorf("%s: applied: %+v, %v", name, out, err)
		}
	}
}

func TestArgumentsOfAnotherShapeAreNotApplied(t *testing.T) {
	l := openActing(t, providertest.Wait)
	for _, verb := range []string{providers.Pause, providers.Cancel, providers.Deregister, providers.Revoke, providers.Purge} {
		for _, p := range l.plans(t, verb, orgRunner) {
			for _, c := range p.Changes {
				good := string(c.Args)
				for _, args := range []string{`{}`, `[]`, good[:len(good)-1] + `,"more":1}`, strings.Replace(good, "acme", "other", 1)} {
					c.Args = []byte(args)
					if out, err := l.apply.Apply(allowed(t, c), c); err == nil || out.State != change.Refused {
						t.Errorf("%s %s: %+v, %v", c.Op, args, out, err)
					}
				}
			}
		}
	}
	if len(l.wire.Changes()) != 0 {
		t.Error("something was sent")
	}
}

// failsAfter answers a path so often, and then with a 500.
type failsAfter struct {
	http.Handler
	path  string
	after int32
	n     atomic.Int32
}

func (f *failsAfter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, f.path) && f.n.Add(1) > f.after {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	f.Handler.ServeHTTP(w, r)
}

func TestARunWhoseOtherJobsCannotBeReadSaysThatItIsNotKnownWhatEndsWithIt(t *testing.T) {
	l := openActing(t, providertest.Wait)
	l.wire.Service = &failsAfter{Handler: l.fake, path: "/actions/runs/77/jobs", after: 1}
	for _, p := range l.plans(t, providers.Cancel, orgRunner) {
		if len(p.Changes) != 1 || !strings.Contains(all(p), "what else ends with run 77 is not known") || !strings.Contains(p.Changes[0].Title, "which is not known") || p.Reversible() {
			t.Errorf("%+v", p)
		}
	}
}

// A read that failed is not the word that no job is there: a job may run behind it, and a
// removal would follow. What the credential may not see is said, and nobody can do more.
func TestAFailedReadOfJobsIsNeverTheWordThatNoJobIsThere(t *testing.T) {
	for _, busy := range []bool{true, false} {
		for status, plans := range map[int]bool{500: false, 502: false, 408: false, 429: false, 401: false, 403: true} {
			for _, path := range []string{"repos/acme/web/actions/runs", "repos/acme/web/actions/runs/77/jobs"} {
				l := openActing(t, providertest.Wait)
				l.fake.change(func(f *fake) {
					f.deny[path] = status
					f.groups["orgs/acme"][2].Repos = []int64{100, 101}
					f.runners["orgs/acme"][23].Busy = busy
				})
				got, err := l.Plan(context.Background(), providers.Cancel, orgRunner, nil)
				if plans != (err == nil) || plans != (len(got) > 0) {
					t.Errorf("busy %v, HTTP %d of %s: %+v, %v", busy, status, path, got, err)
				}
				if !plans && !strings.Contains(err.Error(), path) {
					t.Errorf("it does not name what failed: %v", err)
				}
				says := l.look(t, orgRunner).Says
				if !strings.Contains(says, path) || strings.Contains(says, "3775") {
					t.Errorf("busy %v, HTTP %d of %s: the read-back does not name what failed, or guesses: %s", busy, status, path, says)
				}
			}
		}
	}
}
