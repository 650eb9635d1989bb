package github

import (
	"context"
	"errors"
	"strings"
	"testing"

	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/providers"
	"cordon/providers/providertest"
)

// removed is a lab whose runner was removed before this process began, with what is
// remembered of it.
func removed(t *testing.T, known *providers.Runner) *acting {
	l := openActing(t, providertest.Wait)
	l.fake.change(func(f *fake) { delete(f.runners["orgs/acme"], 23) })
	if known != nil {
		l.Remember(*known)
	}
	return l
}

func earlier(t *testing.T) providers.Runner {
	t.Helper()
	r, err := openActing(t, providertest.Wait).Runner(context.Background(), orgRunner)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What a runner could reach lives on when it is removed, and so do the plans that end it.
func TestWhatARemovedRunnerCouldReachIsStillEnded(t *testing.T) {
	was := earlier(t)
	l := removed(t, &was)
	for verb, want := range map[string]string{providers.Revoke: "deploy-key-12", providers.Purge: "caches"} {
		plans, err := l.Plan(context.Background(), verb, orgRunner, nil)
		if err != nil || plans[0].Option != want || len(plans[0].Changes) == 0 {
			t.Errorf("%s: %s, %v", verb, options(plans), err)
			continue
		}
		if verb == providers.Purge && !strings.Contains(plans[0].Title, `where runner 23 "build-07" (organization acme, removed) had jobs`) {
			t.Errorf("that it is removed is not said: %s", plans[0].Title)
		}
		l.do(t, plans[0].Changes[0])
	}
	if l.fake.count("key") != 1 || l.fake.count("cache") != 1 {
		t.Error("what was planned was not done")
	}
	for _, verb := range []string{providers.Pause, providers.Rotate, providers.Cancel, providers.Deregister} {
		if _, err := l.Plan(context.Background(), verb, orgRunner, nil); !errors.Is(err, providers.ErrNotFound) {
			t.Errorf("%s of a registration that is gone: %v", verb, err)
		}
	}
}

func TestByItsNumberAloneNothingOfARemovedRunnerIsEnded(t *testing.T) {
	was := earlier(t)
	other := was
	other.Name = "somebody-else"
	for name, known := range map[string]*providers.Runner{"nothing is known": nil, "another name": &other} {
		l := removed(t, known)
		plans, err := l.Plan(context.Background(), providers.Purge, orgRunner, nil)
		switch {
		case known == nil && !errors.Is(err, providers.ErrNotFound):
			t.Errorf("%s: %v", name, err)
		case known != nil && (err != nil || len(plans) != 1 || len(plans[0].Changes) != 0):
			t.Errorf("%s: %s, %v: jobs of another name are another runner's", name, options(plans), err)
		}
	}
	l := removed(t, &was)
	l.fake.change(func(f *fake) { f.deny["orgs/acme/actions/runners"] = 404 })
	if _, err := l.Plan(context.Background(), providers.Purge, orgRunner, nil); err == nil {
		t.Error("hidden passes for gone")
	}
}

// What is there is told by GitHub and not by an old case.
func TestWhatGitHubTellsCountsBeforeWhatIsRemembered(t *testing.T) {
	was := earlier(t)
	was.Name = "long-ago"
	l := openActing(t, providertest.Wait)
	l.Remember(was)
	if p := l.plans(t, providers.Purge, orgRunner); !strings.Contains(p[0].Title, "caches made") || strings.Contains(all(p[0]), "long-ago") || len(p[0].Changes) == 0 {
		t.Errorf("%s: %s", options(p), all(p[0]))
	}
	l.Remember(was)
	if w, _ := l.memory.named(scope{organization, "acme"}, 23); w.Name != "build-07" {
		t.Errorf("an old case is put over what was read: %q", w.Name)
	}
	for _, bad := range []providers.Runner{{}, {Ref: target.Ref{System: "gh", Kind: target.Runner, ID: "23"}, Name: "x"}, {Ref: orgRunner, Name: untrusted.Text("")}} {
		l.Remember(bad) // nothing to go by: neither kept nor a panic
	}
}

func TestThatARemovedRunnerIsGoneIsEvidenceAndNoGap(t *testing.T) {
	was := earlier(t)
	for _, c := range []struct {
		name  string
		known *providers.Runner
		hide  bool
		gaps  bool
	}{{"known", &was, false, false}, {"hidden", &was, true, true}, {"not known", nil, false, true}} {
		l := removed(t, c.known)
		if c.hide {
			l.fake.change(func(f *fake) { f.deny["orgs/acme/actions/runners"] = 404 })
		}
		sink := &providertest.Sink{}
		gaps, err := l.Gather(context.Background(), orgRunner, providers.Express, sink)
		if err != nil || (len(gaps) > 0) != c.gaps {
			t.Errorf("%s: %v, %v", c.name, gaps, err)
		}
	}
}
