package github

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

func (f *fake) groupRoutes() {
	for _, kind := range []struct{ at, members, ids string }{
		{"/orgs/{owner}", "repositories", "selected_repository_ids"}, {"/enterprises/{owner}", "organizations", "selected_organization_ids"},
	} {
		prefix := strings.TrimPrefix(strings.TrimSuffix(kind.at, "{owner}"), "/")
		group := func(w http.ResponseWriter, r *http.Request) *fakeGroup {
			g, ok := f.groups[prefix+r.PathValue("owner")][pathNumber(r, "gid")]
			if !ok {
				f.say(w, 404, map[string]string{"message": "Not Found"})
				return nil
			}
			return g
		}
		route := kind.at + "/actions/runner-groups"
		f.handle("GET "+route+"/{gid}", func(w http.ResponseWriter, r *http.Request) {
			if g := group(w, r); g != nil {
				f.say(w, 200, g)
			}
		})
		f.handle("GET "+route+"/{gid}/runners", func(w http.ResponseWriter, r *http.Request) {
			g := group(w, r)
			if g == nil {
				return
			}
			var rows []any
			all := f.runners[prefix+r.PathValue("owner")]
			for _, id := range sortedKeys(all) {
				if all[id].GroupID == g.ID {
					rows = append(rows, all[id])
				}
			}
			f.pageOf(w, r, "runners", rows)
		})
		f.handle("GET "+route+"/{gid}/"+kind.members, func(w http.ResponseWriter, r *http.Request) {
			g := group(w, r)
			if g == nil {
				return
			}
			var rows []any
			for _, path := range sortedKeys(f.repos) {
				if slices.Contains(g.Repos, f.repos[path].id) && kind.members == "repositories" {
					rows = append(rows, f.repoRow(f.repos[path]))
				}
			}
			if kind.members == "organizations" && slices.Contains(g.Repos, 1) {
				rows = append(rows, map[string]any{"id": 1, "login": "acme"})
			}
			f.pageOf(w, r, kind.members, rows)
		})
		f.handle("PUT "+route+"/{gid}/"+kind.members, func(w http.ResponseWriter, r *http.Request) {
			in := map[string][]int64{}
			g := group(w, r)
			if g == nil || !f.body(w, r, &in) {
				return
			}
			ids, ok := in[kind.ids]
			if !ok || len(in) != 1 {
				f.say(w, 422, map[string]string{"message": "Invalid request."})
				return
			}
			f.effects["pause"]++
			g.Repos = ids
			w.WriteHeader(http.StatusNoContent)
		})
		f.handle("POST "+route, func(w http.ResponseWriter, r *http.Request) { f.newGroup(prefix+r.PathValue("owner"), kind.ids, w, r) })
		f.handle("DELETE "+route+"/{gid}", func(w http.ResponseWriter, r *http.Request) {
			g, at := group(w, r), prefix+r.PathValue("owner")
			if g == nil {
				return
			}
			for _, x := range f.runners[at] {
				if x.GroupID == g.ID {
					f.say(w, 422, map[string]string{"message": "This group is not empty"})
					return
				}
			}
			f.effects["group removed"]++
			delete(f.groups[at], g.ID)
			w.WriteHeader(http.StatusNoContent)
		})
		f.handle("PUT "+route+"/{gid}/runners/{runner}", func(w http.ResponseWriter, r *http.Request) {
			f.moveTo(prefix+r.PathValue("owner"), pathNumber(r, "gid"), w, r)
		})
		f.handle("DELETE "+route+"/{gid}/runners/{runner}", func(w http.ResponseWriter, r *http.Request) { f.moveTo(prefix+r.PathValue("owner"), 1, w, r) })
	}
}

// newGroup makes a group as the description says: without visibility it serves all.
func (f *fake) newGroup(at, ids string, w http.ResponseWriter, r *http.Request) {
	var in struct {
		Name       string   `json:"name"`
		Visibility string   `json:"visibility"`
		Repos      []int64  `json:"selected_repository_ids"`
		Orgs       []int64  `json:"selected_organization_ids"`
		Runners    []int64  `json:"runners"`
		Public     bool     `json:"allows_public_repositories"`
		Restricted bool     `json:"restricted_to_workflows"`
		Workflows  []string `json:"selected_workflows"`
	}
	if !f.body(w, r, &in) {
		return
	}
	if in.Visibility == "" {
		in.Visibility = "all"
	}
	f.effects["pause"]++
	a := f.acts()
	a.next++
	g := &fakeGroup{ID: a.next, Name: in.Name, Visibility: in.Visibility, Public: in.Public, Restricted: in.Restricted, Workflows: []string{}, Repos: append(in.Repos, in.Orgs...)}
	if f.groups[at] == nil {
		f.groups[at] = map[int64]*fakeGroup{}
	}
	f.groups[at][g.ID] = g
	for _, id := range in.Runners {
		if x := f.runners[at][id]; x != nil {
			x.GroupID = g.ID
		}
	}
	f.say(w, 201, g)
}

func (f *fake) moveTo(at string, gid int64, w http.ResponseWriter, r *http.Request) {
	x, g := f.runners[at][pathNumber(r, "runner")], f.groups[at][gid]
	if x == nil || g == nil {
		f.say(w, 404, map[string]string{"message": "Not Found"})
		return
	}
	f.effects["pause"]++
	x.GroupID = gid
	w.WriteHeader(http.StatusNoContent)
}

// ledger is the fake's own account of where a runner is, how it is labelled, and what every
// group is and serves: what an undo has to give back.
func (f *fake) ledger(at string, id int64) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	x := f.runners[at][id]
	out := fmt.Sprintf("runner %d in group %d with", id, x.GroupID)
	for _, l := range x.Labels {
		out += fmt.Sprintf(" %s:%s", l.Name, l.Type)
	}
	for _, gid := range sortedKeys(f.groups[at]) {
		g := f.groups[at][gid]
		if strings.HasPrefix(g.Name, Quarantine) {
			continue // an empty one may stay behind
		}
		b, _ := json.Marshal(g)
		out += fmt.Sprintf("\ngroup %s serves %v", b, g.Repos)
	}
	return out
}
