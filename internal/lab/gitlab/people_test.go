package gitlab

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// Who may do what, with which token, and how it is refused.
func TestPeople(t *testing.T) {
	for _, c := range []struct {
		who, method, path, body string
		want                    int
		says                    string
	}{
		{"", "GET", "/version", "", 401, `"401 Unauthorized"`},
		{"wrong", "GET", "/runners/42", "", 401, "401"},
		{"look", "GET", "/version", "", 200, "18.6.0-ee"},
		{"look", "GET", "/metadata", "", 200, `"enterprise":true`},
		{"look", "GET", "/user", "", 200, `"is_auditor":true`},
		{"look", "GET", "/personal_access_tokens/self", "", 200, `"scopes":["read_api"]`},
		{"look", "GET", "/runners/all", "", 200, `"id":44`},
		{"maintainer", "GET", "/runners/all", "", 403, "403 Forbidden"},
		{"maintainer", "GET", "/runners", "", 200, `"id":42`},
		{"look", "GET", "/groups/acme/runners", "", 200, `"id":43`},
		{"look", "GET", "/groups/6/runners", "", 404, "404 Group Not Found"},
		{"look", "GET", "/projects/acme%2Fshop/runners", "", 200, `"id":42`},
		{"look", "GET", "/projects/99/runners", "", 404, "404 Project Not Found"},
		{"look", "GET", "/runners/42", "", 200, `"tag_list":["release"]`},
		{"look", "GET", "/runners/41", "", 404, "404 Runner Not Found"},
		{"look", "GET", "/runners/44/managers", "", 200, `"system_id":"r_old"`},
		{"look", "GET", "/runners/42/jobs", "", 200, `"id":102`},
		{"look", "GET", "/runners/42/jobs?status=nonsense", "", 400, "valid value"},
		{"look", "GET", "/runners/42/projects", "", 200, `"path_with_namespace":"acme/infra"`},
		{"look", "GET", "/projects/11", "", 200, `"full_path":"acme"`},
		{"look", "GET", "/projects/11/jobs/101", "", 200, `"status":"success"`},
		{"look", "GET", "/projects/12/jobs/101", "", 404, "404 Job Not Found"},
		{"look", "GET", "/projects/11/jobs/101/trace", "", 200, "done\n"},
		{"look", "GET", "/admin/ci/variables", "", 403, "403"},
		{"look", "GET", "/projects/11/deploy_keys", "", 200, `"can_push":true`},
		{"maintainer", "GET", "/projects/12/variables", "", 403, "403"},
		{"maintainer", "GET", "/groups/5/variables", "", 403, "403"},
		{"look", "GET", "/nowhere", "", 404, "404 Not Found"},
		// writing
		{"look", "PUT", "/runners/42", `{"paused":true}`, 403, "insufficient_scope"},
		{"look", "DELETE", "/runners/42", "", 403, "insufficient_scope"},
		{"look", "POST", "/projects/11/jobs/103/cancel", "", 403, "insufficient_scope"},
		{"narrow", "GET", "/runners/all", "", 403, "insufficient_scope"},
		{"narrow", "GET", "/runners/42/managers", "", 200, "[]"},
		{"narrow", "PUT", "/runners/42", `{"paused":true}`, 200, `"paused":true`},
		{"narrow", "POST", "/projects/11/jobs/103/cancel", "", 403, "insufficient_scope"},
		{"act", "PUT", "/runners/42", `{}`, 400, "at least one parameter"},
		{"act", "PUT", "/runners/42", `{"paused":true,"active":false}`, 400, "mutually exclusive"},
		{"act", "PUT", "/runners/42", `{"paused":"perhaps"}`, 400, "paused is invalid"},
		{"act", "PUT", "/runners/42", `{"active":false}`, 200, `"paused":true`},
		{"act", "PUT", "/runners/41", `{"paused":true}`, 404, "404 Runner Not Found"},
		{"maintainer", "PUT", "/runners/43", `{"paused":true}`, 403, "403"},
		{"maintainer", "PUT", "/runners/45", `{"paused":true}`, 200, `"paused":true`},
		{"maintainer", "DELETE", "/runners/42", "", 403, "more than one project"},
		{"maintainer", "DELETE", "/runners/45", "", 204, ""},
		{"act", "DELETE", "/runners/42", "", 204, ""},
		{"act", "DELETE", "/runners/41", "", 404, "404 Runner Not Found"},
		{"act", "POST", "/runners/42/reset_authentication_token", "", 201, `"token":"glrt-t3_`},
		{"act", "POST", "/user/runners", `{"runner_type":"project_type","project_id":11}`, 201, `"id":60`},
		{"maintainer", "POST", "/user/runners", `{"runner_type":"instance_type"}`, 403, "Insufficient"},
		{"act", "POST", "/user/runners", `{"runner_type":"nothing"}`, 400, "runner_type"},
	} {
		t.Run(c.who+" "+c.method+" "+c.path+" "+c.body, func(t *testing.T) {
			w := newWorld(t)
			rec := w.ask(c.who, c.method, c.path, c.body)
			if rec.Code != c.want || !strings.Contains(rec.Body.String(), c.says) {
				t.Errorf("%d %s\nwant %d %s", rec.Code, rec.Body, c.want, c.says)
			}
			if got := rec.Header().Get(LabHeader); got != "lab-1" {
				t.Errorf("%s is %q", LabHeader, got)
			}
			if rec.Header().Get("X-Request-Id") == "" || rec.Header().Get("Date") != w.clock.Now().Format(http.TimeFormat) {
				t.Errorf("request id %q, date %q", rec.Header().Get("X-Request-Id"), rec.Header().Get("Date"))
			}
			if c.want >= 400 && len(w.effects()) != 0 {
				t.Errorf("refused, and yet %v", w.effects())
			}
		})
	}
}

func TestBearerWorksToo(t *testing.T) {
	w := newWorld(t)
	rec := w.agent("GET", "/version", "", "Authorization", "Bearer "+w.token("look"))
	if rec.Code != 200 {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
}

func TestListsAreFilteredAndPaged(t *testing.T) {
	w := newWorld(t)
	ids := func(path string) []int {
		var out []int
		for _, r := range decode[[]struct{ ID int }](t, w.ask("look", "GET", path, "")) {
			out = append(out, r.ID)
		}
		return out
	}
	w.ask("act", "PUT", "/runners/43", `{"paused":true}`)
	for path, want := range map[string][]int{
		"/runners/all":                            {42, 43, 44, 45},
		"/runners/all?type=project_type":          {42, 45},
		"/runners/all?paused=true":                {43},
		"/runners/all?tag_list=release":           {42},
		"/runners/all?status=never_contacted":     {42, 43, 45},
		"/runners/all?status=stale":               {44},
		"/runners/all?version_prefix=16.":         {44},
		"/runners/all?per_page=3":                 {42, 43, 44},
		"/runners/all?per_page=3&page=2":          {45},
		"/runners/all?per_page=3&page=3":          nil,
		"/groups/5/runners":                       {43, 44},
		"/projects/12/runners?type=instance_type": {44},
	} {
		if got := ids(path); !slices.Equal(got, want) {
			t.Errorf("%s gives %v, want %v", path, got, want)
		}
	}
	h := w.ask("look", "GET", "/runners/all?per_page=3", "").Header()
	for k, want := range map[string]string{
		"X-Total": "4", "X-Total-Pages": "2", "X-Page": "1", "X-Next-Page": "2", "X-Prev-Page": "", "X-Per-Page": "3",
	} {
		if h.Get(k) != want {
			t.Errorf("%s is %q, want %q", k, h.Get(k), want)
		}
	}
	if !strings.Contains(h.Get("Link"), `per_page=3>; rel="next"`) {
		t.Errorf("Link is %s", h.Get("Link"))
	}
}

// Variables come in clear, because GitLab gives them so; only hidden ones do not.
func TestVariablesAreInClear(t *testing.T) {
	w := newWorld(t)
	want, err := w.api.o.Vault.Get("opaque", "a", "test")
	if err != nil {
		t.Fatal(err)
	}
	type variable struct {
		Key   string
		Value *string
	}
	list := decode[[]variable](t, w.ask("look", "GET", "/projects/11/variables", ""))
	if len(list) != 3 || list[0].Value == nil || *list[0].Value != want || list[1].Value != nil {
		t.Errorf("variables: %+v", list)
	}
	if g := decode[[]variable](t, w.ask("look", "GET", "/groups/5/variables", "")); len(g) != 1 || g[0].Value == nil {
		t.Errorf("group variables: %+v", g)
	}
}

// Effects stand in the ledger once for each time something changed.
func TestEffectsCountOnce(t *testing.T) {
	w := newWorld(t)
	for range 3 {
		w.ask("act", "PUT", "/runners/42", `{"paused":true}`)
	}
	w.ask("act", "PUT", "/runners/42", `{"paused":false}`)
	w.ask("act", "POST", "/runners/42/reset_authentication_token", "")
	w.ask("act", "POST", "/runners/42/reset_authentication_token", "")
	w.ask("act", "POST", "/projects/11/jobs/103/cancel", "")
	w.ask("act", "POST", "/projects/11/jobs/103/cancel", "")
	w.ask("act", "DELETE", "/runners/42", "")
	w.ask("act", "DELETE", "/runners/42", "")
	want := []string{
		"runner.pause act runner/42", "runner.resume act runner/42", "runner.reset act runner/42", "runner.reset act runner/42",
		"job.cancel act job/103", "runner.delete act runner/42",
	}
	if got := w.effects(); !slices.Equal(got, want) {
		t.Errorf("ledger\n got %v\nwant %v", got, want)
	}
}

func TestStatusWords(t *testing.T) {
	w := newWorld(t)
	status := func(id int) string {
		return decode[struct{ Status string }](t, w.ask("look", "GET", fmt.Sprintf("/runners/%d", id), "")).Status
	}
	if s := status(42); s != "never_contacted" {
		t.Errorf("before any contact: %s", s)
	}
	w.poll(w.runnerToken("r42"), "s_1")
	if s := status(42); s != "online" {
		t.Errorf("after a poll: %s", s)
	}
	w.ask("act", "PUT", "/runners/42", `{"paused":true}`)
	if s := status(42); s != "paused" {
		t.Errorf("paused: %s", s)
	}
	w.ask("act", "PUT", "/runners/42", `{"paused":false}`)
	w.clock.pass(3 * time.Hour)
	if s := status(42); s != "offline" {
		t.Errorf("after three hours: %s", s)
	}
	w.clock.pass(8 * 24 * time.Hour)
	if s := status(42); s != "stale" {
		t.Errorf("after eight days: %s", s)
	}
}
