package github

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

func (f *fake) revokeRoutes() {
	const repo = "/repos/{owner}/{repo}"
	one := func(list []map[string]any, key string, id int64) int {
		return slices.IndexFunc(list, func(m map[string]any) bool { return m[key] == int(id) })
	}
	remove := func(list *[]map[string]any, key string, id int64, effect string, w http.ResponseWriter) {
		i := one(*list, key, id)
		if i < 0 {
			f.say(w, 404, map[string]string{"message": "Not Found"})
			return
		}
		f.effects[effect]++
		*list = slices.Delete(slices.Clone(*list), i, i+1)
		w.WriteHeader(http.StatusNoContent)
	}
	inRepo := func(of func(*acts) map[string][]map[string]any, id int64, effect string, w http.ResponseWriter, r *http.Request) {
		m := of(f.acts())
		list := m[repoOf(r)]
		remove(&list, "id", id, effect, w)
		m[repoOf(r)] = list
	}
	read := func(list []map[string]any, id int64, w http.ResponseWriter) {
		if i := one(list, "id", id); i >= 0 {
			f.say(w, 200, list[i])
			return
		}
		f.say(w, 404, map[string]string{"message": "Not Found"})
	}
	keys := func(a *acts) map[string][]map[string]any { return a.keys }
	f.handle("GET "+repo+"/keys", func(w http.ResponseWriter, r *http.Request) { f.pageOf(w, r, "", anys(f.acts().keys[repoOf(r)])) })
	f.handle("GET "+repo+"/keys/{n}", func(w http.ResponseWriter, r *http.Request) { read(f.acts().keys[repoOf(r)], pathNumber(r, "n"), w) })
	f.handle("DELETE "+repo+"/keys/{n}", func(w http.ResponseWriter, r *http.Request) { inRepo(keys, pathNumber(r, "n"), "key", w, r) })
	f.handle("GET "+repo+"/actions/caches", func(w http.ResponseWriter, r *http.Request) {
		rows := slices.DeleteFunc(slices.Clone(f.acts().caches[repoOf(r)]), func(m map[string]any) bool {
			ref, key := r.URL.Query().Get("ref"), r.URL.Query().Get("key")
			return ref != "" && m["ref"] != ref || key != "" && !strings.HasPrefix(m["key"].(string), key)
		})
		if q := r.URL.Query(); q.Get("sort") == "created_at" && q.Get("direction") == "desc" {
			slices.SortStableFunc(rows, func(x, y map[string]any) int {
				return strings.Compare(fmt.Sprint(y["created_at"]), fmt.Sprint(x["created_at"]))
			})
		}
		f.pageOf(w, r, "actions_caches", anys(rows))
	})
	caches := func(a *acts) map[string][]map[string]any { return a.caches }
	f.handle("DELETE "+repo+"/actions/caches/{n}", func(w http.ResponseWriter, r *http.Request) { inRepo(caches, pathNumber(r, "n"), "cache", w, r) })
	artifacts := func(a *acts) map[string][]map[string]any { return a.artifacts }
	f.handle("GET "+repo+"/actions/artifacts/{n}", func(w http.ResponseWriter, r *http.Request) {
		read(f.acts().artifacts[repoOf(r)], pathNumber(r, "n"), w)
	})
	f.handle("DELETE "+repo+"/actions/artifacts/{n}", func(w http.ResponseWriter, r *http.Request) { inRepo(artifacts, pathNumber(r, "n"), "artifact", w, r) })

	f.handle("GET /orgs/{org}/credential-authorizations", func(w http.ResponseWriter, r *http.Request) { f.pageOf(w, r, "", anys(f.acts().sso)) })
	f.handle("DELETE /orgs/{org}/credential-authorizations/{n}", func(w http.ResponseWriter, r *http.Request) {
		remove(&f.acts().sso, "credential_id", pathNumber(r, "n"), "sso", w)
	})
	f.handle("GET /orgs/{org}/personal-access-tokens", func(w http.ResponseWriter, r *http.Request) { f.pageOf(w, r, "", anys(f.acts().pats)) })
	f.handle("POST /orgs/{org}/personal-access-tokens/{n}", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Action string }
		if f.body(w, r, &in) && in.Action == "revoke" {
			remove(&f.acts().pats, "id", pathNumber(r, "n"), "pat", w)
		}
	})
	f.handle("GET /orgs/{org}/installations", func(w http.ResponseWriter, r *http.Request) { f.pageOf(w, r, "installations", anys(f.acts().apps)) })
	f.handle("GET /app", func(w http.ResponseWriter, _ *http.Request) {
		if f.acts().app == 0 {
			f.say(w, 401, map[string]string{"message": "A JSON web token could not be decoded"})
			return
		}
		f.say(w, 200, map[string]any{"id": f.acts().app, "slug": "x"})
	})
	suspended := func(to any) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			if i := one(f.acts().apps, "id", pathNumber(r, "n")); i >= 0 {
				f.effects["app"]++
				f.acts().apps[i]["suspended_at"] = to
			}
			w.WriteHeader(http.StatusNoContent)
		}
	}
	f.handle("PUT /app/installations/{n}/suspended", suspended(stamp(f.now)))
	f.handle("DELETE /app/installations/{n}/suspended", suspended(nil))
}
