package github

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/providers"
	"cordon/providers/providertest"
)

var (
	orgRunner  = runner(23, organization, "acme")
	repoRunner = runner(7, repository, "acme/web")
	entRunner  = runner(3, enterprise, "big")
)

func (l *acting) plans(t *testing.T, verb string, ref target.Ref) []change.Plan {
	t.Helper()
	plans, err := l.Plan(context.Background(), verb, ref, []byte(`{"case":"c7"}`))
	if err != nil || len(plans) == 0 {
		t.Fatalf("plan %s of %s: %+v, %v", verb, ref, plans, err)
	}
	return plans
}

// option is the plan of that name.
func (l *acting) option(t *testing.T, verb string, ref target.Ref, option string) change.Plan {
	t.Helper()
	plans := l.plans(t, verb, ref)
	i := slices.IndexFunc(plans, func(p change.Plan) bool { return p.Option == option })
	if i < 0 {
		t.Fatalf("no option %s: %+v", option, plans)
	}
	return plans[i]
}

func options(plans []change.Plan) string {
	var out []string
	for _, p := range plans {
		s := p.Option
		if len(p.Changes) == 0 {
			s += " (by hand)"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func (l *acting) do(t *testing.T, c change.Change) change.Outcome {
	t.Helper()
	out, err := l.apply.Apply(allowed(t, c), c)
	if err != nil || out.State != change.Applied {
		t.Fatalf("%s: %+v, %v", c.Title, out, err)
	}
	return out
}

func (l *acting) look(t *testing.T, ref target.Ref) witness.Observation {
	t.Helper()
	seen, err := l.Observe(context.Background(), ref)
	if err != nil || len(seen) != 1 {
		t.Fatalf("%+v, %v", seen, err)
	}
	return seen[0]
}

func all(p change.Plan) string {
	return strings.Join(slices.Concat([]string{p.Title, p.Covers}, p.Limits, p.Manual), "\n")
}

func TestEachLevelHasItsOwnWaysToHoldARunnerBack(t *testing.T) {
	l := openActing(t, providertest.Wait)
	l.fake.change(enterpriseToo)
	for ref, want := range map[target.Ref]string{
		orgRunner:                        "quarantine, labels, labels-marker, group, workflows, actions-off, host (by hand)",
		entRunner:                        "quarantine, labels, labels-marker, group, workflows, actions-off, host (by hand)",
		runner(24, organization, "acme"): "quarantine, labels, labels-marker, workflows, actions-off, host (by hand)", // of the default group
		runner(25, organization, "acme"): "quarantine, labels-marker, workflows, actions-off, host (by hand)",         // no custom label
		repoRunner:                       "labels, labels-marker, workflows, actions-off, no-new-runners, host (by hand)",
	} {
		plans := l.plans(t, providers.Pause, ref)
		if got := options(plans); got != want {
			t.Errorf("%s: %s", ref, got)
		}
		for _, p := range plans {
			if len(p.Changes) > 0 && (!p.Reversible() || p.TipsOff != "" || len(p.ByHand) == 0 || !strings.Contains(all(p), "a job that runs goes on")) {
				t.Errorf("%s %s: %+v", ref, p.Option, p)
			}
		}
	}
	if s := all(l.option(t, providers.Pause, repoRunner, "labels")); !strings.Contains(s, "no quarantine for it") || !strings.Contains(s, "partial pause") {
		t.Errorf("a repository's runner: %s", s)
	}
	if s := all(l.option(t, providers.Pause, runner(25, organization, "acme"), "quarantine")); !strings.Contains(s, "ephemeral") {
		t.Errorf("an ephemeral runner: %s", s)
	}
	if n := len(l.wire.Changes()); n != 0 {
		t.Errorf("%d changes were sent while planning", n)
	}
}

// TestEachPausesUndoRestoresGroupLabelsFlagsAndSwitches goes by the fake's own account.
func TestEachPausesUndoRestoresGroupLabelsFlagsAndSwitches(t *testing.T) {
	t.Parallel()
	done := map[string]int{}
	for ref, at := range map[target.Ref]string{orgRunner: "orgs/acme", entRunner: "enterprises/big", repoRunner: "repos/acme/web", runner(24, organization, "acme"): "orgs/acme"} {
		for _, option := range []string{"quarantine", "labels", "labels-marker", "group", "workflows", "actions-off", "no-new-runners"} {
			for _, selective := range []bool{false, true} {
				if selective && option != "actions-off" && option != "no-new-runners" {
					continue // no policy has a part in it
				}
				l := openActing(t, providertest.Wait)
				l.fake.change(enterpriseToo)
				if selective {
					l.fake.change(selectiveToo)
				}
				plans := l.plans(t, providers.Pause, ref)
				i := slices.IndexFunc(plans, func(p change.Plan) bool { return p.Option == option })
				if i < 0 {
					continue
				}
				id := map[string]int64{"23": 23, "24": 24, "3": 3, "7": 7}[ref.ID]
				before := l.fake.ledger(at, id) + l.fake.switched()
				for _, c := range plans[i].Changes {
					was := l.fake.ledger(at, id) + l.fake.switched()
					l.do(t, c)
					if after := l.fake.ledger(at, id) + l.fake.switched(); after == was {
						t.Errorf("control: %s of %s changed nothing", c.Title, ref)
					}
				}
				for _, c := range slices.Backward(plans[i].Changes) {
					l.do(t, *c.Undo)
				}
				if after := l.fake.ledger(at, id) + l.fake.switched(); after != before {
					t.Errorf("%s of %s:\n%s\nbecame\n%s", option, ref, before, after)
				}
				done[option]++
			}
		}
	}
	want := map[string]int{"quarantine": 3, "labels": 4, "labels-marker": 4, "group": 2, "workflows": 4, "actions-off": 8, "no-new-runners": 2}
	if !maps.Equal(done, want) {
		t.Errorf("control: undone were %v", done)
	}
}

// selectiveToo makes every policy that can be one of selected repositories such a one, and
// the enterprise's one of all.
func selectiveToo(f *fake) {
	s := f.switches()
	s.policy["orgs/acme"]["enabled_repositories"], s.policy["orgs/acme"]["allowed_actions"] = "selected", "selected"
	s.policy["enterprises/big"] = map[string]any{"enabled_organizations": "all", "allowed_actions": "all"}
	s.runners["acme"] = "selected"
}

func TestAQuarantineServesNobodyFromItsFirstMomentAndNamesItsCase(t *testing.T) {
	l := openActing(t, providertest.Wait)
	c := l.option(t, providers.Pause, orgRunner, "quarantine").Changes[0]
	want := `{"name":"cordon-quarantine-c7","visibility":"selected","selected_repository_ids":[],"runners":[23],"allows_public_repositories":false,"restricted_to_workflows":false}`
	if got := strings.TrimSpace(c.Call.Body); c.Call.Method != "POST" || got != want {
		t.Errorf("%s %s", c.Call.Method, got)
	}
	if u := c.Undo.Call; u.Method != "PUT" || !strings.HasSuffix(u.URL, "/orgs/acme/actions/runner-groups/2/runners/23") {
		t.Errorf("the undo must put it into the saved group, never take it out of one: %s", u)
	}
	if o := l.look(t, orgRunner); o.Paused != witness.No {
		t.Errorf("before: %+v", o)
	}
	l.do(t, c)
	o := l.look(t, orgRunner)
	if o.Paused != witness.Yes || o.Busy != witness.Yes || !strings.Contains(o.Says, "cordon-quarantine-c7 serves nobody; 1 jobs on it") {
		t.Errorf("after: %+v", o)
	}
	second := l.option(t, providers.Pause, runner(24, organization, "acme"), "quarantine").Changes[0]
	if second.Op != opMove || second.Call.Method != "PUT" {
		t.Errorf("the second runner goes into the group of the case: %s", second.Call)
	}
	if p := l.plans(t, providers.Pause, orgRunner); len(p) != 1 || !p[0].Nothing {
		t.Errorf("once it is there, there is nothing to do: %+v", p)
	}
}

// A group that serves nobody must not make the runner's jobs invisible: they are of before.
func TestAQuarantineHidesNoJob(t *testing.T) {
	l := openActing(t, providertest.Wait)
	since := l.fake.now.Add(-time.Hour)
	jobs, _, err := l.Jobs(context.Background(), orgRunner, since, 10)
	if err != nil || len(jobs) == 0 {
		t.Fatalf("control: %+v, %v", jobs, err)
	}
	l.do(t, l.option(t, providers.Pause, orgRunner, "quarantine").Changes[0])
	after, partial, err := l.Jobs(context.Background(), orgRunner, since, 10)
	if err != nil || len(after) != len(jobs) || partial != "" {
		t.Errorf("whoever planned it knows its group: %+v (%s), %v", after, partial, err)
	}
	if p := l.plans(t, providers.Cancel, orgRunner); len(p[0].Changes) != 1 || strings.Contains(all(p[0]), "serves nobody") {
		t.Errorf("its run is looked for in its former group: %s", all(p[0]))
	}
	another, err := New(l.o) // of another process, which does not
	if err != nil {
		t.Fatal(err)
	}
	after, partial, err = another.Jobs(context.Background(), orgRunner, since, 10)
	if err != nil || len(after) != len(jobs) || !strings.Contains(partial, "serves nobody") {
		t.Errorf("%+v (%s), %v", after, partial, err)
	}
	l = &acting{&lab{Provider: another, fake: l.fake, wire: l.wire, base: l.base, tr: l.tr}, NewApplier(another)}
	if p := l.plans(t, providers.Cancel, orgRunner); len(p[0].Changes) != 1 {
		t.Errorf("its run is not found any more: %+v", p)
	}
	l.fake.change(func(f *fake) { f.acts().runs = map[string][]*actRun{}; f.runners["orgs/acme"][23].Busy = false })
	if o := l.look(t, orgRunner); o.Busy != witness.No {
		t.Errorf("idle, and every repository that can be seen was looked at: %+v", o)
	}
}

func TestAGroupOfPrivateRepositoriesDoesNotServeAll(t *testing.T) {
	l := openActing(t, providertest.Wait)
	for visibility, want := range map[string]string{"private": "it serves all private repositories", "all": "it serves all repositories"} {
		l.fake.change(func(f *fake) { f.groups["orgs/acme"][2].Visibility = visibility })
		if o := l.look(t, orgRunner); o.Paused != witness.No || !strings.Contains(o.Says, want) {
			t.Errorf("%s: %s", visibility, o.Says)
		}
	}
	l.fake.change(func(f *fake) {
		f.groups["orgs/acme"][2].Visibility, f.groups["orgs/acme"][2].Repos = "selected", nil
		f.runners["orgs/acme"][24].GroupID = 2
	})
	v, err := l.view(t.Context(), scope{organization, "acme"}, 24)
	if err != nil {
		t.Fatal(err)
	}
	_, caveat, err := l.placesOf(t.Context(), l.few(9), v.sc, v.runner)
	if want := "the runner's group serves nobody now, so all repositories of acme were looked at that this credential can see"; err != nil || caveat != want {
		t.Errorf("%q, %v", caveat, err)
	}
}

func TestAGroupIsAQuarantineByWhatItReadsAsNotByItsName(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*fakeGroup){
		"serves all":              func(g *fakeGroup) { g.Visibility = "all" },
		"serves one repository":   func(g *fakeGroup) { g.Repos = []int64{100} },
		"public ones are allowed": func(g *fakeGroup) { g.Public = true },
		"of the enterprise":       func(g *fakeGroup) { g.Inherited = true },
	} {
		l := openActing(t, providertest.Wait)
		l.fake.change(func(f *fake) {
			g := &fakeGroup{ID: 5, Name: Quarantine, Visibility: "selected"}
			f.groups["orgs/acme"][5] = g
		})
		good := l.option(t, providers.Pause, orgRunner, "quarantine").Changes[0]
		if good.Op != opMove {
			t.Errorf("%s: control: a group that serves nobody is not used: %s", name, good.Call)
		}
		l.fake.change(func(f *fake) { edit(f.groups["orgs/acme"][5]) })
		if out, err := l.apply.Apply(allowed(t, good), good); !errors.Is(err, change.ErrStale) || out.State != change.Refused || len(l.wire.Changes()) != 0 {
			t.Errorf("%s: it is read again just before: %+v, %v", name, out, err)
		}
		p := l.option(t, providers.Pause, orgRunner, "quarantine")
		if p.Changes[0].Op != opGroupNew || !strings.Contains(all(p), "is no quarantine") {
			t.Errorf("%s: %s", name, p.Changes[0].Call)
		}
		l.fake.change(func(f *fake) { f.runners["orgs/acme"][23].GroupID = 5 })
		if o := l.look(t, orgRunner); o.Paused != witness.No {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

func TestAPauseThatGitHubAcceptedAndDidNotDoIsUnknown(t *testing.T) {
	l := openActing(t, providertest.Wait)
	c := l.option(t, providers.Pause, orgRunner, "quarantine").Changes[0]
	l.wire.Hostile(&providertest.Answer{Status: 201, Media: "application/json", Body: `{"id":900,"name":"x"}`}, providertest.Changes)
	if out, err := l.apply.Apply(allowed(t, c), c); out.State != change.Unknown || err == nil || !strings.Contains(out.Why, "release") {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestAGroupThatGitHubDoesNotTellIsLookedForOrSaid(t *testing.T) {
	l := openActing(t, providertest.Wait)
	l.wire.Service = without(l.fake, `"runner_group_id":2,`) // as in GitHub's own example of a runner
	p := l.option(t, providers.Pause, orgRunner, "quarantine")
	if u := p.Changes[0].Undo; u == nil || !strings.HasSuffix(u.Call.URL, "/runner-groups/2/runners/23") {
		t.Fatalf("it is found by the groups' own lists: %+v", p)
	}
	l.fake.change(func(f *fake) { f.deny["orgs/acme/actions/runner-groups/2"] = 403 })
	p = l.option(t, providers.Pause, orgRunner, "quarantine")
	if p.Changes[0].Undo != nil || !strings.Contains(all(p), "cannot be put back from here") {
		t.Errorf("a group that may not be read: %+v", p)
	}
	l.fake.change(func(f *fake) {
		delete(f.deny, "orgs/acme/actions/runner-groups/2")
		f.deny["orgs/acme/actions/runner-groups"] = 404
	})
	p = l.option(t, providers.Pause, orgRunner, "quarantine")
	if len(p.Changes) != 0 || len(p.Manual) == 0 || len(p.ByHand) == 0 {
		t.Errorf("no groups at all: %+v", p)
	}
}

// without is a service whose answers lack something.
func without(next http.Handler, what string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, r)
		for k, v := range rec.Header() {
			w.Header()[k] = v
		}
		w.WriteHeader(rec.Code)
		_, _ = io.WriteString(w, strings.ReplaceAll(rec.Body.String(), what, ""))
	})
}

func TestLabelsOffIsSaidToBePartialAndNeverReadsAsPaused(t *testing.T) {
	l := openActing(t, providertest.Wait)
	p := l.option(t, providers.Pause, orgRunner, "labels")
	for _, want := range []string{"partial pause", "self-hosted", "Linux, X64, self-hosted"} {
		if !strings.Contains(all(p), want) {
			t.Errorf("%q is not said: %s", want, all(p))
		}
	}
	if o := l.look(t, orgRunner); o.Partly != "" || !p.Partial {
		t.Errorf("control: nothing is held back yet: %+v, %t", o, p.Partial)
	}
	l.do(t, p.Changes[0])
	if o := l.look(t, orgRunner); o.Paused == witness.Yes || !strings.Contains(o.Says, "still come to it") || !strings.Contains(o.Says, "partial") || !strings.HasPrefix(o.Partly, "no custom labels: ") {
		t.Errorf("%+v", o)
	}
}

func TestShrinkingAGroupNamesEverybodyItHits(t *testing.T) {
	l := openActing(t, providertest.Wait)
	p := l.option(t, providers.Pause, orgRunner, "group")
	c := p.Changes[0]
	if len(c.Hits) != 1 || c.Hits[0].Scope.Path != "acme/web" || !strings.Contains(p.Title, "1 runners") {
		t.Errorf("%+v", c)
	}
	l.fake.change(func(f *fake) { f.groups["orgs/acme"][2].Repos = []int64{100, 101} })
	if out, err := l.apply.Apply(allowed(t, c), c); !errors.Is(err, change.ErrStale) || out.State != change.Refused {
		t.Errorf("what it serves has changed: %+v, %v", out, err)
	}
	for name, edit := range map[string]func(*fakeGroup){
		"all repositories": func(g *fakeGroup) { g.Visibility = "all" },
		"inherited":        func(g *fakeGroup) { g.Inherited = true },
	} {
		l.fake.change(func(f *fake) { edit(f.groups["orgs/acme"][2]) })
		if plans := l.plans(t, providers.Pause, orgRunner); strings.Contains(options(plans), "group,") {
			t.Errorf("%s: offered, and could not be taken back by one call: %s", name, options(plans))
		}
	}
}

func TestCapacitySaysWhoElseTakesItsJobsAndWhatWaits(t *testing.T) {
	l := openActing(t, providertest.Wait)
	get := func() string { return l.option(t, providers.Pause, orgRunner, "quarantine").Changes[0].Capacity }
	if s := get(); !strings.HasPrefix(s, "no other online runner of its group release") || !strings.HasSuffix(s, "; 1 jobs wait now that ask for labels it has, in 1 repositories") {
		t.Errorf("alone: %s", s)
	}
	l.fake.change(func(f *fake) {
		f.runners["orgs/acme"][24].GroupID = 2
		f.runners["orgs/acme"][24].Labels = append(f.runners["orgs/acme"][24].Labels, fakeLabel{0, "GPU", "custom"})
		f.acts().runs["acme/web"] = append(f.acts().runs["acme/web"], &actRun{ID: 90, Status: "queued", Attempt: 1, Jobs: []*actJob{
			{ID: 900, Name: "a", Status: "queued"}, {ID: 901, Name: "b", Status: "queued", Wants: []string{"self-hosted", "GPU"}}, {ID: 902, Name: "c", Status: "queued", Wants: []string{"windows"}},
		}})
	})
	if s := get(); !strings.HasPrefix(s, "1 other online runners") || !strings.Contains(s, "; 3 jobs wait now") {
		t.Errorf("with another: %s", s)
	}
	for _, status := range []string{"offline", "", "gone fishing"} {
		l.fake.change(func(f *fake) { f.runners["orgs/acme"][24].Status = status })
		if s := get(); !strings.HasPrefix(s, "no other online runner") {
			t.Errorf("only what GitHub calls online counts, not %q: %s", status, s)
		}
	}
	l.fake.change(func(f *fake) { f.deny["orgs/acme/actions/runner-groups/2/runners"] = 403 })
	if s := get(); !strings.HasPrefix(s, "unknown") {
		t.Errorf("unreadable: %s", s)
	}
}

func TestResumingPutsItIntoAGroupAndRemovesTheEmptyQuarantine(t *testing.T) {
	l := openActing(t, providertest.Wait)
	before := l.fake.ledger("orgs/acme", 23)
	if p := l.plans(t, providers.Resume, orgRunner); len(p) != 1 || len(p[0].Changes) != 0 {
		t.Errorf("it is not held back: %+v", p)
	}
	l.do(t, l.option(t, providers.Pause, orgRunner, "quarantine").Changes[0])
	plans := l.plans(t, providers.Resume, orgRunner)
	if got := options(plans); got != "group-1, group-2, by-hand (by hand)" {
		t.Fatal(got)
	}
	for _, c := range plans[1].Changes {
		l.do(t, c)
	}
	if after := l.fake.ledger("orgs/acme", 23); after != before || l.fake.count("group removed") != 1 {
		t.Errorf("%s\nbecame\n%s", before, after)
	}
	l.do(t, l.option(t, providers.Pause, orgRunner, "quarantine").Changes[0])
	gone := l.option(t, providers.Resume, orgRunner, "group-2").Changes
	l.do(t, gone[0])
	l.fake.change(func(f *fake) { f.runners["orgs/acme"][24].GroupID = f.acts().next })
	if out, err := l.apply.Apply(allowed(t, gone[1]), gone[1]); !errors.Is(err, change.ErrStale) || out.State != change.Refused {
		t.Errorf("somebody else is in the group by now: %+v, %v", out, err)
	}
}

// What a repository's runner has is its labels alone: they are read back, and said to be partial.
func TestALabelsPauseReadsBackAsPartialWhereNothingElsePauses(t *testing.T) {
	for option, want := range map[string]string{"labels": "no custom labels: ", "labels-marker": "no custom labels but cordon-c7: "} {
		l := openActing(t, providertest.Wait)
		p := l.option(t, providers.Pause, repoRunner, option)
		body := map[string]string{"labels": `{"labels":[]}`, "labels-marker": `{"labels":["cordon-c7"]}`}[option]
		if !p.Partial || !strings.HasSuffix(p.ByHand[0].Command, "<<<'"+body+"'") || strings.TrimSpace(p.Changes[0].Call.Body) != body {
			t.Errorf("by hand it is another call: %s", p.ByHand[0].Command)
		}
		l.do(t, p.Changes[0])
		if o := l.look(t, repoRunner); o.Paused != witness.No || !strings.HasPrefix(o.Partly, want) || !strings.Contains(o.Partly, "still come to it") {
			t.Errorf("%s: %+v", option, o)
		}
		l.do(t, *p.Changes[0].Undo)
		if o := l.look(t, repoRunner); o.Partly != "" {
			t.Errorf("%s, undone: %+v", option, o)
		}
	}
	l := openActing(t, providertest.Wait)
	if p := l.option(t, providers.Pause, orgRunner, "quarantine"); p.Partial {
		t.Error("a quarantine is a whole pause")
	}
}

// One key is enough for what touches one runner and can be undone: who else is in its group
// is not hit when it moves.
func TestAGroupIsNotHitWhereOnlyOneRunnerMoves(t *testing.T) {
	l := openActing(t, providertest.Wait)
	for _, option := range []string{"quarantine", "labels", "labels-marker"} {
		if c := l.option(t, providers.Pause, orgRunner, option).Changes[0]; c.Blast() != "" || c.Undo.Blast() != "" {
			t.Errorf("%s hits %s", option, c.Blast())
		}
		if c := l.option(t, providers.Pause, repoRunner, "labels").Changes[0]; c.Blast() != "project acme/web" {
			t.Errorf("a repository's runner: %s", c.Blast())
		}
	}
	if c := l.plans(t, providers.Deregister, orgRunner)[0].Changes[0]; c.Blast() != "" {
		t.Errorf("removing it hits %s", c.Blast())
	}
	l.do(t, l.option(t, providers.Pause, orgRunner, "quarantine").Changes[0])
	back := l.plans(t, providers.Resume, orgRunner)[0].Changes
	if len(back) != 2 || back[0].Blast() != "" || back[1].Blast() != "runner group cordon-quarantine-c7" {
		t.Errorf("%+v", back)
	}
}
