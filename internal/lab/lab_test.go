package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// served is a lab that runs for the length of a test.
type served struct {
	Ready
	t    *testing.T
	end  context.CancelFunc
	done chan error
}

// start serves a lab and waits for its ready line.
func start(t *testing.T, o Options) *served {
	t.Helper()
	if o.Dir == "" {
		o.Dir = filepath.Join(t.TempDir(), "lab")
	}
	if o.Scale == 0 {
		o.Scale = 200
	}
	if o.Seed == 0 {
		o.Seed = 7
	}
	r, w := io.Pipe()
	o.Ready = w
	ctx, cancel := context.WithCancel(context.Background())
	s := &served{t: t, end: cancel, done: make(chan error, 1)}
	go func() {
		err := Serve(ctx, o)
		w.CloseWithError(io.EOF)
		s.done <- err
	}()
	if err := json.NewDecoder(r).Decode(&s.Ready); err != nil {
		cancel()
		t.Fatalf("no ready line: %v; Serve: %v", err, <-s.done)
	}
	t.Cleanup(s.stop)
	return s
}

// stop ends the lab and fails the test if it did not end well.
func (s *served) stop() {
	s.end()
	if err, ok := <-s.done; ok && err != nil {
		s.t.Errorf("Serve: %v", err)
	}
	close(s.done)
	s.done = make(chan error)
	close(s.done)
}

// call sends a request with a token and decodes the answer into out, if any.
func (s *served) call(method, url, token string, body, out any) *http.Response {
	s.t.Helper()
	var rd io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			s.t.Fatal(err)
		}
		rd = bytes.NewReader(b)
	}
	if strings.HasPrefix(url, "/") {
		url = s.GitLab.URL + "/api/v4" + url
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, url, rd)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("PRIVATE-TOKEN", token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if out != nil {
		if err := json.Unmarshal(b, out); err != nil {
			s.t.Fatalf("%s %s: %v in %.200q", method, url, err, b)
		}
	}
	return resp
}

// until waits for something the lab does by itself; the bound is generous and real.
func (s *served) until(what string, ok func() bool) {
	s.t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-deadline:
			s.t.Fatalf("waited in vain for %s", what)
		case <-tick.C:
		}
	}
}

func TestServe(t *testing.T) {
	s := start(t, Options{})
	var v map[string]any
	resp := s.call("GET", s.Control+"/state", "", nil, &v)
	t.Log(resp.Status, v)
	s.until("jobs", func() bool {
		s.call("GET", s.Control+"/state", "", nil, &v)
		h := v["hosts"].(map[string]any)["build-07"].(map[string]any)["agents"].(map[string]any)["1204"].(map[string]any)
		return h["polls"].(float64) > 5 && h["jobs"].(float64) == 1
	})
	t.Log(v)
}
