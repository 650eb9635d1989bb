package github

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"cordon/internal/change"
	"cordon/internal/witness"
	"cordon/providers"
	"cordon/providers/providertest"
)

// Reports of other people's outages, each a test named after it: what they ask of this
// package. reportRows maps all of them.

// endsBetween lets the run end just before it is canceled.
type endsBetween struct{ f *fake }

func (e endsBetween) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		e.f.change(func(f *fake) { f.acts().runs["acme/web"][0].Status = "completed" })
	}
	e.f.ServeHTTP(w, r)
}

func TestRunner3328DeletedIsNotStopped(t *testing.T) {
	l := openActing(t, providertest.Wait)
	l.fake.change(func(f *fake) { f.acts().removesBusy = true })
	p := l.plans(t, providers.Deregister, orgRunner)[0]
	if !strings.Contains(p.TipsOff, "for ever") || !strings.Contains(all(p), "nothing on the host ends by this") {
		t.Errorf("%s", all(p))
	}
	l.do(t, p.Changes[0])
	if o := l.look(t, orgRunner); o.Exists != witness.No || !strings.Contains(o.Says, "may still run") {
		t.Errorf("%+v", o)
	}
}

func TestRunner4422BusyFalseWhileRunning(t *testing.T) {
	l := openActing(t, providertest.Wait)
	l.fake.change(func(f *fake) { f.runners["orgs/acme"][23].Busy = false })
	if o := l.look(t, orgRunner); o.Busy != witness.Yes || !strings.Contains(o.Says, "4422") {
		t.Errorf("%+v", o)
	}
	if p := l.plans(t, providers.Cancel, orgRunner); len(p[0].Changes) != 1 {
		t.Errorf("its run is not offered: %+v", p)
	}
	l.fake.change(func(f *fake) { f.acts().runs = map[string][]*actRun{} })
	if o := l.look(t, orgRunner); o.Busy != witness.No {
		t.Errorf("control: idle, and every repository was looked at: %+v", o)
	}
	l.fake.change(func(f *fake) { f.deny["repos/acme/web/actions/runs"] = 403 })
	if o := l.look(t, orgRunner); o.Busy != witness.Unknown {
		t.Errorf("idle by its word alone is not known: %+v", o)
	}
	l.fake.change(func(f *fake) { f.groups["orgs/acme"][2].Repos = []int64{100, 101} })
	if o := l.look(t, orgRunner); o.Busy != witness.Unknown || !strings.Contains(o.Says, "not all could be looked at") {
		t.Errorf("one of two repositories is hidden: %+v", o)
	}
}

func TestRunner3448And3892OfflineIsNotContained(t *testing.T) {
	l := openActing(t, providertest.Wait)
	l.fake.change(func(f *fake) { f.runners["orgs/acme"][23].Status = "offline" })
	o := l.look(t, orgRunner)
	if o.Polling != witness.Unknown || o.Paused != witness.No || o.Busy != witness.Yes || !o.LastContact.IsZero() || !strings.Contains(o.Says, "offline, which is not contained") {
		t.Errorf("%+v", o)
	}
	l.fake.change(func(f *fake) { f.runners["orgs/acme"][23].Status = "online" })
	if o := l.look(t, orgRunner); o.Polling != witness.Yes || o.Clock != witness.ClockProxy {
		t.Errorf("online is a word, and its clock says so: %+v", o)
	}
}

func TestRunner3775ActiveWithNoJob(t *testing.T) {
	t.Parallel()
	l := openActing(t, providertest.Wait)
	l.fake.change(func(f *fake) { f.acts().runs = map[string][]*actRun{} })
	if o := l.look(t, orgRunner); o.Busy != witness.Yes || !strings.Contains(o.Says, "3775") {
		t.Errorf("%+v", o)
	}
	p := l.plans(t, providers.Cancel, orgRunner)
	if p[0].Nothing || len(p[0].Changes) != 0 || !strings.Contains(all(p[0]), "3775") {
		t.Errorf("%+v", p)
	}
	c := l.plans(t, providers.Deregister, orgRunner)[0].Changes[0]
	if out, err := l.apply.Apply(allowed(t, c), c); out.State != change.Refused || out.Status != 422 || err == nil || !strings.Contains(out.Why, "hours") {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestRunner710And3737ARemovalIsSentOnceATry(t *testing.T) {
	l := openActing(t, providertest.Wait)
	for try := 1; try <= 2; try++ {
		c := l.plans(t, providers.Deregister, orgRunner)[0].Changes[0]
		if out, _ := l.apply.Apply(allowed(t, c), c); out.State != change.Refused || len(l.wire.Changes()) != try {
			t.Errorf("%+v, %d on the wire", out, len(l.wire.Changes()))
		}
	}
}

func TestRunner2588And4017NoRemovalTokenIsEverAskedFor(t *testing.T) {
	for _, r := range Reads() {
		if strings.Contains(r.Pattern, "token") && strings.Contains(r.Pattern, "/actions/runners/") || strings.Contains(r.Pattern, "jitconfig") {
			t.Errorf("%s %s is a read", r.Method, r.Pattern)
		}
	}
	l := openActing(t, providertest.Wait)
	for _, p := range l.plans(t, providers.Deregister, orgRunner) {
		for _, c := range p.Changes {
			if strings.Contains(c.Call.URL, "token") {
				t.Errorf("%s", c.Call)
			}
		}
	}
	if _, err := l.act.get(context.Background(), "orgs/acme/actions/runners/remove-token", nil); !errors.Is(err, change.ErrNoPermit) {
		t.Errorf("a removal token without a permit: %v", err)
	}
}

func TestRunner756AbsenceIsNotOurRemoval(t *testing.T) {
	l := openActing(t, providertest.Wait)
	l.fake.change(func(f *fake) { f.acts().removesBusy = true })
	c := l.plans(t, providers.Deregister, orgRunner)[0].Changes[0]
	l.fake.change(func(f *fake) { delete(f.runners["orgs/acme"], 23) })
	if out, err := l.apply.Apply(allowed(t, c), c); err != nil || out.State != change.Already || len(l.wire.Changes()) != 0 {
		t.Errorf("somebody else removed it: %+v, %v", out, err)
	}
}

func TestRunner1406AStoppedEphemeralIsStillRegistered(t *testing.T) {
	l := openActing(t, providertest.Wait)
	ref := runner(25, organization, "acme") // ephemeral and offline
	if o := l.look(t, ref); o.Exists != witness.Yes || o.Polling == witness.No {
		t.Errorf("%+v", o)
	}
	if p := l.plans(t, providers.Deregister, ref); len(p[0].Changes) != 1 || !strings.Contains(all(p[0]), "ephemeral") {
		t.Errorf("%+v", p)
	}
}

func TestRunner1364And3241GitHubRemovesWhatDoesNotConnect(t *testing.T) {
	l := openActing(t, providertest.Wait)
	if s := all(l.option(t, providers.Pause, orgRunner, "host")); !strings.Contains(s, "14 days") {
		t.Errorf("stopping it sets that clock going, and it is not said: %s", s)
	}
}

func TestConfigurationAsCode2682AQuarantineThatWasTakenBackReadsAsNotPaused(t *testing.T) {
	l := openActing(t, providertest.Wait)
	l.do(t, l.option(t, providers.Pause, orgRunner, "quarantine").Changes[0])
	l.fake.change(func(f *fake) { f.groups["orgs/acme"][f.acts().next].Repos = []int64{101} })
	if o := l.look(t, orgRunner); o.Paused != witness.No || !strings.Contains(o.Says, "it serves 1 repositories") {
		t.Errorf("somebody let a repository into its group: %+v", o)
	}
}

func TestRunner936AnUnlistedRunnerIsNotGone(t *testing.T) {
	l := openActing(t, providertest.Wait)
	l.wire.Service = unlisted{l.fake}
	if err := l.Runners(context.Background(), func(p providers.Page) error {
		for _, r := range p.Runners {
			if r.Ref == orgRunner {
				t.Error("control: it is listed")
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if o := l.look(t, orgRunner); o.Exists != witness.Yes {
		t.Errorf("its own address decides, not a list: %+v", o)
	}
}

// unlisted leaves every runner out of the organization's list.
type unlisted struct{ f *fake }

func (u unlisted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/api/v3/orgs/acme/actions/runners" {
		u.f.say(w, 200, map[string]any{"total_count": 0, "runners": []any{}})
		return
	}
	u.f.ServeHTTP(w, r)
}

func TestTerraformAwsGithubRunner5085ARemovedRunnerIsNotIdle(t *testing.T) {
	l := openActing(t, providertest.Wait)
	l.fake.change(func(f *fake) { f.acts().removesBusy = true })
	l.do(t, l.plans(t, providers.Deregister, orgRunner)[0].Changes[0])
	if o := l.look(t, orgRunner); o.Busy != witness.Unknown {
		t.Errorf("404 says nothing about its job: %+v", o)
	}
}

func TestActionsRunnerController1318NothingForcesItIdle(t *testing.T) {
	l := openActing(t, providertest.Wait)
	if s := all(l.plans(t, providers.Deregister, orgRunner)[0]); !strings.Contains(s, "no force") {
		t.Errorf("%s", s)
	}
}

func TestActionsRunnerController702A204IsReadBack(t *testing.T) {
	l := openActing(t, providertest.Wait)
	c := l.plans(t, providers.Deregister, orgRunner)[0].Changes[0]
	l.wire.Hostile(&providertest.Answer{Status: 204}, providertest.Changes)
	out, err := l.apply.Apply(allowed(t, c), c)
	if out.State != change.Unknown || err == nil || !strings.Contains(out.Why, "still there") {
		t.Fatalf("%+v, %v", out, err)
	}
	l.wire.Hostile(nil, nil)
	if state, _, _ := l.Settle(context.Background(), c); state != change.Refused {
		t.Errorf("settles as %s", state)
	}
	l.fake.change(func(f *fake) { delete(f.runners["orgs/acme"], 23) })
	if state, _, _ := l.Settle(context.Background(), c); state != change.Applied {
		t.Errorf("once it is gone it settles as %s", state)
	}
}

func TestRunner1268ByIdNeverByName(t *testing.T) {
	l := openActing(t, providertest.Wait)
	l.fake.change(func(f *fake) {
		f.acts().removesBusy = true
		f.runners["orgs/acme"][24].Name = "build-07"
	})
	l.do(t, l.plans(t, providers.Deregister, orgRunner)[0].Changes[0])
	if o := l.look(t, runner(24, organization, "acme")); o.Exists != witness.Yes {
		t.Errorf("the other one of that name: %+v", o)
	}
}

func TestRunner3669QueuedJobsAreSaidBeforeAnythingStops(t *testing.T) {
	l := openActing(t, providertest.Wait)
	l.fake.change(func(f *fake) {
		f.acts().runs["acme/web"] = append(f.acts().runs["acme/web"], &actRun{ID: 90, Status: "queued", Attempt: 1, Jobs: []*actJob{{ID: 900, Name: "a", Status: "queued"}}})
	})
	if s := l.option(t, providers.Pause, orgRunner, "quarantine").Changes[0].Capacity; !strings.Contains(s, "2 jobs wait now that ask for labels it has") || !strings.Contains(s, "24 hours") {
		t.Errorf("%s", s)
	}
}

func TestGithubMcpServer855A202IsSuccess(t *testing.T) {
	l := openActing(t, providertest.Wait)
	if out := l.do(t, l.plans(t, providers.Cancel, orgRunner)[0].Changes[0]); out.Status != 202 {
		t.Errorf("%+v", out)
	}
}

func TestGoGithub3951A429IsALimitAndStandsInNobodysWay(t *testing.T) {
	l := openActing(t, providertest.Wait)
	c := l.option(t, providers.Pause, orgRunner, "quarantine").Changes[0]
	l.wire.Hostile(&providertest.Answer{Status: 429, Media: "application/json", Body: `{}`}, providertest.Changes)
	out, err := l.apply.Apply(allowed(t, c), c)
	if out.State != change.Refused || out.Status != 429 || !errors.Is(err, providers.ErrLimited) || len(l.wire.Changes()) != 1 {
		t.Fatalf("%+v, %v", out, err)
	}
	l.wire.Hostile(nil, nil)
	l.do(t, c) // v66 would refuse it without asking
}
