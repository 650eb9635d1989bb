package github

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// acts is what the fake needs for changes: runs with their jobs, and what can be revoked or
// removed. It behaves as GitHub's description and its public reports say.
type acts struct {
	runs        map[string][]*actRun // by owner/name
	keys        map[string][]map[string]any
	caches      map[string][]map[string]any
	artifacts   map[string][]map[string]any
	sso, pats   []map[string]any
	apps        []map[string]any
	app         int64 // whose own token the credential is; 0: no App's
	removesBusy bool  // the suite's runner has a job; a real GitHub refuses to remove it
	stubborn    bool  // a cancellation is accepted and nothing ends
	next        int64
}

type actRun struct {
	ID      int64
	Status  string
	Attempt int
	Branch  string
	Jobs    []*actJob
}

type actJob struct {
	ID, Runner int64
	Name, On   string
	Status     string
	Wants      []string // labels; none: self-hosted
}

func (f *fake) acts() *acts { return f.more["acts"].(*acts) }

func init() { fakeRoutes = append(fakeRoutes, (*fake).actRoutes) }

func (f *fake) actRoutes() {
	now := f.now
	f.more["acts"] = &acts{
		next: 900,
		runs: map[string][]*actRun{
			"acme/web": {
				{ID: 77, Status: "in_progress", Attempt: 1, Branch: "main", Jobs: []*actJob{
					{ID: 500, Runner: 23, Name: "build", On: "build-07", Status: "in_progress"},
					{ID: 501, Runner: 24, Name: "test", On: "build-08", Status: "in_progress"},
					{ID: 502, Name: "deploy", Status: "queued"},
				}},
				{ID: 76, Status: "completed", Attempt: 1, Branch: "main", Jobs: []*actJob{{ID: 490, Runner: 23, Name: "build", On: "build-07", Status: "completed"}}},
			},
		},
		keys: map[string][]map[string]any{"acme/web": {
			{"id": 12, "key": "ssh-ed25519 AAAA", "title": "pusher " + f.secrets.token, "read_only": false, "verified": true, "added_by": "mallory", "created_at": stamp(now), "last_used": nil},
			{"id": 13, "key": "ssh-ed25519 BBBB", "title": "mirror", "read_only": true, "verified": true, "added_by": "alice", "created_at": stamp(now), "last_used": stamp(now)},
		}},
		caches: map[string][]map[string]any{"acme/web": {
			{"id": 505, "ref": "refs/heads/main", "key": "node-1", "version": "v", "created_at": stamp(now), "last_accessed_at": stamp(now), "size_in_bytes": 1024},
			{"id": 506, "ref": "refs/heads/other", "key": "node-1", "version": "v", "created_at": stamp(now.Add(-60 * 24 * time.Hour)), "last_accessed_at": stamp(now), "size_in_bytes": 1024},
		}},
		artifacts: map[string][]map[string]any{"acme/web": {
			{"id": 11, "name": "dist", "size_in_bytes": 556, "expired": false, "created_at": stamp(now), "expires_at": stamp(now.Add(time.Hour)), "digest": "sha256:aa", "workflow_run": map[string]any{"id": 77, "head_branch": "main", "head_sha": "abc"}},
		}},
		sso:  []map[string]any{{"login": "mallory", "credential_id": 161195, "credential_type": "personal access token", "token_last_eight": "71c3fc11", "credential_authorized_at": stamp(now), "credential_accessed_at": stamp(now), "authorized_credential_note": "laptop"}},
		pats: []map[string]any{{"id": 25381, "token_name": "ci " + f.secrets.token, "owner": map[string]any{"login": "mallory"}, "token_expired": false, "token_last_used_at": stamp(now)}},
		apps: []map[string]any{{"id": 31, "app_id": 4, "app_slug": "deployer", "repository_selection": "all", "suspended_at": nil}},
	}
	f.groupRoutes()
	f.runRoutes()
	f.revokeRoutes()
	f.handleScoped("GET", "/actions/runners/{id}/{what}", func(at string, w http.ResponseWriter, r *http.Request) {
		if r.PathValue("what") != "labels" {
			f.say(w, 404, map[string]string{"message": "Not Found"})
			return
		}
		if x := f.runner(at, w, r); x != nil {
			f.say(w, 200, map[string]any{"total_count": len(x.Labels), "labels": x.Labels})
		}
	})
	f.handleScoped("PUT", "/actions/runners/{id}/labels", func(at string, w http.ResponseWriter, r *http.Request) {
		var in struct{ Labels []string }
		x := f.runner(at, w, r)
		if x == nil || !f.body(w, r, &in) {
			return
		}
		f.effects["pause"]++
		x.Labels = slices.DeleteFunc(slices.Clone(x.Labels), func(l fakeLabel) bool { return l.Type == "custom" })
		for _, name := range in.Labels {
			x.Labels = append(x.Labels, fakeLabel{0, name, "custom"})
		}
		f.say(w, 200, map[string]any{"total_count": len(x.Labels), "labels": x.Labels})
	})
	f.handleScoped("DELETE", "/actions/runners/{id}", func(at string, w http.ResponseWriter, r *http.Request) {
		x := f.runner(at, w, r)
		switch {
		case x == nil:
			return
		case x.Busy && !f.acts().removesBusy:
			f.say(w, 422, map[string]string{"message": fmt.Sprintf("Runner %q is currently running a job and cannot be deleted", x.Name)})
			return
		}
		f.effects["deregister"]++
		delete(f.runners[at], x.ID)
		w.WriteHeader(http.StatusNoContent)
	})
}

// body reads a request strictly: what GitHub would not know is a mistake of ours.
func (f *fake) body(w http.ResponseWriter, r *http.Request, v any) bool {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		f.say(w, 422, map[string]string{"message": "Invalid request. " + err.Error()})
		return false
	}
	return true
}

func pathNumber(r *http.Request, name string) int64 {
	n, _ := strconv.ParseInt(r.PathValue(name), 10, 64)
	return n
}

func (f *fake) runRoutes() {
	const runs = "/repos/{owner}/{repo}/actions/runs"
	find := func(w http.ResponseWriter, r *http.Request) *actRun {
		for _, x := range f.acts().runs[repoOf(r)] {
			if x.ID == pathNumber(r, "run") {
				return x
			}
		}
		f.say(w, 404, map[string]string{"message": "Not Found"})
		return nil
	}
	row := func(repo string, x *actRun) map[string]any {
		return map[string]any{
			"id": x.ID, "status": x.Status, "run_attempt": x.Attempt, "head_branch": x.Branch, "event": "push", "name": f.secrets.note, "head_sha": pastSHA,
			"created_at": stamp(f.now), "updated_at": stamp(f.now), "triggering_actor": map[string]any{"login": "mallory", "token": f.secrets.token},
			"repository": map[string]any{"full_name": repo}, "workflow_id": fakeWorkflowID, "path": f.switches().file,
		}
	}
	f.handle("GET "+runs, func(w http.ResponseWriter, r *http.Request) {
		var rows []any
		for _, x := range f.acts().runs[repoOf(r)] {
			if s := r.URL.Query().Get("status"); s == "" || s == x.Status {
				rows = append(rows, row(repoOf(r), x))
			}
		}
		f.pageOf(w, r, "workflow_runs", rows)
	})
	f.handle("GET "+runs+"/{run}", func(w http.ResponseWriter, r *http.Request) {
		if x := find(w, r); x != nil {
			f.say(w, 200, row(repoOf(r), x))
		}
	})
	f.handle("GET "+runs+"/{run}/jobs", func(w http.ResponseWriter, r *http.Request) {
		x := find(w, r)
		if x == nil {
			return
		}
		var rows []any
		for _, j := range x.Jobs {
			m := map[string]any{
				"id": j.ID, "run_id": x.ID, "run_attempt": x.Attempt, "name": j.Name, "status": j.Status, "conclusion": nil, "labels": []string{"self-hosted"},
				"created_at": stamp(f.now), "started_at": stamp(f.now), "completed_at": nil, "runner_id": nil, "runner_name": nil, "head_branch": x.Branch,
				"workflow_name": f.secrets.variable,
			}
			if len(j.Wants) > 0 {
				m["labels"] = j.Wants
			}
			if j.Runner != 0 {
				m["runner_id"] = j.Runner
			}
			if j.On != "" {
				m["runner_name"] = j.On
			}
			rows = append(rows, m)
		}
		f.pageOf(w, r, "jobs", rows)
	})
	end := func(w http.ResponseWriter, r *http.Request) {
		x := find(w, r)
		switch {
		case x == nil:
			return
		case x.Status == "completed":
			f.say(w, 409, map[string]string{"message": "Cannot cancel a workflow run that is completed."})
			return
		}
		f.effects["cancel"]++
		if !f.acts().stubborn || strings.HasSuffix(r.URL.Path, "force-cancel") {
			x.Status = "completed"
			for _, j := range x.Jobs {
				j.Status = "completed"
				for _, all := range f.runners {
					if r := all[j.Runner]; r != nil && r.Name == j.On {
						r.Busy = false
					}
				}
			}
		}
		f.say(w, 202, map[string]any{})
	}
	f.handle("POST "+runs+"/{run}/cancel", end)
	f.handle("POST "+runs+"/{run}/force-cancel", end)
	f.handle("GET "+runs+"/{run}/artifacts", func(w http.ResponseWriter, r *http.Request) {
		of := slices.DeleteFunc(slices.Clone(f.acts().artifacts[repoOf(r)]), func(m map[string]any) bool {
			return m["workflow_run"].(map[string]any)["id"] != int(pathNumber(r, "run"))
		})
		f.pageOf(w, r, "artifacts", anys(of))
	})
}

func anys(list []map[string]any) []any {
	var out []any
	for _, m := range list {
		out = append(out, m)
	}
	return out
}
