package github

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/lab/fault"
	"cordon/internal/lab/ledger"
)

// 401 for nobody, 403 for who lacks something, 404 for what is hidden; the headers say
// what would have been needed.
func TestWhoMay(t *testing.T) {
	w := newWorld(t)
	for _, x := range []struct {
		who, method, path string
		code              int
		header, says      string
	}{
		{"", "GET", "/orgs/acme/actions/runners", 401, "Www-Authenticate", "Bearer"},
		{"look", "DELETE", "/orgs/acme/actions/runners/24", 403, "X-Accepted-Github-Permissions", "organization_self_hosted_runners=write"},
		{"look", "GET", "/enterprises/big/actions/runners", 404, "", ""},
		{"narrow", "GET", "/repos/acme/web/actions/runs", 403, "X-Accepted-Github-Permissions", "actions=read"},
		{"narrow", "GET", "/orgs/acme/actions/runners", 200, "X-Accepted-Github-Permissions", "organization_self_hosted_runners=read"},
		{"look", "GET", "/repos/acme/web/rulesets/rule-suites", 403, "X-Accepted-Github-Permissions", "administration=write"},
		{"poor", "GET", "/orgs/acme/actions/runners", 403, "X-Accepted-Oauth-Scopes", "admin:org"},
		{"poor", "GET", "/repos/acme/web/actions/runs", 404, "X-Oauth-Scopes", "read:org"},
		{"act", "GET", "/repos/nobody/hidden/actions/runners", 404, "", ""},
		{"act", "GET", "/orgs/acme/personal-access-tokens", 403, "X-Oauth-Scopes", "admin:org"},
		{"act", "GET", "/enterprises/big/actions/runners", 200, "", ""},
	} {
		if code := w.ask(x.who, x.method, x.path, nil, nil); code != x.code || x.header != "" && !strings.Contains(w.header.Get(x.header), x.says) {
			t.Errorf("%s %s %s: %d, %s: %q", x.who, x.method, x.path, code, x.header, w.header.Get(x.header))
		}
	}
	if w.effects() != nil {
		t.Errorf("a refusal had effects: %v", w.effects())
	}
}

// Custom labels can be set, added and taken off; read-only ones cannot, and clearing
// leaves them.
func TestLabels(t *testing.T) {
	w := newWorld(t)
	const at = "/orgs/acme/actions/runners/23/labels"
	type labels struct {
		Total  int `json:"total_count"`
		Labels []struct{ Name, Type string }
	}
	names := func(l labels) string {
		var out []string
		for _, x := range l.Labels {
			if x.Type == "custom" {
				out = append(out, x.Name)
			}
		}
		return strings.Join(out, " ")
	}
	var l labels
	if c := w.ask("act", "PUT", at, map[string]any{"labels": []string{"a", "self-hosted", "b"}}, &l); c != 200 || names(l) != "a b" || l.Total != 5 {
		t.Errorf("PUT: %d %+v", c, l)
	}
	if c := w.ask("act", "POST", at, map[string]any{"labels": []string{"c"}}, &l); c != 200 || names(l) != "a b c" {
		t.Errorf("POST: %d %+v", c, l)
	}
	if c := w.ask("act", "DELETE", at+"/b", nil, &l); c != 200 || names(l) != "a c" {
		t.Errorf("DELETE one: %d %+v", c, l)
	}
	for path, want := range map[string]int{at + "/nothere": 404, at + "/self-hosted": 422} {
		if c := w.ask("act", "DELETE", path, nil, nil); c != want {
			t.Errorf("DELETE %s: %d", path, c)
		}
	}
	if c := w.ask("act", "PUT", at, map[string]any{"labels": []string{}}, &l); c != 200 || l.Total != 3 {
		t.Errorf("PUT nothing: %d %+v", c, l)
	}
	if c := w.ask("act", "POST", at, map[string]any{"labels": []string{}}, nil); c != 422 {
		t.Errorf("POST nothing: %d", c)
	}
	if n := len(w.effects()); n != 4 {
		t.Errorf("%d effects: %v", n, w.effects())
	}
}

// A quarantine group is made with its runner, has no repositories, cannot be deleted
// while it is full; leaving it leads to the default group and not to the old one.
func TestGroups(t *testing.T) {
	w := newWorld(t)
	const at = "/orgs/acme/actions/runner-groups"
	var g struct {
		ID         int
		Visibility string
	}
	body := map[string]any{"name": "quarantine", "visibility": "selected", "runners": []int{23}}
	if c := w.ask("act", "POST", at, body, &g); c != 201 || g.Visibility != "selected" {
		t.Fatalf("create: %d %+v", c, g)
	}
	if c := w.ask("act", "POST", at, body, nil); c != 409 {
		t.Errorf("the same name again: %d", c)
	}
	var r struct {
		Group int `json:"runner_group_id"`
	}
	w.ask("look", "GET", "/orgs/acme/actions/runners/23", nil, &r)
	if r.Group != g.ID {
		t.Errorf("the runner is in group %d", r.Group)
	}
	own := fmt.Sprintf("%s/%d", at, g.ID)
	if c := w.ask("act", "DELETE", own, nil, nil); c != 422 {
		t.Errorf("delete a full group: %d", c)
	}
	if c := w.ask("act", "DELETE", own+"/runners/23", nil, nil); c != 204 {
		t.Errorf("leave: %d", c)
	}
	w.ask("look", "GET", "/orgs/acme/actions/runners/23", nil, &r)
	if r.Group != 1 {
		t.Errorf("it left for group %d", r.Group)
	}
	for _, x := range []struct {
		method, path string
		body         any
		code         int
	}{
		{"PUT", at + "/2/runners/23", nil, 204},
		{"DELETE", own, nil, 204},
		{"PUT", at + "/2/repositories", map[string]any{"selected_repository_ids": []int{}}, 204},
		{"PUT", at + "/2/repositories/11", nil, 204},
		{"PATCH", at + "/2", map[string]any{"name": "release", "visibility": "all"}, 200},
		{"PATCH", at + "/1", map[string]any{"name": "other"}, 422},
		{"DELETE", at + "/1", nil, 422},
		{"PATCH", at + "/9", map[string]any{"name": "mine"}, 403},
		{"PUT", at + "/2/runners/31", nil, 404}, // a repository's runner cannot be moved here
	} {
		if c := w.ask("act", x.method, x.path, x.body, nil); c != x.code {
			t.Errorf("%s %s: %d, want %d", x.method, x.path, c, x.code)
		}
	}
	var log []struct{ Action string }
	w.ask("look", "GET", "/orgs/acme/audit-log?per_page=100", nil, &log)
	var actions []string
	for _, e := range log {
		actions = append(actions, e.Action)
	}
	for _, want := range []string{
		"org.runner_group_created", "org.runner_group_runners_added", "org.runner_group_runner_removed", "org.runner_group_removed",
		"org.runner_group_updated", "org.runner_group_visiblity_updated", "org.register_self_hosted_runner",
	} {
		if !slices.Contains(actions, want) {
			t.Errorf("no %s in %v", want, actions)
		}
	}
}

// What is deleted is gone with an effect of its own, once.
func TestDeletions(t *testing.T) {
	w := newWorld(t)
	for _, x := range []struct{ who, method, path, effect string }{
		{"act", "DELETE", "/repos/acme/web/keys/301", "key.delete"},
		{"act", "DELETE", "/repos/acme/web/actions/caches/401", "cache.delete"},
		{"act", "DELETE", "/repos/acme/web/actions/artifacts/451", "artifact.delete"},
		{"act", "DELETE", "/orgs/acme/credential-authorizations/71", "sso.remove"},
		{"act", "DELETE", "/orgs/acme/actions/runners/24", "runner.delete"},
		{"act", "DELETE", "/repos/acme/web/actions/runners/31", "runner.delete"},
	} {
		if c := w.ask(x.who, x.method, x.path, nil, nil); c != 204 || !w.did(x.effect) {
			t.Errorf("%s: %d, %v", x.path, c, w.effects())
		}
		if c := w.ask(x.who, x.method, x.path, nil, nil); c != 404 {
			t.Errorf("%s again: %d", x.path, c)
		}
	}
	if c := w.ask("act", "DELETE", "/repos/acme/web/actions/caches?key=npm", nil, nil); c != 200 {
		t.Errorf("caches by key: %d", c)
	}
	if c := w.ask("patron", "POST", "/orgs/acme/personal-access-tokens/61", map[string]string{"action": "revoke"}, nil); c != 204 || !w.did("pat.revoke") {
		t.Errorf("revoke a token's access: %d", c)
	}
	token, _ := w.api.PersonToken("narrow")
	if c, _ := w.do("", "POST", "/api/v3/credentials/revoke", map[string]any{"credentials": []string{token}}); c != 202 {
		t.Errorf("revoke a leaked token: %d", c)
	}
	if c, _ := w.do(token, "GET", "/api/v3/orgs/acme/actions/runners", nil); c != 401 {
		t.Errorf("the revoked token: %d", c)
	}
}

func TestPolicies(t *testing.T) {
	w := newWorld(t)
	for _, x := range []struct {
		path string
		body any
		code int
	}{
		{"/orgs/acme/actions/permissions/self-hosted-runners", map[string]string{"enabled_repositories": "none"}, 204},
		{"/orgs/acme/actions/permissions/self-hosted-runners", map[string]string{"enabled_repositories": "some"}, 422},
		{"/orgs/acme/actions/permissions", map[string]string{"enabled_repositories": "none"}, 204},
		{"/repos/acme/web/actions/permissions", map[string]bool{"enabled": false}, 204},
		{"/repos/acme/web/actions/workflows/111/disable", nil, 204},
		{"/repos/acme/web/actions/workflows/build.yml/enable", nil, 204},
	} {
		if c := w.ask("act", "PUT", x.path, x.body, nil); c != x.code {
			t.Errorf("PUT %s: %d, want %d", x.path, c, x.code)
		}
	}
	var on struct{ Enabled bool }
	if w.ask("look", "GET", "/repos/acme/web/actions/permissions", nil, &on); on.Enabled {
		t.Error("Actions is still on")
	}
	for _, want := range []string{"policy.self_hosted", "policy.actions by act: organization:acme", "policy.actions by act: repository:acme/web", "workflow.disable", "workflow.enable"} {
		if !w.did(want) {
			t.Errorf("no %s in %v", want, w.effects())
		}
	}
}

// What GitHub does not describe happens here in its worse way: a field that is left out and
// a list that is not gone by are lost.
func TestASwitchThatIsThrownLosesWhatItDoesNotSay(t *testing.T) {
	w := newWorld(t)
	put := func(path string, body any) {
		if c := w.ask("act", "PUT", path, body, nil); c != 204 {
			t.Fatalf("PUT %s: %d", path, c)
		}
	}
	said := func(path string) string {
		var m map[string]any
		if c := w.ask("act", "GET", path, nil, &m); c != 200 {
			t.Fatalf("GET %s: %d", path, c)
		}
		return fmt.Sprintf("%v %v %v %v %v %v", m["enabled"], m["enabled_repositories"], m["enabled_organizations"], m["allowed_actions"], m["sha_pinning_required"], m["total_count"])
	}
	const repo, org, ent = "/repos/acme/web/actions/permissions", "/orgs/acme/actions/permissions", "/enterprises/big/actions/permissions"
	put(repo, map[string]any{"enabled": true, "allowed_actions": "local_only", "sha_pinning_required": true})
	put(repo, map[string]any{"enabled": false})
	if got := said(repo); got != "false <nil> <nil> <nil> <nil> <nil>" {
		t.Errorf("off: %s", got)
	}
	put(repo, map[string]any{"enabled": true})
	if got := said(repo); got != "true <nil> <nil> all false <nil>" {
		t.Errorf("on again, and no more said: %s", got)
	}
	for at, list := range map[string]string{org: "repositories", ent: "organizations"} {
		field := map[string]string{org: "selected_repository_ids", ent: "selected_organization_ids"}[at]
		put(at, map[string]any{"enabled_" + list: "selected"})
		put(at+"/"+list, map[string]any{field: []int{map[string]int{org: 11, ent: 900}[at]}})
		if got := said(at + "/" + list); !strings.HasSuffix(got, " 1") {
			t.Errorf("%s: %s", list, got)
		}
		put(at, map[string]any{"enabled_" + list: "none"})
		put(at, map[string]any{"enabled_" + list: "selected"})
		if got := said(at + "/" + list); !strings.HasSuffix(got, " 0") {
			t.Errorf("%s after none: %s", list, got)
		}
	}
	for _, want := range []string{
		"policy.actions repository:acme/web all/local_only/pinned to none", "policy.actions repository:acme/web none to all/all",
		"policy.actions.repositories organization:acme [] to [acme/web]", "policy.actions.organizations enterprise:big [] to [acme]",
	} {
		if !slices.ContainsFunc(w.ledger.Entries(), func(e ledger.Entry) bool { return e.Effect+" "+e.Target+" "+e.Detail == want }) {
			t.Errorf("no %q in %+v", want, w.ledger.Entries())
		}
	}
}

// A workflow that is disabled, and Actions that is off somewhere above, start nothing; what
// waits already goes on, as far as anybody knows.
func TestWhatIsOffStartsNothingAndWhatWaitsGoesOn(t *testing.T) {
	for name, x := range map[string][2]string{
		"the workflow":     {"/repos/acme/web/actions/workflows/111/disable", ""},
		"the repository":   {"/repos/acme/web/actions/permissions", `{"enabled":false}`},
		"the organization": {"/orgs/acme/actions/permissions", `{"enabled_repositories":"none"}`},
		"not selected":     {"/orgs/acme/actions/permissions", `{"enabled_repositories":"selected"}`},
		"the enterprise":   {"/enterprises/big/actions/permissions", `{"enabled_organizations":"none"}`},
	} {
		w := newWorld(t)
		if _, err := w.api.AddJob("acme/web", "", []string{"release"}, time.Second); err != nil {
			t.Fatalf("control: %v", err)
		}
		var body any
		if x[1] != "" {
			body = json.RawMessage(x[1])
		}
		if c := w.ask("act", "PUT", x[0], body, nil); c != 204 {
			t.Fatalf("%s: %d", name, c)
		}
		if _, err := w.api.AddJob("acme/web", "", []string{"release"}, time.Second); err == nil {
			t.Errorf("%s is off, and a job was started", name)
		}
		a := w.agent(23)
		a.open("b1")
		if id := a.job(); id != "5031" {
			t.Errorf("%s is off, and what waited is %q", name, id)
		}
	}
}

// An enterprise's audit log has its own events and those of its organizations.
func TestAnEnterprisesAuditLog(t *testing.T) {
	w := newWorld(t)
	if c := w.ask("act", "PUT", "/enterprises/big/actions/permissions", map[string]any{"enabled_organizations": "none"}, nil); c != 204 {
		t.Fatal(c)
	}
	var log []struct{ Action, Org, Business string }
	w.ask("act", "GET", "/enterprises/big/audit-log?per_page=100", nil, &log)
	var got []string
	for _, e := range log {
		got = append(got, e.Action+" "+e.Org+e.Business)
	}
	for _, want := range []string{"enterprise.update_actions_settings big", "enterprise.register_self_hosted_runner big", "org.register_self_hosted_runner acme", "repo.register_self_hosted_runner acme"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q in %v", want, got)
		}
	}
	if slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "nobody") }) {
		t.Errorf("what is of others: %v", got)
	}
}

// A busy runner is refused with GitHub's words; under the fault for ever, whatever its page says.
func TestBusyIsRefused(t *testing.T) {
	w := newWorld(t)
	if err := w.faults.Set(fault.Busy422); err != nil {
		t.Fatal(err)
	}
	var said struct{ Message string }
	if c := w.ask("act", "DELETE", "/orgs/acme/actions/runners/23", nil, &said); c != 422 || said.Message != `Runner "b1" is currently running a job and cannot be deleted` {
		t.Errorf("%d %q", c, said.Message)
	}
	var r struct{ Busy bool }
	if w.ask("look", "GET", "/orgs/acme/actions/runners/23", nil, &r); r.Busy {
		t.Error("its page says that it is busy")
	}
	if w.did("runner.delete") {
		t.Errorf("%v", w.effects())
	}
}

// Cancelling ends what waits, is refused for what is over, and hits the whole run.
func TestCancel(t *testing.T) {
	w := newWorld(t)
	if c := w.ask("act", "POST", "/repos/acme/web/actions/runs/501/cancel", nil, nil); c != 409 {
		t.Errorf("a completed run: %d", c)
	}
	if c := w.ask("act", "POST", "/repos/acme/web/actions/runs/503/cancel", nil, nil); c != 202 || !w.did("run.cancel by act: repository:acme/web/run/503") {
		t.Errorf("a queued run: %d, %v", c, w.effects())
	}
	var r struct{ Status, Conclusion string }
	if w.ask("look", "GET", "/repos/acme/web/actions/runs/503", nil, &r); r.Status != "completed" || r.Conclusion != "cancelled" {
		t.Errorf("%+v", r)
	}
	if c := w.ask("act", "POST", "/repos/acme/web/actions/runs/503/force-cancel", nil, nil); c != 409 {
		t.Errorf("again by force: %d", c)
	}
}

// A filtered search finds a thousand runs at most; without a filter all are there.
func TestRunsAreCut(t *testing.T) {
	w := newWorld(t)
	for range 1010 {
		if _, err := w.api.AddJob("acme/open", "", []string{"none"}, time.Second); err != nil {
			t.Fatal(err)
		}
	}
	page := func(query string) (got, total int) {
		var l struct {
			Total int                `json:"total_count"`
			Runs  []struct{ ID int } `json:"workflow_runs"`
		}
		token, _ := w.api.PersonToken("look")
		_, b := w.do(token, "GET", "/api/v3/repos/acme/open/actions/runs?per_page=100&page="+query, nil)
		decode(t, b, &l)
		return len(l.Runs), l.Total
	}
	for query, want := range map[string]int{"10&status=queued": 100, "11&status=queued": 0, "11": 10} {
		if got, total := page(query); got != want || total != 1010 {
			t.Errorf("page %s: %d of %d, want %d", query, got, total, want)
		}
	}
}
