package github

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"cordon/providers"
)

func TestPagesOfThisGitHubLeadToRunners(t *testing.T) {
	l, p, since := openPast(t)
	p.repos("acme/web")
	at := since.Add(time.Hour)
	own := on(3, "small", at)
	own.runner, own.runnerName = 7, "web-1"
	gone := on(4, "elsewhere", at)
	gone.runner, gone.runnerName = 23, "another of that number"
	none := on(5, "waits", at)
	none.runner, none.status = 0, "queued"
	first := on(6, "build", at)
	first.runner, first.runnerName = 24, "build-08"
	second := on(1, "build", at)
	second.attempt = 2
	p.run("acme/web", 900, at, func(r *pastRun) { r.attempt = 2 }, second, first)
	p.run("acme/web", 901, at, nil, own, gone, none)
	for path, want := range map[string]string{
		"/acme/web/actions/runs/900/job/1":                      "organization:acme/23",
		"/Acme/Web/actions/runs/900/job/1?pr=5":                 "organization:acme/23",
		"/acme/web/actions/runs/900":                            "organization:acme/23 organization:acme/24",
		"/acme/web/actions/runs/900/attempts/2":                 "organization:acme/23 organization:acme/24",
		"/acme/web/actions/runs/901/job/3":                      "repository:acme/web/7",
		"/acme/web/actions/runs/901/job/4":                      "",
		"/acme/web/actions/runs/901/job/5":                      "",
		"/acme/web/settings/actions/runners/7":                  "repository:acme/web/7",
		"/organizations/acme/settings/actions/runners/23":       "organization:acme/23",
		"/enterprises/big/settings/actions/runners/3":           "enterprise:big/3",
		"/organizations/acme/settings/actions/runners/23/edit?": "organization:acme/23",
	} {
		u, err := url.Parse(l.base + path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := l.Find(context.Background(), u)
		var got []string
		for _, r := range f.Runners {
			got = append(got, r.Ref.Scope.Level+":"+r.Ref.Scope.Path+"/"+r.Ref.ID)
		}
		if err != nil || strings.Join(got, " ") != want || f.What == "" || f.Why == "" {
			t.Errorf("%s: %q %+v %v", path, got, f, err)
		}
	}
	if f, _ := l.Find(context.Background(), mustURL(t, l.base+"/acme/web/actions/runs/901/job/4")); !strings.Contains(f.Why, "GitHub's own, or hidden") {
		t.Errorf("%q", f.Why)
	}
}

func mustURL(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestPagesOfOthersAreNotAskedAbout(t *testing.T) {
	l, p, _ := openPast(t)
	for _, s := range []string{
		"https://github.com/acme/web/actions/runs/900", "https://evil.example/acme/web/actions/runs/900",
		l.base + "/", l.base + "/acme", l.base + "/acme/web", l.base + "/acme/web/pull/5", l.base + "/acme/web/actions/runs/x", l.base + "/acme/web/actions/runs/-1/job/1",
		l.base + "/acme/web/settings/actions/runners/007", l.base + "/acme/web/actions/runs/900/job/1e3", l.base + "/../web/actions/runs/9", l.base + "/acme/..%2fx/actions/runs/9",
		l.base + "/organizations/acme/actions/runs/9", l.base + "/acme/web/settings/actions/runners",
	} {
		if f, err := l.Find(context.Background(), mustURL(t, s)); !errors.Is(err, providers.ErrNotYours) {
			t.Errorf("%s: %+v %v", s, f, err)
		}
	}
	if _, err := l.Find(context.Background(), nil); !errors.Is(err, providers.ErrNotYours) {
		t.Error(err)
	}
	if n := p.count(""); n != 0 {
		t.Errorf("%d requests", n)
	}
}
