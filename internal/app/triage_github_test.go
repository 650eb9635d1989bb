package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cordon/internal/secret"
	"cordon/internal/target"
	"cordon/internal/untrusted"
)

// fives is a GitHub with runner 5 in an organization and another runner 5 in its repository.
type fives struct {
	t   *testing.T
	srv *httptest.Server
	dir string

	mu     sync.Mutex
	shut   string // a place whose Actions answer 403, or code
	code   int
	busy   bool // what GitHub says of its runners
	writes []string
}

func newFives(t *testing.T) *fives {
	h := &fives{t: t, dir: t.TempDir()}
	h.srv = httptest.NewServer(h)
	t.Cleanup(h.srv.Close)
	t.Setenv("CORDON_TEST_HUB", "ghp_"+rand.Text())
	h.config("")
	return h
}

// config writes the configuration, with hosts behind it.
func (h *fives) config(hosts string) {
	h.t.Helper()
	text := fmt.Sprintf("principal: me@example.org\nproviders:\n  gh:\n    type: github\n    url: %s\n    scopes: ['organization:acme', 'repositories:acme']\n    look: {env: CORDON_TEST_HUB}\n    act: {env: CORDON_TEST_HUB}\n%s", h.srv.URL, hosts)
	if err := os.WriteFile(filepath.Join(h.dir, "cordon.yaml"), []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h *fives) open() *App {
	h.t.Helper()
	a, err := Open(h.t.Context(), Options{Config: filepath.Join(h.dir, "cordon.yaml"), State: filepath.Join(h.dir, "state"), Version: "test"})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(a.Close)
	return a
}

func (h *fives) triage(a *App, what string) Card {
	h.t.Helper()
	c, err := a.Triage(context.Background(), what)
	if err != nil {
		h.t.Fatalf("triage of %s: %v", what, err)
	}
	return c
}

func (h *fives) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	rw.Header().Set("Content-Type", "application/json")
	path := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/"), "api/v3/")
	if r.Method != http.MethodGet {
		h.writes = append(h.writes, r.Method+" "+path)
	}
	say := func(v any) { _ = json.NewEncoder(rw).Encode(v) }
	if h.shut != "" && strings.HasPrefix(path, h.shut+"/actions") {
		rw.WriteHeader(cmp.Or(h.code, http.StatusForbidden))
		say(map[string]any{"message": "Forbidden"})
		return
	}
	type row = map[string]any
	runner := func(name string, group any) row {
		return row{"id": 5, "name": name, "os": "linux", "status": "online", "busy": h.busy, "version": "2.330.0", "runner_group_id": group, "labels": []row{{"id": 1, "name": "self-hosted", "type": "read-only"}}}
	}
	list := func(key string, rows ...row) { say(row{"total_count": len(rows), key: append([]row{}, rows...)}) }
	group := row{"id": 1, "name": "Default", "visibility": "all", "default": true}
	switch path {
	case "users/acme":
		say(row{"login": "acme", "id": 9, "type": "Organization"})
	case "orgs/acme":
		say(row{"login": "acme", "id": 9})
	case "orgs/acme/repos", "users/acme/repos":
		say([]row{{"id": 11, "name": "shop", "full_name": "acme/shop", "private": true, "owner": row{"login": "acme"}, "permissions": row{"admin": true}}})
	case "orgs/acme/actions/runners":
		list("runners", runner("org-five", 1))
	case "orgs/acme/actions/runners/5":
		say(runner("org-five", 1))
	case "repos/acme/shop/actions/runners":
		list("runners", runner("shop-five", nil))
	case "repos/acme/shop/actions/runners/5":
		say(runner("shop-five", nil))
	case "orgs/acme/actions/runner-groups":
		list("runner_groups", group)
	case "orgs/acme/actions/runner-groups/1":
		say(group)
	case "repos/acme/shop/actions/runs":
		list("workflow_runs")
	default:
		rw.WriteHeader(http.StatusNotFound)
		say(row{"message": "Not Found"})
	}
}

const (
	orgFive  = "gh/organization:acme/runner/5"
	shopFive = "gh/repository:acme%2Fshop/runner/5"
)

func TestANumberThatTwoScopesHaveLeadsToTheOneThatWasAskedFor(t *testing.T) {
	h := newFives(t)
	a := h.open()
	if c := h.triage(a, orgFive); c.Only() == nil || c.Only().Name != "org-five" || c.Next[0].Command != "cordon contain "+orgFive {
		t.Fatalf("%+v", c)
	}
	s, err := a.NewCase(t.Context(), orgFive, CaseSpec{})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	runners := func(s string) []target.Ref {
		r, err := target.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		return []target.Ref{r}
	}
	for what, n := range map[string]int{orgFive: 1, shopFive: 0} {
		if got, err := a.OpenAbout(runners(what), "another"); err != nil || len(got) != n {
			t.Errorf("open about %s: %q, %v", what, got, err)
		}
		if got, _ := a.OpenAbout(runners(what), s.ID()); len(got) != 0 {
			t.Errorf("the case itself is another one about %s", what)
		}
	}
	tr, err := a.newTriage("x")
	if err != nil {
		t.Fatal(err)
	}
	if got := tr.caseOf(untrusted.Text(h.srv.URL+"/acme"), "5"); !strings.Contains(got, s.ID()) {
		t.Errorf("the installation of the runner of the case names no case: %q", got)
	}
	if got := tr.caseOf(untrusted.Text(h.srv.URL+"/acme/shop"), "5"); got != "" {
		t.Errorf("the other runner 5 has no case: %q", got)
	}
	if c := h.triage(a, orgFive); !strings.HasPrefix(c.Next[0].Command, "cordon case resume ") {
		t.Errorf("the open case is not offered for its own runner: %+v", c.Next)
	}
	for _, shut := range []string{"", "repos/acme/shop"} {
		h.mu.Lock()
		h.shut = shut
		h.mu.Unlock()
		for _, what := range []string{shopFive, h.srv.URL + "/acme/shop/settings/actions/runners/5"} {
			c := h.triage(a, what)
			if one := c.Only(); one == nil || one.Ref.String() != shopFive || one.Name == "org-five" {
				t.Errorf("%s (403: %q): it is said to be %+v", what, shut, c.Runners)
				continue
			}
			if got := c.Next[0].Command; got != "cordon contain "+shopFive {
				t.Errorf("%s (403: %q): next is %q", what, shut, got)
			}
			if s := fact(t, c, "identity").Text; strings.Contains(s, "org-five") {
				t.Errorf("%s: %s", what, s)
			}
		}
	}
}

func TestAnInstallationIsOfTheRunnerInTheAccountThatItKeeps(t *testing.T) {
	h := newFives(t)
	tr := &triage{a: h.open()}
	for _, x := range []struct{ url, want string }{
		{h.srv.URL + "/acme", orgFive},
		{h.srv.URL + "/acme/shop", shopFive},
		{h.srv.URL + "/enterprises/big", "gh/enterprise:big/runner/5"},
	} {
		ref, ok := tr.refOf(untrusted.Text(x.url), "5")
		if !ok || ref.String() != x.want {
			t.Errorf("an installation for %s is %s, want %s", x.url, ref, x.want)
		}
	}
}

func TestWhatWasNotSearchedOrComparedIsNotNone(t *testing.T) {
	h := newFives(t)
	a := h.open()
	h.triage(a, "shop-five") // which lists
	c := h.triage(a, orgFive)
	if s := fact(t, c, "running").Text; strings.Contains(s, "0 jobs") || !strings.Contains(s, "not searched") {
		t.Errorf("GitHub calls it idle, and nobody searched: %q", s)
	}
	pause := fact(t, c, "pause")
	if strings.Contains(pause.Text, "0 jobs") || !strings.Contains(pause.Text, "was not searched") {
		t.Errorf("what a pause would stop: %q", pause.Text)
	}
	if len(pause.Items) != 1 || !strings.HasPrefix(pause.Items[0], "1 other runners were online") || strings.Contains(pause.Items[0], "paused") {
		t.Errorf("the other runner 5 is online too, and GitHub's list tells no pause: %q", pause.Items)
	}
}

// GitHub names no machine: a configured host of the runner's name is offered as that, and
// the proposed case is about it.
func TestTheHostOfARunnersNameIsOfferedByNameOnly(t *testing.T) {
	h := newFives(t)
	if f := fact(t, h.triage(h.open(), orgFive), "hosts"); f.Text != "none that is configured here" {
		t.Errorf("no such host: %+v", f)
	}
	h.config("hosts:\n  org-five: {address: 127.0.0.1, user: ir}\n")
	c := h.triage(h.open(), orgFive)
	f := fact(t, c, "hosts")
	if f.Known != byName || !strings.Contains(f.Text, "org-five") || !strings.Contains(f.Text, "yours to confirm") {
		t.Errorf("%+v", f)
	}
	if got := c.Next[0].Command; got != "cordon contain "+orgFive+" --host org-five" {
		t.Errorf("next is %q", got)
	}
}

// A token of GitHub is sent to no GitLab, and a GitHub is no GitLab to ask.
func TestATokenIsAskedOfGitLabsAlone(t *testing.T) {
	h := newFives(t)
	for _, form := range []string{"ghp_", "ghs_", "gho_", "github_pat_", "glrt-t3_", ""} {
		c, err := h.open().TriageToken(t.Context(), secret.New(form+rand.Text()))
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Join(c.Unknown, "\n")
		if len(c.Next) != 0 || strings.Contains(all, "admin/token") || !strings.Contains(all, "revoke") {
			t.Errorf("%q: next %+v, %s", form, c.Next, all)
		}
	}
	w := newWorld(t)
	for form, n := range map[string]int{"glrt-t3_": 1, "ghp_": 0} {
		c, err := w.open().TriageToken(t.Context(), secret.New(form+rand.Text()))
		if err != nil || len(c.Next) != n {
			t.Errorf("%q: %d commands for a GitLab, want %d (%v)", form, len(c.Next), n, err)
		}
	}
}

// A read that failed is not the word that nothing runs, and the provider's word busy is
// told beside it.
func TestAFailedReadOfWhatRunsIsNotNone(t *testing.T) {
	h := newFives(t)
	a := h.open()
	h.triage(a, "shop-five") // which lists
	h.busy = true
	c := h.triage(a, shopFive)
	if f := fact(t, c, "running"); !strings.Contains(f.Text, "word for it is busy") || !strings.Contains(f.Text, "no job was found") || strings.Contains(f.Text, "0 jobs") {
		t.Errorf("busy, and nothing runs that can be seen: %+v", f)
	}
	h.shut, h.code = "repos/acme/shop", http.StatusInternalServerError
	c = h.triage(a, shopFive)
	if f := fact(t, c, "running"); f.Known != couldNot || f.Text != "" || len(f.Items) != 1 || !strings.Contains(f.Items[0], "busy") {
		t.Errorf("what runs could not be read: %+v", f)
	}
	if all := strings.Join(c.Unknown, " "); !strings.Contains(all, "its running jobs could not be read") || !strings.Contains(all, "HTTP 500") {
		t.Errorf("nothing says why: %q", all)
	}
	if got := ranSays(nil, time.Time{}, "the jobs of 7 runs were not read"); !strings.HasPrefix(got, "not known: ") || strings.Contains(got, "0 jobs") {
		t.Errorf("what ran before: %q", got)
	}
	if got := ranSays(nil, time.Time{}, ""); !strings.HasPrefix(got, "0 jobs since") {
		t.Errorf("a whole look that found none: %q", got)
	}
}
