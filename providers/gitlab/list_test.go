package gitlab

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/providers"
	"cordon/providers/providertest"
)

func TestListsFollowTheNextPageAndNeverTotals(t *testing.T) {
	l := open(t, providertest.Wait)
	l.fake.change(func(f *fake) { f.perPage = 1 })
	var ids []string
	pages := 0
	err := l.Runners(context.Background(), func(p providers.Page) error {
		pages++
		if p.Gap != nil || p.Expect != -1 {
			t.Errorf("page %+v", p)
		}
		for _, r := range p.Runners {
			ids = append(ids, r.Ref.ID)
		}
		return nil
	})
	if err != nil || strings.Join(ids, ",") != "42,43,44" || pages != 6 {
		t.Errorf("%v in %d pages, %v; each once, over both scopes", ids, pages, err)
	}
}

func TestAListThatNeverEndsEndsInAGap(t *testing.T) {
	l := open(t, providertest.Wait, func(o *Options) { o.Scopes = []string{"mine"} })
	l.wire.Hostile(&providertest.Answer{Status: 200, Media: "application/json", Body: "[]"}, providertest.Everything)
	looping := 0
	a := answer{Next: 1}
	err := l.pages(context.Background(), "runners", nil, 3, func(answer) (bool, error) { looping++; return true, nil })
	if err != nil || looping != 1 {
		t.Errorf("an empty last page: %d reads, %v", looping, err)
	}
	l.api = repeating{l.api, a}
	if err := l.pages(context.Background(), "runners", nil, 3, func(answer) (bool, error) { return true, nil }); err == nil || !strings.Contains(err.Error(), "not after this one") {
		t.Errorf("a next page that is this one: %v", err)
	}
	l.api = growing{l.api}
	if err := l.pages(context.Background(), "runners", nil, 3, func(answer) (bool, error) { return true, nil }); err == nil || !strings.Contains(err.Error(), "there are more") {
		t.Errorf("pages without an end: %v", err)
	}
}

func TestAFailedScopeIsAGapAndTheOthersAreListed(t *testing.T) {
	l := open(t, providertest.Wait, func(o *Options) { o.Scopes = []string{"instance", "group:acme/tools", "mine"} })
	l.fake.change(func(f *fake) { f.deny["groups/"] = 403; delete(f.runners, 43) })
	gaps, found := map[target.Scope]string{}, 0
	err := l.Runners(context.Background(), func(p providers.Page) error {
		if p.Gap != nil {
			gaps[p.Scope] = p.Gap.Why
		}
		found += len(p.Runners)
		return nil
	})
	if err != nil || found != 2 || len(gaps) != 1 || !strings.Contains(gaps[target.Scope{Level: "group", Path: "acme/tools"}], "403") {
		t.Errorf("%d found, gaps %v, %v", found, gaps, err)
	}
}

func TestStatusWordsOnlineAndPausedAreThreeThings(t *testing.T) {
	l := open(t, providertest.Wait)
	l.fake.change(func(f *fake) { f.runners[42].paused = true; f.runners[43].status = "online\x1b[2J" })
	got := map[string]providers.Runner{}
	_ = l.Runners(context.Background(), func(p providers.Page) error {
		for _, r := range p.Runners {
			got[r.Ref.ID] = r
		}
		return nil
	})
	if r := got["42"]; r.Status != "paused" || r.Paused != witness.Yes || r.Online != witness.Yes {
		t.Errorf("paused and polling: %+v", r)
	}
	if r := got["44"]; r.Online != witness.Unknown || r.Status != "never_contacted" || r.Ref.Scope.Level != Group {
		t.Errorf("online is null: %+v", r)
	}
	if r := got["43"]; r.Status != "unknown" {
		t.Errorf("a status that GitLab does not have: %q", r.Status)
	}
	old := wireRunner{Active: new(bool)}
	if old.paused() != witness.Yes || (wireRunner{Status: "paused"}).paused() != witness.Yes || (wireRunner{Status: "online"}).paused() != witness.Unknown {
		t.Error("old versions have only active, or the word")
	}
}

func TestARunnerHasWhatListsLack(t *testing.T) {
	l := open(t, providertest.Wait)
	r, err := l.Runner(context.Background(), target.Ref{System: "gl", Kind: target.Runner, ID: "42"})
	if err != nil || r.Ref != runner(42, Project) || len(r.Labels) != 2 || len(r.Projects) != 2 || !r.Shared || r.Owner != "acme/web" ||
		r.Web != l.base+"/acme/web/-/runners/42" || r.Clock != witness.ClockLagging || r.CreatedAt.IsZero() || r.Locked != witness.No {
		t.Errorf("%+v, %v", r, err)
	}
	ms, err := l.Managers(context.Background(), runner(42, Project))
	if err != nil || len(ms) != 2 || ms[0].SystemID != "s_aaaa" || ms[0].Address != "192.0.2.7" || ms[0].Ref.ID != "91" || ms[0].Ref.Kind != target.Manager {
		t.Errorf("%+v, %v", ms, err)
	}
}

// repeating says of every page that it is followed by the same one.
type repeating struct {
	service
	a answer
}

func (r repeating) get(context.Context, string, url.Values) (answer, error) { return r.a, nil }

// growing says of every page that there is one more.
type growing struct{ service }

func (growing) get(_ context.Context, _ string, q url.Values) (answer, error) {
	n, err := strconv.Atoi(q.Get("page"))
	return answer{Next: n + 1}, err
}
