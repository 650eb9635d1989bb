package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"

	"cordon/internal/lab/fault"
)

// hideJobs puts somebody between cordon and the lab's GitHub who takes every run out of
// what is read: GitHub then counts the runner as busy and shows no job on it
// (actions/runner#3775).
func (w *world) hideJobs() {
	w.t.Helper()
	b, err := os.ReadFile(w.ready.Config)
	if err != nil {
		w.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "url: ")
	base, _, _ := strings.Cut(rest, "\n")
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		w.t.Fatalf("no URL in the lab's configuration: %q, %v", base, err)
	}
	p := httputil.NewSingleHostReverseProxy(u)
	p.ModifyResponse = func(r *http.Response) error {
		if r.StatusCode != http.StatusOK || !strings.HasSuffix(r.Request.URL.Path, "/actions/runs") {
			return nil
		}
		_ = r.Body.Close() // another body stands in its place
		empty, err := json.Marshal(map[string]any{"total_count": 0, "workflow_runs": []any{}})
		if err != nil {
			return err
		}
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(string(empty))), int64(len(empty))
		r.Header.Del("Content-Length")
		r.Header.Del("ETag")
		r.Header.Del("Link")
		return nil
	}
	srv := httptest.NewServer(p)
	w.t.Cleanup(srv.Close)
	if err := os.WriteFile(w.ready.Config, []byte(strings.Replace(string(b), base, srv.URL, 1)), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// A runner that GitHub holds to be busy while none of its jobs can be seen: nothing can be
// cancelled, GitHub refuses the removal, and a walk without a person says both and ends.
func TestARunnerThatIsBusyWithAJobThatNobodySees(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("short: the standing answer is tested alone")
	}
	w := newWorld(t, "--scenario", githubScenario, "--fault", fault.Busy422)
	w.hideJobs()
	s := w.cordon("contain", w.ready.Runner, "--host", w.ready.Target.Host, "--case", "K", "--yes", "--reason", "exercise")
	if s.code != 1 || ending(s.out) != "refused (exit 1)" || s.err != "" {
		t.Errorf("ends %q with code %d\n%s%s", ending(s.out), s.code, tail(s.out), s.err)
	}
	if !noted(s.out, "no job was found on GitHub says that it is busy") {
		t.Errorf("no note says why nothing was cancelled\n%s", tail(s.out))
	}
	if all := w.effects(); count(all, "run.cancel", "") != 0 || count(all, "runner.delete", "") != 0 || count(all, "runner.move", "act") != 1 {
		t.Errorf("%+v", all)
	}
}
