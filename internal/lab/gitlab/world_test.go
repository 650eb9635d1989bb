package gitlab

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cordon/internal/clock"
	"cordon/internal/lab/fault"
	"cordon/internal/lab/ledger"
	"cordon/internal/lab/vault"
)

// still is a clock that moves when a test says so.
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

type world struct {
	t      *testing.T
	clock  *still
	api    *Server
	h      http.Handler
	ledger *ledger.Ledger
	faults *fault.Switch
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
		ID: "lab-1", Clock: w.clock, Ledger: w.ledger, Faults: w.faults,
		Vault: vault.New(1, filepath.Join(dir, "planted.json")),
		Data: Data{
			Version: "18.6.0-ee", NewJobs: 200, NewRunner: 60,
			People: []Person{
				{ID: 1, Username: "look", Token: "look", File: "look.token", Scopes: []string{"read_api"}, Auditor: true},
				{ID: 2, Username: "act", Token: "act", File: "act.token", Scopes: []string{"api"}, Admin: true},
				{ID: 3, Username: "narrow", Token: "narrow", Scopes: []string{"manage_runner"}, Admin: true},
				{ID: 4, Username: "maintainer", Token: "maintainer", Scopes: []string{"api"}, Projects: []int{11}},
			},
			Groups: []Group{{ID: 5, Path: "acme", Name: "Acme", Variables: []Variable{{Key: "G", Secret: "g"}}}},
			Projects: []Project{
				{
					ID: 11, Path: "acme/shop", Name: "Shop", Group: 5, DeployKeys: []DeployKey{{ID: 301, Title: "push", Secret: "key", CanPush: true}},
					Variables: []Variable{{Key: "A", Secret: "a", Masked: true}, {Key: "H", Secret: "h", Hidden: true}, {Key: "P", Secret: "p", Protected: true}},
				},
				{ID: 12, Path: "acme/infra", Name: "Infra", Group: 5},
			},
			Runners: []Seeded{
				{ID: 42, Description: "b7", Type: "project_type", Token: "r42", Projects: []int{11, 12}, Tags: []string{"release"}, Age: 100 * time.Hour},
				{ID: 43, Description: "b8", Type: "group_type", Token: "r43", Groups: []int{5}, Untagged: true, Age: 100 * time.Hour},
				{ID: 44, Description: "old", Type: "instance_type", Token: "r44", Age: 900 * time.Hour, Managers: []SeedManager{{SystemID: "r_old", Seen: 400 * time.Hour, Version: "16.1.0"}}},
				{ID: 45, Description: "one", Type: "project_type", Token: "r45", Projects: []int{11}, Age: 100 * time.Hour},
			},
			Jobs: []SeedJob{
				{ID: 101, Project: 11, Name: "build", Status: "success", Runner: 42, Ago: time.Hour, Takes: time.Minute, Trace: "done\n"},
				{ID: 102, Project: 12, Name: "plan", Status: "failed", Runner: 42, Ago: time.Hour, Takes: time.Minute},
				{ID: 103, Project: 11, Name: "next", Status: "pending", Tags: []string{"release"}, Takes: time.Minute, Ref: "main"},
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.h = w.api.Handler()
	return w
}

func (w *world) token(name string) string {
	if name == "" || name == "wrong" {
		return name
	}
	v, err := w.api.PersonToken(name)
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

func (w *world) runnerToken(name string) string {
	v, err := w.api.RunnerToken(name)
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

// ask sends one request as a person; body is JSON text.
func (w *world) ask(who, method, path, body string) *httptest.ResponseRecorder {
	w.t.Helper()
	r := httptest.NewRequest(method, "/api/v4"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if t := w.token(who); t != "" {
		r.Header.Set("PRIVATE-TOKEN", t)
	}
	rec := httptest.NewRecorder()
	w.h.ServeHTTP(rec, r)
	return rec
}

// agent sends one request as an agent from 127.0.0.11.
func (w *world) agent(method, path string, body any, header ...string) *httptest.ResponseRecorder {
	w.t.Helper()
	var rd io.Reader
	switch b := body.(type) {
	case string:
		rd = strings.NewReader(b)
	default:
		enc, err := json.Marshal(b)
		if err != nil {
			w.t.Fatal(err)
		}
		rd = bytes.NewReader(enc)
	}
	r := httptest.NewRequest(method, "/api/v4"+path, rd)
	r.RemoteAddr = "127.0.0.11:41000"
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	rec := httptest.NewRecorder()
	w.h.ServeHTTP(rec, r)
	return rec
}

func (w *world) poll(token, systemID string) *httptest.ResponseRecorder {
	w.t.Helper()
	return w.agent("POST", "/jobs/request", map[string]any{"token": token, "system_id": systemID, "info": map[string]any{
		"version": "18.6.0", "features": map[string]any{"cancel_gracefully": true, "other": []int{1}},
	}})
}

func (w *world) effects() []string {
	var out []string
	for _, e := range w.ledger.Entries() {
		out = append(out, e.Effect+" "+e.Actor+" "+e.Target)
	}
	return out
}

func decode[T any](t *testing.T, rec *httptest.ResponseRecorder) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(rec.Body.Bytes(), &v); err != nil {
		t.Fatalf("%v in %.200q", err, rec.Body.String())
	}
	return v
}
