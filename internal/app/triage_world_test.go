package app

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// world is a GitLab small enough to read, one configured host that counts who knocks,
// and a state directory.
type world struct {
	t     *testing.T
	srv   *httptest.Server
	dir   string
	state string
	knock atomic.Int32

	mu      sync.Mutex
	calls   []string // METHOD path?query, in order
	bodies  strings.Builder
	runners []map[string]any
	ips     map[int]string
	jobs    []map[string]any
	fail    map[string]int // path prefix to status
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, dir: t.TempDir(), ips: map[int]string{42: "127.0.0.77", 43: "127.0.0.78"}, fail: map[string]int{}}
	w.state = filepath.Join(w.dir, "state")
	w.runners = []map[string]any{w.runner(42, "build-07 shell"), w.runner(43, "build-08")}
	w.jobs = []map[string]any{w.job(500, "running", time.Hour), w.job(499, "success", 50*time.Hour), w.job(400, "success", 40*24*time.Hour)}
	w.srv = httptest.NewServer(w)
	t.Cleanup(w.srv.Close)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.knock.Add(1)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() {
		if n := w.knock.Load(); n != 0 {
			t.Errorf("a host was contacted %d times", n)
		}
	})
	t.Setenv("CORDON_TEST_TOKEN", "glpat-"+rand.Text())
	_, port, _ := net.SplitHostPort(l.Addr().String())
	w.write("cordon.yaml", fmt.Sprintf(`providers:
  gl:
    type: gitlab
    url: %s
    scopes: [instance]
    look: {env: CORDON_TEST_TOKEN}
    act: {env: CORDON_TEST_TOKEN}
hosts:
  build-07: {address: "127.0.0.77:%s", user: ir}
`, w.srv.URL, port))
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) open(edit ...func(*Options)) *App {
	w.t.Helper()
	o := Options{Config: filepath.Join(w.dir, "cordon.yaml"), State: w.state, Version: "test"}
	for _, e := range edit {
		e(&o)
	}
	a, err := Open(w.t.Context(), o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(a.Close)
	return a
}

func readOnly(o *Options) { o.ReadOnly = true }

func (w *world) runner(id int, name string) map[string]any {
	return map[string]any{
		"id": id, "description": name, "paused": false, "runner_type": "project_type", "online": true, "status": "online",
		"created_at": time.Now().Add(-time.Hour).UTC(),
	}
}

func (w *world) job(id int, status string, ago time.Duration) map[string]any {
	return map[string]any{
		"id": id, "name": "build", "ref": "main", "status": status, "created_at": time.Now().Add(-ago).UTC(), "started_at": time.Now().Add(-ago).UTC(),
		"user": map[string]any{"username": "rosa"}, "project": map[string]any{"id": 7, "path_with_namespace": "acme/web"},
	}
}

func (w *world) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	w.calls = append(w.calls, r.Method+" "+r.URL.RequestURI())
	fmt.Fprintln(&w.bodies, r.URL.String(), r.Header, string(body))
	rw.Header().Set("Content-Type", "application/json")
	path := strings.TrimPrefix(r.URL.EscapedPath(), "/api/v4/")
	for prefix, status := range w.fail {
		if strings.HasPrefix(path, prefix) {
			rw.WriteHeader(status)
			fmt.Fprint(rw, `{}`)
			return
		}
	}
	say := func(v any) { _ = json.NewEncoder(rw).Encode(v) }
	p := strings.Split(path, "/")
	switch {
	case path == "version":
		say(map[string]any{"version": "18.6.0"})
	case path == "runners/all":
		say(w.runners)
	case p[0] == "runners":
		w.one(rw, r, p, string(body))
	case len(p) == 4 && p[0] == "projects" && p[2] == "jobs":
		j := w.job(500, "running", time.Hour)
		j["runner"] = w.runners[0]
		say(j)
	case len(p) == 3 && p[0] == "projects" && p[2] == "runners":
		say(w.runners)
	default:
		rw.WriteHeader(404)
		fmt.Fprint(rw, `{}`)
	}
}

// one answers for one runner.
func (w *world) one(rw http.ResponseWriter, r *http.Request, p []string, body string) {
	say := func(v any) { _ = json.NewEncoder(rw).Encode(v) }
	id, _ := strconv.Atoi(p[1])
	i := slices.IndexFunc(w.runners, func(x map[string]any) bool { return x["id"] == id })
	if i < 0 {
		rw.WriteHeader(404)
		fmt.Fprint(rw, `{}`)
		return
	}
	switch {
	case r.Method == http.MethodPut:
		w.runners[i]["paused"] = strings.Contains(body, "true")
		fallthrough
	case len(p) == 2:
		d := map[string]any{"tag_list": []string{"shell"}, "contacted_at": time.Now().UTC(), "projects": []any{map[string]any{"id": 7, "path_with_namespace": "acme/web"}}}
		for k, v := range w.runners[i] {
			d[k] = v
		}
		say(d)
	case p[2] == "managers":
		say([]any{map[string]any{"id": id * 10, "system_id": fmt.Sprintf("s_%012d", id), "ip_address": w.ips[id], "status": "online", "version": "18.6.0"}})
	case p[2] == "jobs":
		out := []map[string]any{}
		for _, j := range w.jobs {
			if s := r.URL.Query().Get("status"); s == "" || s == j["status"] {
				out = append(out, j)
			}
		}
		say(out)
	}
}

// sent is what was asked since the last time, without the API's prefix.
func (w *world) sent() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.calls
	w.calls = nil
	for i, s := range out {
		out[i] = strings.Replace(s, "/api/v4/", "", 1)
	}
	return out
}

func (w *world) change(edit func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	edit()
}

func (w *world) triage(a *App, what string) Card {
	w.t.Helper()
	c, err := a.Triage(context.Background(), what)
	if err != nil {
		w.t.Fatalf("triage of %s: %v", what, err)
	}
	return c
}

// fact is the answer of the only runner to a question.
func fact(t *testing.T, c Card, id string) Fact {
	t.Helper()
	one := c.Only()
	if one == nil {
		t.Fatalf("%d runners, want one: %+v", len(c.Runners), c)
	}
	for _, a := range one.Answers {
		if a.ID == id {
			return a.Fact
		}
	}
	t.Fatalf("no answer to %s in %+v", id, one.Answers)
	return Fact{}
}
