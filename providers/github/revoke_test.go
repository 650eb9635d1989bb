package github

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"cordon/internal/change"
	"cordon/internal/evidence"
	"cordon/internal/target"
	"cordon/providers"
	"cordon/providers/providertest"
)

func TestWhatCanBeRevokedIsOneOptionForEach(t *testing.T) {
	l := openActing(t, providertest.Wait)
	l.fake.change(func(f *fake) { f.acts().app = 4 })
	plans := l.plans(t, providers.Revoke, orgRunner)
	want := "deploy-key-12, deploy-key-13, pat-25381, sso-161195, installation-31, leaked-token (by hand)"
	if got := options(plans); got != want {
		t.Fatalf("%s", got)
	}
	if s := plans[0].Title; !strings.Contains(s, "may write") {
		t.Errorf("the key that may write comes first: %s", s)
	}
	effects := map[string]string{"deploy-key-12": "key", "pat-25381": "pat", "sso-161195": "sso", "installation-31": "app"}
	for _, p := range plans {
		if effects[p.Option] == "" {
			continue
		}
		c := p.Changes[0]
		if c.Undo != nil != (p.Option == "installation-31") || c.TipsOff == "" || len(p.Limits) == 0 || len(p.ByHand) == 0 {
			t.Errorf("%s: %+v", p.Option, c)
		}
		l.do(t, c)
		if n := l.fake.count(effects[p.Option]); n != 1 {
			t.Errorf("%s: %d effects", p.Option, n)
		}
		if out, err := l.apply.Apply(allowed(t, c), c); err != nil || out.State != change.Already {
			t.Errorf("%s, once more: %+v, %v", p.Option, out, err)
		}
		if c.Undo != nil {
			l.do(t, *c.Undo)
		}
	}
}

func TestALeakedTokenIsNeverInAPlan(t *testing.T) {
	l := openActing(t, providertest.Wait)
	for _, ref := range []string{"org", "repo", "ent"} {
		plans := l.plans(t, providers.Revoke, map[string]target.Ref{"org": orgRunner, "repo": repoRunner, "ent": entRunner}[ref])
		p := plans[len(plans)-1]
		if p.Option != "leaked-token" || len(p.Changes) != 0 || !strings.Contains(all(p), "in clear") || !strings.Contains(all(p), "cannot be listed or revoked") {
			t.Errorf("%s: %+v", ref, p)
		}
		if cmd := p.ByHand[0].Command; !strings.Contains(cmd, "--data @FILE "+l.base+"/api/v3/credentials/revoke") || strings.Contains(cmd, "Authorization") {
			t.Errorf("%s: %s", ref, cmd)
		}
	}
	for op := range operations {
		if strings.Contains(op, "credential") {
			t.Errorf("%s would carry a token in clear", op)
		}
	}
}

func TestWhatCannotBeListedIsSaid(t *testing.T) {
	l := openActing(t, providertest.Wait)
	l.fake.change(func(f *fake) {
		f.deny["orgs/acme/personal-access-tokens"] = 403
		f.deny["orgs/acme/credential-authorizations"] = 404
		f.deny["orgs/acme/installations"] = 403
		f.deny["repos/acme/web/keys"] = 404
	})
	plans := l.plans(t, providers.Revoke, orgRunner)
	if len(plans) != 1 {
		t.Fatalf("%s", options(plans))
	}
	for _, want := range []string{"deploy keys: those of acme/web could not be listed", "fine-grained tokens could not be listed", "single sign-on could not be listed", "Apps could not be listed"} {
		if !strings.Contains(all(plans[0]), want) {
			t.Errorf("%q is not said: %s", want, all(plans[0]))
		}
	}
}

func TestAnotherKeyUnderTheSameNumberIsNotRemoved(t *testing.T) {
	l := openActing(t, providertest.Wait)
	c := l.plans(t, providers.Revoke, orgRunner)[0].Changes[0]
	l.fake.change(func(f *fake) { f.acts().keys["acme/web"][0]["key"] = "ssh-ed25519 CCCC" })
	if out, err := l.apply.Apply(allowed(t, c), c); !errors.Is(err, change.ErrStale) || out.State != change.Refused {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestAGoneKeyCountsOnlyWhileTheKeysCanBeListed(t *testing.T) {
	l := openActing(t, providertest.Wait)
	c := l.plans(t, providers.Revoke, orgRunner)[0].Changes[0]
	l.fake.change(func(f *fake) { f.acts().keys = map[string][]map[string]any{}; f.deny["repos/acme/web/keys"] = 404 })
	if state, _, _ := l.Settle(context.Background(), c); state != change.Unknown {
		t.Errorf("hidden settles as %s", state)
	}
	l.fake.change(func(f *fake) { delete(f.deny, "repos/acme/web/keys") })
	if state, _, _ := l.Settle(context.Background(), c); state != change.Applied {
		t.Errorf("gone settles as %s", state)
	}
}

// TestWhatIsRemovedIsDescribedInTheEvidenceFirst holds what Destroys names to what planning kept.
func TestWhatIsRemovedIsDescribedInTheEvidenceFirst(t *testing.T) {
	for _, verb := range []string{providers.Revoke, providers.Purge} {
		l := openActing(t, providertest.Wait)
		sink := &providertest.Sink{}
		plans, err := l.Plan(evidence.WithSink(context.Background(), sink), verb, orgRunner, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, p := range plans {
			for _, c := range p.Changes {
				for _, name := range c.Destroys {
					if sink.Files[name] == "" {
						t.Errorf("%s destroys %s, which was not kept", c.Op, name)
					}
					n++
				}
				if c.Op == opKey || c.Op == opCache || c.Op == opArtifact {
					if len(c.Destroys) == 0 {
						t.Errorf("%s destroys nothing", c.Op)
					}
				}
			}
		}
		if n < 2 {
			t.Errorf("control: %s names %d descriptions", verb, n)
		}
		full := errors.New("no space left")
		if _, err := l.Plan(evidence.WithSink(context.Background(), &providertest.Sink{Fail: full}), verb, orgRunner, nil); !errors.Is(err, full) {
			t.Errorf("%s: what could not be kept is planned: %v", verb, err)
		}
	}
}

func TestCachesAndArtifactsOfItsRunsAreRemovedOneByOne(t *testing.T) {
	l := openActing(t, providertest.Wait)
	plans := l.plans(t, providers.Purge, orgRunner)
	if got := options(plans); got != "caches, artifacts" || len(plans[0].Changes) != 1 || len(plans[1].Changes) != 1 {
		t.Fatalf("%s %+v", got, plans)
	}
	if c := plans[0].Changes[0]; !strings.HasSuffix(c.Call.URL, "/actions/caches/505") || c.Undo != nil {
		t.Errorf("caches from before the window stay: %s", c.Call)
	}
	stale := plans[1].Changes[0]
	l.fake.change(func(f *fake) { f.acts().artifacts["acme/web"][0]["digest"] = "sha256:bb" })
	if out, err := l.apply.Apply(allowed(t, stale), stale); !errors.Is(err, change.ErrStale) || out.State != change.Refused {
		t.Errorf("another artifact: %+v, %v", out, err)
	}
	l.fake.change(func(f *fake) { f.acts().artifacts["acme/web"][0]["digest"] = "sha256:aa" })
	early, err := l.Plan(context.Background(), providers.Purge, orgRunner, []byte(`{"since":"2020-01-01T00:00:00Z"}`))
	if err != nil || len(early[0].Changes) != 2 {
		t.Errorf("the case says since when: %+v, %v", early, err)
	}
	for _, p := range plans {
		l.do(t, p.Changes[0])
	}
	if l.fake.count("cache") != 1 || l.fake.count("artifact") != 1 {
		t.Error("not removed")
	}
	if p := l.plans(t, providers.Purge, orgRunner); len(p) != 1 || len(p[0].Changes) != 0 || len(p[0].Manual) == 0 {
		t.Errorf("%+v", p)
	}
}

func TestTheEvidenceIsTheReadsThatAnUndoRestsOn(t *testing.T) {
	l := openActing(t, providertest.Wait)
	sink := &providertest.Sink{}
	gaps, err := l.Gather(context.Background(), orgRunner, providers.Express, sink)
	if err != nil || len(gaps) != 0 {
		t.Fatalf("%+v, %v", gaps, err)
	}
	const at = "provider/gh/organization.acme.23/"
	for name, holds := range map[string]string{
		"runner.json": `"runner_group_id":2`, "labels.json": "gpu", "group.json": `"visibility":"selected"`, "group-access.json": "acme/web", "jobs.json": `"run":77`,
	} {
		if f := sink.Files[at+name]; !strings.Contains(f, holds) {
			t.Errorf("%s: %q", name, f)
		}
	}
	if n := len(sink.Files); n != 5 {
		t.Errorf("%d files", n)
	}
	sink = &providertest.Sink{}
	l.fake.change(func(f *fake) { f.deny["orgs/acme/actions/runner-groups/2"] = 403 })
	gaps, err = l.Gather(context.Background(), orgRunner, providers.Triage, sink)
	if err != nil || !slices.ContainsFunc(gaps, func(g evidence.Gap) bool { return g.Name == at+"group.json" }) || len(sink.Gaps) != len(gaps) {
		t.Errorf("one refused: %+v, %v", gaps, err)
	}
	if _, err := l.Gather(context.Background(), orgRunner, providers.Watch, sink); !errors.Is(err, providers.ErrNoVerb) {
		t.Errorf("another profile: %v", err)
	}
	full := errors.New("no space left")
	if _, err := l.Gather(context.Background(), orgRunner, providers.Express, &providertest.Sink{Fail: full}); !errors.Is(err, full) {
		t.Errorf("a full disk is an error, not a gap: %v", err)
	}
}

func TestObservationsPointAtTheRedactedAnswersTheyRestOn(t *testing.T) {
	l := openActing(t, providertest.Wait)
	sink := &providertest.Sink{}
	ctx := evidence.WithSink(context.Background(), sink)
	seen, err := l.Observe(ctx, orgRunner)
	if err != nil || len(seen) != 1 || len(seen[0].Evidence) != 3 || len(sink.Items) != 3 {
		t.Fatalf("%+v, %v, %+v", seen, err, sink.Items)
	}
	for i, it := range sink.Items {
		if it.Digest != seen[0].Evidence[i] || !strings.HasPrefix(it.Name, "provider/gh/organization.acme.23/observed/") {
			t.Errorf("%s: not the digest that the observation names", it.Name)
		}
	}
	if f := sink.Files["provider/gh/organization.acme.23/observed/details.json"]; !strings.Contains(f, `"status":200`) || !strings.Contains(f, "ABCD:1234") || !strings.Contains(f, "build-07") {
		t.Errorf("%s", f)
	}
	l.fake.change(func(f *fake) { delete(f.runners["orgs/acme"], 23) })
	if seen, _ := l.Observe(ctx, orgRunner); len(seen[0].Evidence) != 1 || !strings.Contains(sink.Files["provider/gh/organization.acme.23/observed/details.json"], `"status":404`) {
		t.Errorf("a 404 is evidence too: %+v", seen)
	}
}

// A name is not unique, and an id is in its scope alone: what came of another registration's
// run is not removed as this one's.
func TestNothingOfAnotherRegistrationsRunIsPurged(t *testing.T) {
	for name, c := range map[string]struct {
		runner int64
		on     string
	}{"its name": {8, "build-07"}, "its id": {23, ""}} {
		l := openActing(t, providertest.Wait)
		l.fake.change(func(f *fake) {
			for _, x := range f.acts().runs["acme/web"] {
				x.Jobs = []*actJob{{ID: x.ID + 1000, Runner: c.runner, Name: "site", On: c.on, Status: x.Status}}
			}
		})
		p := l.plans(t, providers.Purge, orgRunner)
		if len(p) != 1 || len(p[0].Changes) != 0 || p[0].Nothing || !strings.Contains(all(p[0]), "left alone: what came of 2 jobs") {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestTheAppsThatWeWorkWithAreNotOfferedToBeSuspended(t *testing.T) {
	s := serveApp(t)
	ours := func(o *MintOptions) { o.App.Installation = 31 }
	for name, edit := range map[string]func(*Options){
		"":            func(o *Options) { o.ActApp = s.mint(t) },
		"for looking": func(o *Options) { o.App = s.mint(t, ours) },
		"for acting":  func(o *Options) { o.ActApp, o.ActsApart = s.mint(t, ours), true },
	} {
		l := openActing(t, providertest.Wait, edit)
		got := options(l.plans(t, providers.Revoke, orgRunner))
		if strings.Contains(got, "installation-") || strings.Contains(got, "apps (by hand)") != (name == "") {
			t.Errorf("our own %q: %s", name, got)
		}
	}
}

// GitHub takes the suspension of an App from that App alone: a change that would be refused
// is not offered.
func TestAnAppIsSuspendedByItsOwnTokenAloneAndElseByHand(t *testing.T) {
	held := false
	apart := func(o *Options) { o.ActsApart, o.ActHeld = true, func() bool { return held } }
	for _, c := range []struct {
		name   string
		app    int64
		held   bool
		change bool
		why    string
	}{
		{"a person's token", 0, true, false, "no App's own token"},
		{"its own", 4, true, true, "which the credential for acting is"},
		{"another App's", 5, true, false, "another App's own token"},
		{"not fetched yet", 4, false, false, "not known before it was used"},
	} {
		held = c.held
		l := openActing(t, providertest.Wait, apart)
		l.fake.change(func(f *fake) { f.acts().app = c.app })
		i := slices.IndexFunc(l.plans(t, providers.Revoke, orgRunner), func(p change.Plan) bool { return p.Option == "apps" || p.Option == "installation-31" })
		if i < 0 {
			t.Fatalf("%s: not there", c.name)
		}
		p := l.plans(t, providers.Revoke, orgRunner)[i]
		if len(p.Changes) == 1 != c.change || !strings.Contains(all(p), c.why) || !strings.Contains(fmt.Sprint(p.ByHand), "installations/31") {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
}

// Whoever ends the credential that this works with has ended the work.
func TestOurOwnTokenGoesLastAndIsSaidToBeOurs(t *testing.T) {
	l := openActing(t, providertest.Wait)
	ours := func(a *acts) {
		sso, pat := maps.Clone(a.sso[0]), maps.Clone(a.pats[0])
		sso["login"], sso["credential_id"] = "IR-look", 161196
		pat["owner"], pat["id"] = map[string]any{"login": "ir-look"}, 25382
		a.sso, a.pats = append([]map[string]any{sso}, a.sso...), append([]map[string]any{pat}, a.pats...)
	}
	l.fake.change(func(f *fake) { ours(f.acts()) })
	plans := l.plans(t, providers.Revoke, orgRunner)
	if got := options(plans); got != "deploy-key-12, deploy-key-13, pat-25381, sso-161195, apps (by hand), pat-25382, sso-161196, leaked-token (by hand)" {
		t.Errorf("%s", got)
	}
	for _, p := range plans {
		own := p.Option == "pat-25382" || p.Option == "sso-161196"
		if own != strings.Contains(p.Title, "IT MAY BE OURS") || own != strings.Contains(all(p), "nothing more can be read or done here") {
			t.Errorf("%s: %s", p.Option, all(p))
		}
	}
	l.fake.change(func(f *fake) { f.deny["user"] = 502 })
	for _, p := range l.plans(t, providers.Revoke, orgRunner) {
		if token := strings.HasPrefix(p.Option, "pat-") || strings.HasPrefix(p.Option, "sso-"); token != strings.Contains(all(p), "is not known") {
			t.Errorf("%s: whose ours is is not known, and that is said: %s", p.Option, all(p))
		}
	}
}

// manyOf is n copies of a row with numbers of their own.
func manyOf(n int, like map[string]any, id string) []map[string]any {
	var out []map[string]any
	for i := range n {
		m := maps.Clone(like)
		m[id] = 10_000 + i
		out = append(out, m)
	}
	return out
}

func TestWhatAnOfferLeavesOutIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*acts)
		want string
	}{
		"keys":   {func(a *acts) { a.keys["acme/web"] = manyOf(101, a.keys["acme/web"][0], "id") }, "only the first 100 deploy keys of acme/web"},
		"tokens": {func(a *acts) { a.pats = manyOf(101, a.pats[0], "id") }, "fine-grained tokens: only the first 100"},
		"sso":    {func(a *acts) { a.sso = manyOf(101, a.sso[0], "credential_id") }, "single sign-on: only the first 100"},
	} {
		l := openActing(t, providertest.Wait)
		if p := l.plans(t, providers.Revoke, orgRunner); strings.Contains(all(p[len(p)-1]), c.want) {
			t.Errorf("control: %s is said of a short list", name)
		}
		l.fake.change(func(f *fake) { c.edit(f.acts()) })
		if p := l.plans(t, providers.Revoke, orgRunner); len(p) < 2 || !strings.Contains(all(p[len(p)-1]), c.want) {
			t.Errorf("%s: %s", name, all(p[len(p)-1]))
		}
	}
	l := openActing(t, providertest.Wait)
	l.fake.change(func(f *fake) {
		for i := range int64(11) {
			path := fmt.Sprintf("acme/r%d", i)
			f.repos[path] = &fakeRepo{200 + i, path, true, true}
			f.groups["orgs/acme"][2].Repos = append(f.groups["orgs/acme"][2].Repos, 200+i)
		}
	})
	if p := l.plans(t, providers.Revoke, orgRunner); !strings.Contains(all(p[len(p)-1]), "only 10 of 12 repositories were asked") {
		t.Errorf("%s", all(p[len(p)-1]))
	}
}

// A repository may have thousands of caches, nearly all of them from before.
func TestARemovedCacheIsSeenToBeGoneAmongManyOlderOnes(t *testing.T) {
	l := openActing(t, providertest.Wait)
	old := map[string]any{"id": 1, "key": "k", "ref": "refs/heads/main", "created_at": "2020-01-01T00:00:00Z"}
	l.fake.change(func(f *fake) {
		a := f.acts()
		a.caches["acme/web"] = append(manyOf(6000, old, "id"), a.caches["acme/web"]...)
	})
	plans := l.plans(t, providers.Purge, orgRunner)
	if got := options(plans); got != "caches, artifacts" || len(plans[0].Changes) != 1 || strings.Contains(all(plans[0]), "could not all be listed") {
		t.Fatalf("%s: %q", got, plans[0].Limits)
	}
	c := plans[0].Changes[0]
	l.do(t, c)
	if state, why, err := l.Settle(context.Background(), c); state != change.Applied || err != nil {
		t.Errorf("%s: %s, %v", state, why, err)
	}
	l.fake.change(func(f *fake) {
		a := f.acts()
		a.caches["acme/web"] = append(a.caches["acme/web"], map[string]any{"id": 505, "key": "k", "ref": "r", "created_at": stamp(f.now)})
	})
	if state, _, _ := l.Settle(context.Background(), c); state != change.Refused {
		t.Errorf("an entry that is there settles as %s", state)
	}
}

func TestWhatAPurgeLeavesOutIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*acts)
		plan int
		n    int
		want string
	}{
		"as many":   {func(a *acts) { a.caches["acme/web"] = manyOf(100, a.caches["acme/web"][0], "id") }, 0, 100, ""},
		"more":      {func(a *acts) { a.caches["acme/web"] = manyOf(101, a.caches["acme/web"][0], "id") }, 0, 100, "there are more than the 100"},
		"artifacts": {func(a *acts) { a.artifacts["acme/web"] = manyOf(101, a.artifacts["acme/web"][0], "id") }, 1, 100, "only the first 100 artifacts of run 77"},
		"no time": {func(a *acts) {
			a.caches["acme/web"] = append(a.caches["acme/web"], map[string]any{"id": 9, "key": "k", "created_at": "yesterday"})
		}, 0, 1, "not known when they were made"},
	} {
		l := openActing(t, providertest.Wait)
		l.fake.change(func(f *fake) { c.edit(f.acts()) })
		p := l.plans(t, providers.Purge, orgRunner)[c.plan]
		left := strings.Contains(all(p), "there are more") || strings.Contains(all(p), "not known when")
		if len(p.Changes) != c.n || left != (c.want != "") || !strings.Contains(all(p), c.want) {
			t.Errorf("%s: %d changes, %q", name, len(p.Changes), p.Limits)
		}
		if what := []string{"caches made since ", "artifacts of runs that had jobs on "}[c.plan]; !strings.Contains(p.Title, what) {
			t.Errorf("GitHub does not say which job made a cache: %s", p.Title)
		}
	}
}
