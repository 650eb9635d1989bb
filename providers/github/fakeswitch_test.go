package github

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// fakeWorkflowID is the one workflow of each of the fake's repositories.
const fakeWorkflowID = 61

// switches is what the fake allows of Actions, by scope prefix.
type switches struct {
	workflows map[string]string         // state by owner/name
	policy    map[string]map[string]any // of …/actions/permissions, as it is answered
	list      map[string][]int64        // whom a selective policy serves, by the path of its list
	runners   map[string]string         // by organization
	file      string                    // of the one workflow
	forgets   bool                      // switching off loses which actions are allowed
}

func (f *fake) switches() *switches { return f.more["switches"].(*switches) }

func init() { fakeRoutes = append(fakeRoutes, (*fake).switchRoutes) }

func (f *fake) switchRoutes() {
	f.more["switches"] = &switches{
		workflows: map[string]string{"acme/web": workflowOn}, file: ".github/workflows/build.yml",
		policy: map[string]map[string]any{
			"repos/acme/web":  {"enabled": true, "allowed_actions": "local_only", "sha_pinning_required": true},
			"orgs/acme":       {"enabled_repositories": "all", "allowed_actions": "all", "sha_pinning_required": false},
			"enterprises/big": {"enabled_organizations": "selected", "allowed_actions": "selected"},
		},
		list: map[string][]int64{
			"enterprises/big/actions/permissions/organizations":              {1},
			"orgs/acme/actions/permissions/repositories":                     {100},
			"orgs/acme/actions/permissions/self-hosted-runners/repositories": {100, 101},
		},
		runners: map[string]string{"acme": "all"},
	}
	f.workflowRoutes()
	f.handleScoped("GET", "/actions/permissions", func(at string, w http.ResponseWriter, _ *http.Request) {
		if x := f.switches().policy[at]; x != nil {
			f.say(w, 200, x)
			return
		}
		f.say(w, 404, map[string]string{"message": "Not Found"})
	})
	f.handleScoped("PUT", "/actions/permissions", func(at string, w http.ResponseWriter, r *http.Request) {
		in := map[string]any{}
		x := f.switches().policy[at]
		if x == nil || !f.body(w, r, &in) {
			return
		}
		f.effects["pause"]++
		if f.switches().forgets {
			delete(x, "allowed_actions")
		}
		for k, v := range in {
			x[k] = v
		}
		w.WriteHeader(http.StatusNoContent)
	})
	for _, path := range []string{"/orgs/{owner}/actions/permissions/repositories", "/orgs/{owner}/actions/permissions/self-hosted-runners/repositories", "/enterprises/{owner}/actions/permissions/organizations"} {
		f.listRoutes(path)
	}
	f.handle("GET /orgs/{owner}/actions/permissions/self-hosted-runners", func(w http.ResponseWriter, r *http.Request) {
		f.say(w, 200, map[string]any{"enabled_repositories": f.switches().runners[r.PathValue("owner")]})
	})
	f.handle("PUT /orgs/{owner}/actions/permissions/self-hosted-runners", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			To string `json:"enabled_repositories"`
		}
		if f.body(w, r, &in) {
			f.effects["pause"]++
			f.switches().runners[r.PathValue("owner")] = in.To
			w.WriteHeader(http.StatusNoContent)
		}
	})
}

// listRoutes are those of a list of repositories, or of organizations.
func (f *fake) listRoutes(path string) {
	at := func(r *http.Request) string { return strings.TrimPrefix(r.URL.Path, "/api/v3/") }
	f.handle("GET "+path, func(w http.ResponseWriter, r *http.Request) {
		var rows []any
		for _, repo := range sortedKeys(f.repos) {
			if slices.Contains(f.switches().list[at(r)], f.repos[repo].id) {
				rows = append(rows, f.repoRow(f.repos[repo]))
			}
		}
		key := path[strings.LastIndexByte(path, '/')+1:]
		if key == "organizations" && len(f.switches().list[at(r)]) > 0 {
			rows = append(rows, map[string]any{"id": 1, "login": "acme"})
		}
		f.pageOf(w, r, key, rows)
	})
	f.handle("PUT "+path, func(w http.ResponseWriter, r *http.Request) {
		in := map[string][]int64{}
		if !f.body(w, r, &in) {
			return
		}
		f.effects["pause"]++
		for _, ids := range in {
			f.switches().list[at(r)] = ids
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

func (f *fake) workflowRoutes() {
	const path = "/repos/{owner}/{repo}/actions/workflows"
	row := func(r *http.Request) map[string]any {
		state := f.switches().workflows[repoOf(r)]
		if state == "" || r.PathValue("id") != "" && r.PathValue("id") != fmt.Sprint(fakeWorkflowID) {
			return nil
		}
		return map[string]any{"id": fakeWorkflowID, "name": "build " + f.secrets.token, "path": f.switches().file, "state": state, "created_at": stamp(f.now)}
	}
	f.handle("GET "+path, func(w http.ResponseWriter, r *http.Request) {
		var rows []any
		if x := row(r); x != nil {
			rows = append(rows, x)
		}
		f.pageOf(w, r, "workflows", rows)
	})
	f.handle("GET "+path+"/{id}", func(w http.ResponseWriter, r *http.Request) {
		if x := row(r); x != nil {
			f.say(w, 200, x)
			return
		}
		f.say(w, 404, map[string]string{"message": "Not Found"})
	})
	for word, to := range map[string]string{"disable": workflowOff, "enable": workflowOn} {
		f.handle("PUT "+path+"/{id}/"+word, func(w http.ResponseWriter, r *http.Request) {
			if row(r) == nil {
				f.say(w, 404, map[string]string{"message": "Not Found"})
				return
			}
			f.effects["pause"]++
			f.switches().workflows[repoOf(r)] = to
			w.WriteHeader(http.StatusNoContent)
		})
	}
}

// switched is the fake's own account of every switch.
func (f *fake) switched() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.switches()
	return fmt.Sprint(s.workflows, s.policy, s.list, s.runners)
}
