package github

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"cordon/internal/redact"
	"cordon/internal/secret"
	"cordon/internal/transport"
	"cordon/providers/providertest"
)

// past is what a GitHub tells of what happened: runs and their jobs with the limit of
// 1,000 results, lists of names, what was published, and the audit log. What it does not
// have is asked of the fake behind it.
type past struct {
	mu     sync.Mutex
	mux    *http.ServeMux
	behind *fake
	runs   map[string][]*pastRun // by owner/name
	lists  map[string]any        // answers by path below /api/v3/, whole
	paged  map[string]pagedList
	deny   map[string]int // by path prefix
	asked  []string       // path?query, in order
	limit  int            // X-RateLimit-Limit; 0: not told
	audit  []map[string]any
	pages  int // entries of the audit log in an answer; 0: all
	hook   func(asked string)
}

type pagedList struct {
	key  string
	rows []any
}

type pastRun struct {
	id                    int64
	created, updated      time.Time
	event, actor, trigger string
	branch, sha, path     string
	head                  string // full name of the repository of the commit; "": gone
	workflow              int64
	attempt               int
	status                string
	uses                  []string
	jobs                  []pastJob
	began                 map[int]string // who started an attempt that is neither the first nor the last
}

type pastJob struct {
	id, runner       int64
	attempt          int
	name, runnerName string
	status           string
	began, ended     time.Time
}

const pastSHA = "0123456789abcdef0123456789abcdef01234567"

func (p *past) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, pattern := p.mux.Handler(r); pattern == "" {
		p.behind.ServeHTTP(w, r)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	path := strings.TrimPrefix(r.URL.EscapedPath(), "/api/v3/")
	p.asked = append(p.asked, path+"?"+r.URL.RawQuery)
	if p.hook != nil {
		p.hook(p.asked[len(p.asked)-1])
	}
	if p.limit > 0 {
		w.Header().Set("X-RateLimit-Limit", strconv.Itoa(p.limit))
		w.Header().Set("X-RateLimit-Remaining", strconv.Itoa(max(p.limit-len(p.asked), 0)))
		w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10))
	}
	for prefix, status := range p.deny {
		if strings.HasPrefix(path, prefix) {
			p.behind.say(w, status, map[string]string{"message": p.behind.secrets.note})
			return
		}
	}
	p.mux.ServeHTTP(w, r)
}

func (p *past) count(substring string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, a := range p.asked {
		if strings.Contains(a, substring) {
			n++
		}
	}
	return n
}

func (p *past) change(edit func(*past)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	edit(p)
}

// openPast is a provider over a past. Its window begins a day ago: since.
func openPast(t *testing.T, edit ...func(*Options)) (l *lab, p *past, since time.Time) {
	t.Helper()
	f := newFake(time.Now(), planted{token: random("ghs_"), variable: random("pässwort/"), note: random("note+")})
	p = &past{behind: f, mux: http.NewServeMux(), runs: map[string][]*pastRun{}, lists: map[string]any{}, paged: map[string]pagedList{}, deny: map[string]int{}}
	p.routes()
	l = &lab{fake: f, wire: &providertest.Wire{Service: p}}
	s := httptest.NewServer(l.wire)
	t.Cleanup(s.Close)
	l.base = s.URL
	api, err := API(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	cred := func(context.Context) (secret.Secret, error) { return secret.New(random("github_pat_")), nil }
	l.tr = transport.New(transport.Options{
		System: "gh", Base: api, Reads: Reads(), Look: cred, Auth: Auth,
		Limits: transport.Limits{Body: 1 << 20, Wait: providertest.Wait, Pause: time.Millisecond},
	})
	t.Cleanup(l.tr.CloseIdleConnections)
	o := Options{Name: "gh", URL: s.URL, Scopes: []string{"organization:acme", "repository:acme/web"}, HTTP: l.tr, Marker: redact.NewMarker([]byte(random("")))}
	for _, e := range edit {
		e(&o)
	}
	if l.Provider, err = New(o); err != nil {
		t.Fatal(err)
	}
	return l, p, time.Now().UTC().Add(-24 * time.Hour).Truncate(time.Second)
}

// run adds a run of acme/web, over, with jobs; edit says what is different about it.
func (p *past) run(repo string, id int64, created time.Time, edit func(*pastRun), jobs ...pastJob) *pastRun {
	r := &pastRun{
		id: id, created: created, updated: created.Add(10 * time.Minute), event: "push", actor: "alice", branch: "main", sha: pastSHA,
		path: ".github/workflows/ci.yml", head: repo, workflow: 5, attempt: 1, status: "completed", jobs: jobs,
	}
	if edit != nil {
		edit(r)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs[repo] = append(p.runs[repo], r)
	return r
}

// on is a job that ran on build-07, runner 23 of the organization.
func on(id int64, name string, began time.Time) pastJob {
	return pastJob{id: id, runner: 23, runnerName: "build-07", attempt: 1, name: name, status: "completed", began: began, ended: began.Add(5 * time.Minute)}
}

func (p *past) handle(route string, h func(w http.ResponseWriter, r *http.Request)) {
	p.mux.HandleFunc("GET /api/v3"+route, h)
}

func (p *past) routes() {
	p.handle("/repos/{owner}/{repo}/actions/runs", func(w http.ResponseWriter, r *http.Request) {
		var rows []any
		q := r.URL.Query()
		all := slices.Clone(p.runs[repoOf(r)])
		slices.SortStableFunc(all, func(a, b *pastRun) int { return b.created.Compare(a.created) })
		for _, x := range all {
			if inside(q.Get("created"), x.created) && (q.Get("actor") == "" || q.Get("actor") == x.actor) && (q.Get("status") == "" || q.Get("status") == x.status) {
				rows = append(rows, x.row(repoOf(r), p.behind.secrets))
			}
		}
		total := len(rows)
		filtered := len(q) > 2
		if filtered && len(rows) > mostFiltered {
			rows = rows[:mostFiltered]
		}
		n, _ := strconv.Atoi(q.Get("per_page"))
		page, _ := strconv.Atoi(q.Get("page"))
		from := min((max(page, 1)-1)*n, len(rows))
		to := min(from+n, len(rows))
		if to < len(rows) {
			w.Header().Set("Link", fmt.Sprintf(`<https://elsewhere.invalid/x?page=%d>; rel="next"`, max(page, 1)+1))
		}
		p.behind.say(w, 200, map[string]any{"total_count": total, "workflow_runs": append([]any{}, rows[from:to]...)})
	})
	p.handle("/repos/{owner}/{repo}/actions/runs/{id}", func(w http.ResponseWriter, r *http.Request) {
		if x := p.find(r); x != nil {
			p.behind.say(w, 200, x.row(repoOf(r), p.behind.secrets))
			return
		}
		p.behind.say(w, 404, nil)
	})
	p.handle("/repos/{owner}/{repo}/actions/runs/{id}/attempts/{n}", func(w http.ResponseWriter, r *http.Request) {
		x, n := p.find(r), int(pathNumber(r, "n"))
		if x == nil || n < 1 || n > x.attempt {
			p.behind.say(w, 404, nil)
			return
		}
		row := x.row(repoOf(r), p.behind.secrets)
		row["run_attempt"] = n
		if by := x.began[n]; by != "" {
			row["triggering_actor"] = map[string]any{"login": by}
		}
		p.behind.say(w, 200, row)
	})
	p.handle("/repos/{owner}/{repo}/actions/runs/{id}/jobs", func(w http.ResponseWriter, r *http.Request) {
		x := p.find(r)
		if x == nil {
			p.behind.say(w, 404, nil)
			return
		}
		var rows []any
		for _, j := range x.jobs {
			if r.URL.Query().Get("filter") == "all" || j.attempt == x.attempt {
				rows = append(rows, j.row(x))
			}
		}
		p.behind.pageOf(w, r, "jobs", rows)
	})
	p.handle("/repos/{owner}/{repo}/actions/jobs/{id}", func(w http.ResponseWriter, r *http.Request) {
		for _, x := range p.runs[repoOf(r)] {
			for _, j := range x.jobs {
				if strconv.FormatInt(j.id, 10) == r.PathValue("id") {
					p.behind.say(w, 200, j.row(x))
					return
				}
			}
		}
		p.behind.say(w, 404, nil)
	})
	for _, at := range []string{"/orgs/{org}", "/enterprises/{enterprise}"} {
		p.handle(at+"/audit-log", p.auditLog)
	}
	p.handle("/orgs/{org}/actions/runner-groups/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64)
		g, ok := p.behind.groups["orgs/"+r.PathValue("org")][id]
		if !ok {
			p.behind.say(w, 404, nil)
			return
		}
		p.behind.say(w, 200, g)
	})
	for _, route := range []string{
		"/orgs/{org}/actions/runner-groups/{id}/repositories", "/orgs/{org}/repos", "/orgs/{org}/dependabot/secrets", "/orgs/{org}/packages",
		"/orgs/{org}/packages/{type}/{name}/versions", "/users/{user}/packages",
		"/repos/{owner}/{repo}/actions/{list}", "/repos/{owner}/{repo}/actions/permissions/artifact-and-log-retention",
		"/repos/{owner}/{repo}/dependabot/secrets", "/repos/{owner}/{repo}/environments", "/repos/{owner}/{repo}/environments/{env}/{list}",
		"/repos/{owner}/{repo}/keys", "/repos/{owner}/{repo}/teams", "/repos/{owner}/{repo}/properties/values",
		"/repos/{owner}/{repo}/contents/{path...}", "/repos/{owner}/{repo}/commits", "/repos/{owner}/{repo}/deployments",
		"/repos/{owner}/{repo}/releases", "/repos/{owner}/{repo}/events", "/repos/{owner}/{repo}/attestations/{digest}",
	} {
		p.handle(route, p.answer)
	}
}

// answer gives what is in lists or paged for the path, or a list of nothing.
func (p *past) answer(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("list") == "runners" {
		p.behind.ServeHTTP(w, r)
		return
	}
	path := strings.TrimPrefix(r.URL.EscapedPath(), "/api/v3/")
	path, _ = url.PathUnescape(path)
	if v, ok := p.lists[path]; ok {
		p.behind.say(w, 200, v)
		return
	}
	l, ok := p.paged[path]
	if !ok {
		last := path[strings.LastIndexByte(path, '/')+1:]
		key, known := map[string]string{
			"secrets": "secrets", "organization-secrets": "secrets", "variables": "variables", "organization-variables": "variables",
			"environments": "environments", "caches": "actions_caches", "artifacts": "artifacts", "workflows": "workflows", "repositories": "repositories",
			"keys": "", "commits": "", "deployments": "", "releases": "", "events": "", "packages": "", "versions": "", "repos": "",
		}[last]
		if !known {
			p.behind.say(w, 404, nil)
			return
		}
		l = pagedList{key: key}
	}
	p.behind.pageOf(w, r, l.key, l.rows)
}

func (p *past) auditLog(w http.ResponseWriter, r *http.Request) {
	from, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Query().Get("after"), "cursor-"))
	rows := slices.DeleteFunc(slices.Clone(p.audit), func(row map[string]any) bool {
		action, _ := row["action"].(string)
		for word := range strings.FieldsSeq(r.URL.Query().Get("phrase")) {
			if want, ok := strings.CutPrefix(word, "action:"); ok && action != want && !strings.HasPrefix(action, want+".") {
				return true
			}
		}
		return r.URL.Query().Get("include") == "web" && strings.HasPrefix(action, "git.")
	})
	rows = rows[min(from, len(rows)):]
	if p.pages > 0 && len(rows) > p.pages {
		rows = rows[:p.pages]
		w.Header().Set("Link", fmt.Sprintf(`<https://elsewhere.invalid/audit?after=cursor-%d&before=>; rel="next"`, from+p.pages))
	}
	p.behind.say(w, 200, append([]map[string]any{}, rows...))
}

func (p *past) find(r *http.Request) *pastRun {
	for _, x := range p.runs[repoOf(r)] {
		if strconv.FormatInt(x.id, 10) == r.PathValue("id") {
			return x
		}
	}
	return nil
}

func repoOf(r *http.Request) string { return r.PathValue("owner") + "/" + r.PathValue("repo") }

// inside reads GitHub's search for times: A..B, >=A, <A.
func inside(created string, at time.Time) bool {
	parse := func(s string) time.Time { t, _ := time.Parse(time.RFC3339, s); return t }
	if a, b, ok := strings.Cut(created, ".."); ok {
		return !at.Before(parse(a)) && !at.Truncate(time.Second).After(parse(b))
	}
	switch {
	case strings.HasPrefix(created, ">="):
		return !at.Before(parse(created[2:]))
	case strings.HasPrefix(created, "<"):
		return at.Before(parse(created[1:]))
	}
	return true
}

func (x *pastRun) row(repo string, s planted) map[string]any {
	m := map[string]any{
		"id": x.id, "head_branch": x.branch, "head_sha": x.sha, "path": x.path, "event": x.event, "status": x.status, "run_attempt": x.attempt,
		"workflow_id": x.workflow, "created_at": stamp(x.created), "updated_at": stamp(x.updated), "run_started_at": stamp(x.updated),
		"actor": map[string]any{"login": x.actor}, "triggering_actor": map[string]any{"login": either(x.trigger, x.actor)},
		"repository": map[string]any{"full_name": repo}, "head_repository": nil, "display_title": s.note, "token": s.token,
	}
	if x.head != "" {
		m["head_repository"] = map[string]any{"full_name": x.head}
	}
	var uses []any
	for _, u := range x.uses {
		uses = append(uses, map[string]any{"path": u, "sha": pastSHA})
	}
	m["referenced_workflows"] = uses
	return m
}

func (j pastJob) row(x *pastRun) map[string]any {
	m := map[string]any{
		"id": j.id, "run_id": x.id, "run_attempt": j.attempt, "name": j.name, "status": j.status, "conclusion": nil, "created_at": stamp(j.began),
		"started_at": stamp(j.began), "completed_at": nil, "labels": []string{"self-hosted"}, "runner_id": nil, "runner_name": nil, "head_branch": x.branch,
	}
	if j.runner != 0 {
		m["runner_id"], m["runner_name"] = j.runner, j.runnerName
	}
	if j.status == "completed" {
		m["conclusion"], m["completed_at"] = "success", stamp(j.ended)
	}
	return m
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// repos serves repositories to the runner's group and to the organization.
func (p *past) repos(names ...string) {
	var rows []any
	for i, n := range names {
		owner, _, _ := strings.Cut(n, "/")
		rows = append(rows, map[string]any{"id": i + 1, "full_name": n, "default_branch": "main", "pushed_at": stamp(time.Now().Add(-time.Duration(i) * time.Hour)), "owner": map[string]any{"login": owner, "type": "Organization"}})
	}
	p.change(func(p *past) {
		p.paged["orgs/acme/actions/runner-groups/2/repositories"] = pagedList{"repositories", rows}
		p.paged["orgs/acme/repos"] = pagedList{"", rows}
	})
}

// file is a file of a repository, as the contents API gives it.
func file(text string) map[string]any {
	enc := base64.StdEncoding.EncodeToString([]byte(text))
	var lines []string
	for part := range slices.Chunk([]byte(enc), 60) {
		lines = append(lines, string(part))
	}
	return map[string]any{"type": "file", "encoding": "base64", "content": strings.Join(lines, "\n") + "\n"}
}
