package github

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"cordon/internal/clock"
	"cordon/internal/lab/fault"
	"cordon/internal/lab/ledger"
	"cordon/internal/lab/vault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// still is a clock that moves when a test says so; waiting on it moves it.
type still struct {
	clock.Real
	mu  sync.Mutex
	now time.Time
}

func (s *still) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *still) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// world is a GitHub with an organization of two repositories, and what it answers.
type world struct {
	t      *testing.T
	clock  *still
	api    *Server
	h      http.Handler
	ledger *ledger.Ledger
	faults *fault.Switch
	header http.Header // of the last answer
}

var readAll = map[string]string{
	"organization_self_hosted_runners": "read", "organization_administration": "read", "organization_secrets": "read", "organization_dependabot_secrets": "read",
	"organization_actions_variables": "read", "organization_personal_access_tokens": "read", "members": "read", "packages": "read", "administration": "read",
	"actions": "read", "secrets": "read", "dependabot_secrets": "read", "actions_variables": "read", "environments": "read", "contents": "read",
	"deployments": "read", "pull_requests": "read",
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, clock: &still{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}, faults: &fault.Switch{}}
	var err error
	if w.ledger, err = ledger.Open(filepath.Join(dir, "ledger.jsonl"), w.clock); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.ledger.Close() })
	w.api, err = New(Options{
		ID: "lab-1", Clock: w.clock, Ledger: w.ledger, Faults: w.faults, Vault: vault.New(1, filepath.Join(dir, "planted.json")), Data: small(), Stuck: 23,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.h = w.api.Handler()
	return w
}

func small() Data {
	return Data{
		Version: "3.19.1", NewRunner: 90, NewRun: 600,
		People: []Person{
			{ID: 1, Login: "look", Token: "look", File: "look.token", Sees: []string{"acme"}, Permissions: readAll},
			{ID: 2, Login: "act", Token: "act", File: "act.token", Sees: []string{"acme", "big"}, Scopes: []string{"repo", "admin:org", "admin:enterprise", "read:audit_log"}},
			{ID: 3, Login: "narrow", Token: "narrow", Sees: []string{"acme"}, Permissions: map[string]string{"organization_self_hosted_runners": "write"}},
			{ID: 4, Login: "poor", Token: "poor", Sees: []string{"acme"}, Scopes: []string{"read:org"}},
			{ID: 5, Login: "patron", Token: "patron", Sees: []string{"acme"}, Permissions: map[string]string{"organization_personal_access_tokens": "write"}},
		},
		Apps:        []App{{ID: 501, Slug: "ir", Installation: 7001, Owner: "acme", Permissions: map[string]string{"organization_self_hosted_runners": "write", "actions": "read"}}},
		Enterprises: []Enterprise{{ID: 800, Slug: "big"}},
		Owners: []Owner{
			{
				ID: 900, Login: "acme", Type: "Organization", Enterprise: "big", Teams: []string{"web"},
				Secrets:    []Secret{{Name: "ALL"}, {Name: "ONE", Repos: []string{"acme/web"}}},
				Dependabot: []Secret{{Name: "BOT"}}, Variables: []Variable{{Name: "V", Value: "1"}},
				PATs: []PAT{{ID: 61, Owner: "rosa", Name: "laptop"}}, Authorized: []Authorized{{ID: 71, Login: "rosa", Type: "SSH key", Title: "laptop"}},
				Packages: []Package{{ID: 81, Name: "web", Type: "container", Repo: "acme/web", Tag: "1"}},
			},
			{ID: 901, Login: "nobody", Type: "User"},
		},
		Repos: []Repo{
			{
				ID: 11, Path: "acme/web", Team: "web", Secrets: []Secret{{Name: "S"}}, Dependabot: []Secret{{Name: "D"}}, Variables: []Variable{{Name: "W", Value: "2"}},
				Environments: []Environment{{ID: 1, Name: "prod/eu", Secrets: []Secret{{Name: "E"}}, Variables: []Variable{{Name: "X", Value: "3"}}}},
				Keys:         []DeployKey{{ID: 301, Title: "push", Secret: "key"}},
				Workflows:    []Workflow{{ID: 111, Name: "build", Path: ".github/workflows/build.yml"}},
				Files:        []File{{Path: ".github/CODEOWNERS", Text: "* @acme/web\n"}, {Path: ".github/workflows/build.yml", Text: "on: push\n"}},
				Caches:       []Cache{{ID: 401, Key: "npm", Ref: "refs/heads/main", Version: "1", Size: 5}, {ID: 402, Key: "npm", Ref: "refs/heads/x", Version: "1", Size: 5}},
				Artifacts:    []Artifact{{ID: 451, Name: "dist", Run: 501, Size: 9}}, Releases: []Release{{ID: 471, Tag: "v1", Author: "rosa", Ago: time.Hour}},
				Deployments: []Deployment{{ID: 481, Ref: "main", Environment: "prod/eu", Creator: "rosa"}},
				Commits:     []Commit{{SHA: object("c"), Author: "rosa", Message: "m", Paths: []string{".github/workflows/build.yml"}}},
				Pulls:       []Pull{{Number: 17, Author: "drive-by", Association: "FIRST_TIME_CONTRIBUTOR", From: "drive-by/web", Ref: "x"}},
				Properties:  []Property{{Name: "owner", Value: "web"}},
			},
			{ID: 12, Path: "acme/open", Public: true},
			{ID: 66, Path: "nobody/hidden"},
		},
		Groups: []SeedGroup{
			{ID: 2, Scope: "organization:acme", Name: "release", Visibility: "selected", Repos: []string{"acme/web"}},
			{ID: 9, Scope: "enterprise:big", Name: "fleet"},
		},
		Runners: []Seeded{
			{ID: 23, Scope: "organization:acme", Name: "b1", Labels: []string{"release"}, Group: 2, Age: time.Hour},
			{ID: 24, Scope: "organization:acme", Name: "b2", Labels: []string{"docker"}},
			{ID: 31, Scope: "repository:acme/web", Name: "b1"},
			{ID: 40, Scope: "enterprise:big", Name: "f1", Group: 9},
			{ID: 77, Scope: "repository:nobody/hidden", Name: "rogue"},
		},
		Runs: []SeedRun{
			{ID: 501, Repo: "acme/web", Workflow: 111, Event: "push", Branch: "main", Actor: "rosa", Conclusion: "success", Attempt: 2, Ago: 30 * time.Hour, Jobs: []SeedJob{{ID: 5011, Name: "a", Runner: 23, Attempt: 1, Takes: time.Minute}, {ID: 5012, Name: "a", Runner: 23, Attempt: 2, Takes: time.Minute}}},
			{ID: 502, Repo: "acme/web", Workflow: 111, Event: "pull_request", Branch: "x", Actor: "drive-by", Fork: "drive-by/web", Pull: 17, Conclusion: "failure", Ago: 3 * time.Hour, Jobs: []SeedJob{{ID: 5021, Name: "a", Runner: 23, Takes: time.Minute}}},
			{ID: 503, Repo: "acme/web", Workflow: 111, Event: "push", Branch: "main", Actor: "rosa", Ago: time.Minute, Jobs: []SeedJob{{ID: 5031, Name: "q", Labels: []string{"self-hosted", "release"}, Takes: time.Minute}}},
		},
	}
}

// do sends a request as the bearer of a token.
func (w *world) do(token, method, path string, body any) (int, []byte) {
	w.t.Helper()
	var in io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			w.t.Fatal(err)
		}
		in = bytes.NewReader(b)
	}
	r := httptest.NewRequest(method, path, in)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	rec := httptest.NewRecorder()
	w.h.ServeHTTP(rec, r)
	w.header = rec.Header()
	if w.header.Get(LabHeader) != "lab-1" {
		w.t.Errorf("%s %s answers without the lab's id", method, path)
	}
	return rec.Code, rec.Body.Bytes()
}

// ask is do under /api/v3 by a person of the scenario, with the answer checked against
// GitHub's own description and decoded into out, if any.
func (w *world) ask(who, method, path string, body, out any) int {
	w.t.Helper()
	token := ""
	if who != "" {
		var err error
		if token, err = w.api.PersonToken(who); err != nil {
			w.t.Fatal(err)
		}
	}
	code, b := w.do(token, method, "/api/v3"+path, body)
	if why := fits(method, path, code, w.header, b); why != "" {
		w.t.Errorf("%s %s answers %d, which GitHub does not describe: %s\n%.600s", method, path, code, why, b)
	}
	if out != nil {
		if err := json.Unmarshal(b, out); err != nil {
			w.t.Fatalf("%s %s: %v in %.200q", method, path, err, b)
		}
	}
	return code
}

// effects are what the ledger has, as "EFFECT by ACTOR: TARGET".
func (w *world) effects() []string {
	var out []string
	for _, e := range w.ledger.Entries() {
		out = append(out, e.Effect+" by "+e.Actor+": "+e.Target)
	}
	return out
}

func (w *world) did(want string) bool {
	for _, e := range w.effects() {
		if strings.HasPrefix(e, want) {
			return true
		}
	}
	return false
}

// form posts a form, as the token service wants it.
func (w *world) form(path string, v url.Values) (int, []byte) {
	w.t.Helper()
	r := httptest.NewRequest("POST", path, strings.NewReader(v.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	rec := httptest.NewRecorder()
	w.h.ServeHTTP(rec, r)
	return rec.Code, rec.Body.Bytes()
}

// remote registers a runner as config.sh does.
func (w *world) remote(token string, body any) (int, []byte) {
	w.t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		w.t.Fatal(err)
	}
	r := httptest.NewRequest("POST", "/api/v3/actions/runners/register", bytes.NewReader(b))
	r.Header.Set("Authorization", "RemoteAuth "+token)
	rec := httptest.NewRecorder()
	w.h.ServeHTTP(rec, r)
	return rec.Code, rec.Body.Bytes()
}
