package runner_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cordon/internal/lab/gitlab"
	"cordon/internal/lab/ledger"
	"cordon/internal/lab/runner"
	"cordon/internal/lab/vault"
)

// world is one GitLab with one runner, and the agent that uses it.
type world struct {
	t     *testing.T
	clock *jumping
	api   *gitlab.Server
	url   string
	token string
	admin string
	notes *notebook

	mu     sync.Mutex
	refuse bool // everything answers 403, as the stub of the recordings could
	seen   []request
}

type request struct {
	what string // "POST /api/v4/jobs/request -> 204"
	at   time.Time
	body string
}

func newWorld(t *testing.T, c *jumping) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, clock: c, notes: newNotebook()}
	led, err := ledger.Open(filepath.Join(dir, "ledger.jsonl"), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { led.Close() })
	w.api, err = gitlab.New(gitlab.Options{
		ID: "test", Clock: c, Ledger: led, Vault: vault.New(1, filepath.Join(dir, "planted.json")),
		Data: gitlab.Data{
			NewJobs: 101, NewRunner: 60,
			People:   []gitlab.Person{{ID: 1, Token: "admin", Admin: true, Scopes: []string{"api"}}},
			Groups:   []gitlab.Group{{ID: 5, Path: "acme"}},
			Projects: []gitlab.Project{{ID: 1, Path: "acme/x", Group: 5}},
			Runners:  []gitlab.Seeded{{ID: 42, Type: "project_type", Token: "r", Projects: []int{1}, Untagged: true}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(srv.Close)
	w.url = srv.URL
	if w.token, err = w.api.RunnerToken("r"); err != nil {
		t.Fatal(err)
	}
	if w.admin, err = w.api.PersonToken("admin"); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(b)))
	w.mu.Lock()
	refuse := w.refuse
	w.mu.Unlock()
	rec := httptest.NewRecorder()
	if refuse {
		rec.WriteHeader(http.StatusForbidden)
	} else {
		w.api.Handler().ServeHTTP(rec, r)
	}
	w.mu.Lock()
	w.seen = append(w.seen, request{fmt.Sprintf("%s %s -> %d", r.Method, r.URL.Path, rec.Code), w.clock.Now(), string(b)})
	w.mu.Unlock()
	for k, v := range rec.Header() {
		rw.Header()[k] = v
	}
	rw.WriteHeader(rec.Code)
	_, _ = rw.Write(rec.Body.Bytes())
}

func (w *world) refuseAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refuse = true
}

func (w *world) requests() []request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]request(nil), w.seen...)
}

// act does what a responder would do.
func (w *world) act(method, path string) {
	req, err := http.NewRequest(method, w.url+"/api/v4"+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("PRIVATE-TOKEN", w.admin)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Error(err)
		return
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		b, _ := io.ReadAll(resp.Body)
		w.t.Errorf("%s %s: %s %s", method, path, resp.Status, b)
	}
}

func (w *world) reset() { w.act("POST", "/runners/42/reset_authentication_token") }

func (w *world) queue(seconds int) {
	if _, err := w.api.AddJob(gitlab.SeedJob{Project: 1, Takes: time.Duration(seconds) * time.Second}); err != nil {
		w.t.Error(err)
	}
}

func (w *world) agent(unhealthy time.Duration, defiant bool) *runner.Agent {
	return runner.New(runner.Config{
		URL: w.url, Token: w.token, SystemID: "s_1746f8786189", Name: "stubrunner", From: netip.MustParseAddr("127.0.0.1"),
		Unhealthy: unhealthy, Defiant: defiant, Clock: w.clock,
	}, w.notes)
}
