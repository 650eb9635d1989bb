package github

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// fake is a GitHub small enough to read, in the form of an Enterprise Server (/api/v3).
// Its answers hold planted secrets where a real one could. Files that need more of it add
// their routes with fakeRoutes and keep their state in more.
type fake struct {
	mu      sync.Mutex
	now     time.Time
	mux     *http.ServeMux
	runners map[string]map[int64]*fakeRunner // by scope prefix: "orgs/acme", "repos/acme/web", "enterprises/big"
	groups  map[string]map[int64]*fakeGroup  // by scope prefix
	repos   map[string]*fakeRepo             // by owner/name
	orgs    []string                         // of the user
	types   map[string]string                // of accounts, Organization or User
	user    map[string]any
	headers map[string]string // on every answer
	limit   int               // X-RateLimit-Limit; 0: no such headers
	used    int
	deny    map[string]int // path prefix: status
	effects map[string]int
	asked   map[string]int // by "METHOD path"
	secrets planted
	clock   func() time.Time // of Date; nil: the machine's
	more    map[string]any
}

// planted are values that no output may show; each is in some answer.
type planted struct{ token, variable, note string }

type fakeRunner struct {
	ID        int64       `json:"id"`
	GroupID   int64       `json:"runner_group_id,omitempty"`
	Name      string      `json:"name"`
	OS        string      `json:"os"`
	Status    string      `json:"status"`
	Busy      bool        `json:"busy"`
	Ephemeral bool        `json:"ephemeral"`
	Version   *string     `json:"version"`
	Labels    []fakeLabel `json:"labels"`
	Token     string      `json:"token"` // no real answer has it; what is not decoded cannot be shown
}

type fakeLabel struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	Type string `json:"type"`
}

type fakeGroup struct {
	ID         int64    `json:"id"`
	Name       string   `json:"name"`
	Visibility string   `json:"visibility"`
	Default    bool     `json:"default"`
	Inherited  bool     `json:"inherited"`
	Public     bool     `json:"allows_public_repositories"`
	Restricted bool     `json:"restricted_to_workflows"`
	Workflows  []string `json:"selected_workflows"`
	Repos      []int64  `json:"-"`
}

type fakeRepo struct {
	id      int64
	path    string // OWNER/NAME
	admin   bool
	private bool
}

// fakeRoutes are added to every fake; the lock is held while a handler runs.
var fakeRoutes []func(*fake)

func newFake(now time.Time, s planted) *fake {
	version := "2.336.0"
	self := []fakeLabel{{1, "self-hosted", "read-only"}, {2, "Linux", "read-only"}, {3, "X64", "read-only"}}
	f := &fake{
		now: now, secrets: s, mux: http.NewServeMux(), headers: map[string]string{}, deny: map[string]int{}, effects: map[string]int{},
		asked: map[string]int{}, more: map[string]any{}, orgs: []string{"acme"}, types: map[string]string{"acme": "Organization", "ir-look": "User"},
		user: map[string]any{"login": "ir-look", "id": 9, "type": "User", "site_admin": false, "token": s.token},
		runners: map[string]map[int64]*fakeRunner{
			"orgs/acme": {
				23: {ID: 23, GroupID: 2, Name: "build-07", OS: "Linux", Status: "online", Busy: true, Version: &version, Labels: append(slices.Clone(self), fakeLabel{0, "deploy", "custom"}, fakeLabel{0, "gpu", "custom"})},
				24: {ID: 24, GroupID: 1, Name: "build-08", OS: "Linux", Status: "online", Version: &version, Labels: append(slices.Clone(self), fakeLabel{0, "deploy", "custom"})},
				25: {ID: 25, GroupID: 1, Name: "never used", OS: "unknown", Status: "offline", Ephemeral: true, Labels: slices.Clone(self)},
			},
			"repos/acme/web":   {7: {ID: 7, Name: "web-1", OS: "Linux", Status: "offline", Version: &version, Labels: append(slices.Clone(self), fakeLabel{0, "web", "custom"})}},
			"repos/acme/tools": {},
			"enterprises/big":  {3: {ID: 3, GroupID: 1, Name: "big-1", OS: "Windows", Status: "online", Labels: slices.Clone(self)}},
		},
		groups: map[string]map[int64]*fakeGroup{
			"orgs/acme": {
				1: {ID: 1, Name: "Default", Visibility: "all", Default: true, Workflows: []string{}},
				2: {ID: 2, Name: "release", Visibility: "selected", Repos: []int64{100}, Workflows: []string{}},
			},
			"enterprises/big": {1: {ID: 1, Name: "Default", Visibility: "all", Default: true, Workflows: []string{}}},
		},
		repos: map[string]*fakeRepo{
			"acme/web": {100, "acme/web", true, true}, "acme/tools": {101, "acme/tools", true, true}, "acme/site": {102, "acme/site", false, false},
		},
	}
	for _, n := range f.runners {
		for _, r := range n {
			r.Token = s.token
		}
	}
	f.coreRoutes()
	for _, add := range fakeRoutes {
		add(f)
	}
	return f
}

// handle adds a route below /api/v3, such as "GET /orgs/{org}/actions/runners".
func (f *fake) handle(route string, h func(w http.ResponseWriter, r *http.Request)) {
	method, path, _ := strings.Cut(route, " ")
	f.mux.HandleFunc(method+" /api/v3"+path, h)
}

// handleScoped adds a route below each kind of scope; h gets the scope's prefix.
func (f *fake) handleScoped(method, rest string, h func(at string, w http.ResponseWriter, r *http.Request)) {
	f.handle(method+" /enterprises/{enterprise}"+rest, func(w http.ResponseWriter, r *http.Request) {
		h("enterprises/"+r.PathValue("enterprise"), w, r)
	})
	f.handle(method+" /orgs/{org}"+rest, func(w http.ResponseWriter, r *http.Request) { h("orgs/"+r.PathValue("org"), w, r) })
	f.handle(method+" /repos/{owner}/{repo}"+rest, func(w http.ResponseWriter, r *http.Request) {
		h("repos/"+r.PathValue("owner")+"/"+r.PathValue("repo"), w, r)
	})
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path := strings.TrimPrefix(r.URL.EscapedPath(), "/api/v3/")
	f.asked[r.Method+" "+path]++
	h := w.Header()
	h.Set("X-GitHub-Request-Id", "ABCD:1234")
	if f.clock != nil {
		h.Set("Date", f.clock().UTC().Format(http.TimeFormat))
	}
	for k, v := range f.headers {
		h.Set(k, v)
	}
	if f.limit > 0 {
		f.used++
		h.Set("X-RateLimit-Limit", strconv.Itoa(f.limit))
		h.Set("X-RateLimit-Remaining", strconv.Itoa(max(f.limit-f.used, 0)))
		h.Set("X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10))
		h.Set("X-RateLimit-Resource", "core")
		if f.used > f.limit {
			f.say(w, 403, map[string]string{"message": "API rate limit exceeded for user ID 9. " + f.secrets.note})
			return
		}
	}
	for prefix, status := range f.deny {
		if strings.HasPrefix(path, prefix) {
			f.say(w, status, map[string]string{"message": http.StatusText(status) + " " + f.secrets.note})
			return
		}
	}
	f.mux.ServeHTTP(w, r)
}

func (f *fake) coreRoutes() {
	f.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { f.say(w, 404, map[string]string{"message": "Not Found"}) })
	f.handle("GET /user", func(w http.ResponseWriter, _ *http.Request) { f.say(w, 200, f.user) })
	f.handle("GET /user/orgs", func(w http.ResponseWriter, r *http.Request) {
		var rows []any
		for i, o := range f.orgs {
			rows = append(rows, map[string]any{"id": i + 1, "login": o})
		}
		f.pageOf(w, r, "", rows)
	})
	f.handle("GET /users/{user}", func(w http.ResponseWriter, r *http.Request) {
		kind, ok := f.types[r.PathValue("user")]
		if !ok {
			f.say(w, 404, map[string]string{"message": "Not Found"})
			return
		}
		f.say(w, 200, map[string]any{"login": r.PathValue("user"), "id": 1, "type": kind})
	})
	repos := func(owner string, w http.ResponseWriter, r *http.Request) {
		var rows []any
		for _, path := range sortedKeys(f.repos) {
			if owner == "" || strings.HasPrefix(path, owner+"/") {
				rows = append(rows, f.repoRow(f.repos[path]))
			}
		}
		f.pageOf(w, r, "", rows)
	}
	f.handle("GET /user/repos", func(w http.ResponseWriter, r *http.Request) { repos("", w, r) })
	f.handle("GET /orgs/{org}/repos", func(w http.ResponseWriter, r *http.Request) { repos(r.PathValue("org"), w, r) })
	f.handle("GET /users/{user}/repos", func(w http.ResponseWriter, r *http.Request) { repos(r.PathValue("user"), w, r) })
	f.handle("GET /repos/{owner}/{repo}", func(w http.ResponseWriter, r *http.Request) {
		x, ok := f.repos[r.PathValue("owner")+"/"+r.PathValue("repo")]
		if !ok {
			f.say(w, 404, map[string]string{"message": "Not Found"})
			return
		}
		f.say(w, 200, f.repoRow(x))
	})
	f.handleScoped("GET", "/actions/runners", f.listRunners)
	f.handleScoped("GET", "/actions/runners/{id}", func(at string, w http.ResponseWriter, r *http.Request) {
		if x := f.runner(at, w, r); x != nil {
			f.say(w, 200, x)
		}
	})
	f.handleScoped("GET", "/actions/runner-groups", func(at string, w http.ResponseWriter, r *http.Request) {
		var rows []any
		for _, id := range sortedKeys(f.groups[at]) {
			rows = append(rows, f.groups[at][id])
		}
		f.pageOf(w, r, "runner_groups", rows)
	})
}

// runner is the one that a request is about, or nil after a 404 was said.
func (f *fake) runner(at string, w http.ResponseWriter, r *http.Request) *fakeRunner {
	id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64)
	x, ok := f.runners[at][id]
	if !ok {
		f.say(w, 404, map[string]string{"message": "Not Found", "documentation_url": "https://docs.github.com/rest"})
		return nil
	}
	return x
}

func (f *fake) repoRow(x *fakeRepo) map[string]any {
	owner, name, _ := strings.Cut(x.path, "/")
	return map[string]any{
		"id": x.id, "name": name, "full_name": x.path, "private": x.private, "default_branch": "main", "archived": false,
		"owner": map[string]any{"login": owner, "type": "Organization"}, "permissions": map[string]bool{"admin": x.admin, "push": true, "pull": true},
		"temp_clone_token": f.secrets.token,
	}
}

func (f *fake) listRunners(at string, w http.ResponseWriter, r *http.Request) {
	all, ok := f.runners[at]
	if !ok {
		f.say(w, 404, map[string]string{"message": "Not Found"})
		return
	}
	var rows []any
	for _, id := range sortedKeys(all) {
		if name := r.URL.Query().Get("name"); name == "" || name == all[id].Name {
			rows = append(rows, all[id])
		}
	}
	f.pageOf(w, r, "runners", rows)
}

// pageOf answers one page with Link, whose address is elsewhere as in a proxy's answer:
// only its number may be used. key "": a bare array without total_count.
func (f *fake) pageOf(w http.ResponseWriter, r *http.Request, key string, rows []any) {
	n, _ := strconv.Atoi(r.URL.Query().Get("per_page"))
	if n <= 0 || n > 100 {
		n = 30
	}
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	page = max(page, 1)
	from := min((page-1)*n, len(rows))
	to := min(from+n, len(rows))
	if to < len(rows) {
		w.Header().Set("Link", fmt.Sprintf(`<https://elsewhere.invalid/x?page=%d>; rel="next", <https://elsewhere.invalid/x?page=%d>; rel="last"`, page+1, (len(rows)+n-1)/n))
	}
	total := len(rows)
	if rows = rows[from:to]; rows == nil {
		rows = []any{}
	}
	if key == "" {
		f.say(w, 200, rows)
		return
	}
	f.say(w, 200, map[string]any{"total_count": total, key: rows})
}

func (f *fake) say(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	if v != nil {
		_ = json.NewEncoder(w).Encode(v)
	}
}

// change edits the fake under its lock.
func (f *fake) change(edit func(*fake)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	edit(f)
}

func (f *fake) count(effect string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.effects[effect]
}

func (f *fake) String() string { return fmt.Sprintf("fake GitHub with %d scopes", len(f.runners)) }

func sortedKeys[K int64 | string, V any](m map[K]V) []K {
	out := make([]K, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
