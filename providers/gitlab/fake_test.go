package gitlab

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

// fake is a GitLab small enough to read: two projects, three runners, their managers
// and jobs. Its answers hold planted secrets where a real one could.
type fake struct {
	mu      sync.Mutex
	now     time.Time
	runners map[int64]*fakeRunner
	jobs    map[int64]*fakeJob
	scopes  []string
	effects map[string]int
	deny    map[string]int // path prefix: status
	perPage int            // how many rows a page really has; 0: all
	secrets planted
}

// planted are values that no output may show; each is in some answer.
type planted struct{ token, variable, note, reset string }

type fakeRunner struct {
	id        int64
	typ, name string
	paused    bool
	online    *bool
	status    string
	tags      []string
	locked    bool
	created   time.Time
	contact   time.Time
	projects  []int64
	managers  []map[string]any
}

type fakeJob struct {
	id, runner, project int64
	status              string
	finished            time.Time
	expires             time.Time // of its artifacts; zero: it has none
}

var projectPaths = map[int64]string{7: "acme/web", 8: "acme/tools/api"}

func newFake(now time.Time, s planted) *fake {
	yes := true
	manager := func(id int64, system, ip string) map[string]any {
		return map[string]any{
			"id": id, "system_id": system, "version": "18.6.0", "revision": "x", "platform": "linux", "architecture": "amd64",
			"created_at": stamp(now.Add(-48 * time.Hour)), "contacted_at": stamp(now.Add(-time.Minute)), "ip_address": ip, "status": "online",
			"token": s.token,
		}
	}
	return &fake{
		now: now, secrets: s, scopes: []string{"api"}, effects: map[string]int{}, deny: map[string]int{},
		runners: map[int64]*fakeRunner{
			42: {
				id: 42, typ: "project_type", name: "build-07 shell", online: &yes, status: "online", tags: []string{"shell", "deploy"},
				created: now.Add(-48 * time.Hour), contact: now.Add(-time.Minute), projects: []int64{7, 8},
				managers: []map[string]any{manager(91, "s_aaaa", "192.0.2.7"), manager(92, "s_bbbb", "192.0.2.8")},
			},
			43: {
				id: 43, typ: "project_type", name: "build-08", online: &yes, status: "online", tags: []string{"shell", "deploy"},
				created: now.Add(-48 * time.Hour), contact: now.Add(-time.Minute), projects: []int64{7},
				managers: []map[string]any{manager(93, "s_cccc", "192.0.2.9")},
			},
			44: {id: 44, typ: "group_type", name: "never used", status: "never_contacted", created: now.Add(-48 * time.Hour), managers: []map[string]any{}},
		},
		jobs: map[int64]*fakeJob{
			500: {id: 500, runner: 42, project: 7, status: "running"},
			499: {id: 499, runner: 42, project: 8, status: "success", finished: now.Add(-2 * time.Hour)},
		},
	}
}

func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w.Header().Set("X-Request-Id", "01REQUEST")
	path := strings.TrimPrefix(r.URL.EscapedPath(), "/api/v4/")
	for prefix, status := range f.deny {
		if strings.HasPrefix(path, prefix) {
			f.say(w, status, map[string]string{"message": http.StatusText(status) + " " + f.secrets.note})
			return
		}
	}
	p := strings.Split(path, "/")
	switch {
	case path == "version":
		f.say(w, 200, map[string]string{"version": "18.6.0-ee"})
	case path == "user":
		f.say(w, 200, map[string]any{"id": 9, "username": "ir-look", "bot": true, "private_token": f.secrets.token})
	case path == "personal_access_tokens/self":
		f.say(w, 200, map[string]any{"id": 1, "active": true, "scopes": f.scopes, "token": f.secrets.token})
	case path == "runners" || path == "runners/all" || len(p) == 3 && p[2] == "runners":
		f.list(w, r)
	case p[0] == "runners":
		f.runner(w, r, p[1:])
	case p[len(p)-1] == "variables":
		f.say(w, 200, []any{
			map[string]any{"key": "DEPLOY_KEY", "value": f.secrets.variable, "protected": true, "environment_scope": "production"},
			map[string]any{"key": "CACHE", "value": f.secrets.variable, "protected": false, "environment_scope": "*"},
		})
	case len(p) == 3 && p[2] == "deploy_keys":
		f.say(w, 200, []any{map[string]any{"id": 1, "title": "pusher", "key": f.secrets.variable, "can_push": true}})
	case len(p) >= 4 && p[0] == "projects" && p[2] == "jobs":
		f.job(w, r, p[3:])
	default:
		f.say(w, 404, map[string]string{"error": "404 Not Found"})
	}
}

func (f *fake) say(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// pageOf answers one page with X-Next-Page and without totals, as for long lists.
func (f *fake) pageOf(w http.ResponseWriter, r *http.Request, rows []any) {
	n := f.perPage
	if n == 0 {
		n = max(len(rows), 1)
	}
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	page = max(page, 1)
	from := min((page-1)*n, len(rows))
	to := min(from+n, len(rows))
	if to < len(rows) {
		w.Header().Set("X-Next-Page", strconv.Itoa(page+1))
	}
	if rows = rows[from:to]; rows == nil {
		rows = []any{}
	}
	f.say(w, 200, rows)
}

func (f *fake) list(w http.ResponseWriter, r *http.Request) {
	var rows []any
	for _, id := range []int64{42, 43, 44, 45} {
		x, ok := f.runners[id]
		if !ok || r.URL.Query().Get("paused") == "false" && x.paused {
			continue
		}
		if want := r.URL.Query().Get("tag_list"); want != "" &&
			slices.ContainsFunc(strings.Split(want, ","), func(t string) bool { return !slices.Contains(x.tags, t) }) {
			continue
		}
		rows = append(rows, f.basic(x))
	}
	f.pageOf(w, r, rows)
}

func (f *fake) basic(x *fakeRunner) map[string]any {
	status := x.status
	if x.paused {
		status = "paused"
	}
	return map[string]any{
		"id": x.id, "description": x.name, "active": !x.paused, "paused": x.paused, "is_shared": false, "runner_type": x.typ,
		"name": "gitlab-runner", "online": x.online, "status": status, "ip_address": "", "created_at": stamp(x.created),
		"token": f.secrets.token,
	}
}

func (f *fake) details(x *fakeRunner, projects bool) map[string]any {
	out := f.basic(x)
	out["tag_list"], out["run_untagged"], out["locked"], out["access_level"] = x.tags, false, x.locked, "not_protected"
	out["contacted_at"], out["maintenance_note"], out["maximum_timeout"] = stamp(x.contact), f.secrets.note, nil
	out["version"], out["groups"] = nil, []any{}
	if projects {
		list := []any{}
		for _, id := range x.projects {
			list = append(list, map[string]any{"id": id, "path_with_namespace": projectPaths[id], "runners_token": f.secrets.token})
		}
		out["projects"] = list
	}
	return out
}

func (f *fake) runner(w http.ResponseWriter, r *http.Request, p []string) {
	id, _ := strconv.ParseInt(p[0], 10, 64)
	x, ok := f.runners[id]
	if !ok {
		f.say(w, 404, map[string]string{"message": "404 Runner Not Found"})
		return
	}
	sub := strings.Join(p[1:], "/")
	switch r.Method + " " + sub {
	case "GET ":
		f.say(w, 200, f.details(x, r.URL.Query().Get("include_projects") != "false"))
	case "PUT ":
		var in struct{ Paused *bool }
		if json.NewDecoder(r.Body).Decode(&in) != nil || in.Paused == nil {
			f.say(w, 400, map[string]string{"error": "paused is missing"})
			return
		}
		f.effects[map[bool]string{true: "pause", false: "resume"}[*in.Paused]]++
		x.paused = *in.Paused
		f.say(w, 200, f.details(x, true))
	case "DELETE ":
		f.effects["deregister"]++
		delete(f.runners, id)
		w.WriteHeader(http.StatusNoContent)
	case "POST reset_authentication_token":
		f.effects["rotate"]++
		f.say(w, 201, map[string]any{"token": f.secrets.reset, "token_expires_at": nil})
	case "GET managers":
		f.say(w, 200, x.managers)
	case "GET jobs":
		f.jobList(w, r, id)
	default:
		f.say(w, 405, map[string]string{"error": "405 Not Allowed"})
	}
}

func (f *fake) jobList(w http.ResponseWriter, r *http.Request, runner int64) {
	var ids []int64
	for id, j := range f.jobs {
		if want := r.URL.Query().Get("status"); j.runner == runner && (want == "" || want == j.status) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	var rows []any
	for _, id := range ids {
		rows = append(rows, f.jobRow(f.jobs[id]))
	}
	f.pageOf(w, r, rows)
}

func (f *fake) jobRow(j *fakeJob) map[string]any {
	return map[string]any{
		"id": j.id, "name": "build", "ref": "main", "status": j.status, "created_at": stamp(f.now.Add(-time.Hour)), "started_at": nil,
		"finished_at": stamp(j.finished), "web_url": "http://elsewhere.invalid/x", "user": map[string]any{"username": "mallory", "token": f.secrets.token},
		"project": map[string]any{"id": j.project, "path_with_namespace": projectPaths[j.project]},
		"commit":  map[string]any{"message": f.secrets.note},
	}
}

func (f *fake) job(w http.ResponseWriter, r *http.Request, p []string) {
	id, _ := strconv.ParseInt(p[0], 10, 64)
	j, ok := f.jobs[id]
	if !ok {
		f.say(w, 404, map[string]string{"message": "404 Not Found"})
		return
	}
	if r.Method == http.MethodGet {
		row := f.jobRow(j)
		if x, ok := f.runners[j.runner]; ok {
			row["runner"] = f.basic(x)
		}
		row["artifacts_expire_at"] = stamp(j.expires)
		f.say(w, 200, row)
		return
	}
	var in struct{ Force bool }
	_ = json.NewDecoder(r.Body).Decode(&in)
	f.effects["cancel"]++
	switch {
	case in.Force && j.status == "canceling":
		j.status = "canceled"
	case j.status == "running":
		j.status = "canceling"
	}
	f.say(w, 201, f.jobRow(j))
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

func (f *fake) String() string { return fmt.Sprintf("fake GitLab with %d runners", len(f.runners)) }
