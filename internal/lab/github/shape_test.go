package github

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// description is the part of GitHub's own API description that runners need.
var description = sync.OnceValues(func() (*openapi3.T, error) {
	b, err := os.ReadFile("../../../testdata/api/github-actions.openapi3.json")
	if err != nil {
		return nil, err
	}
	return openapi3.NewLoader().LoadFromData(b)
})

// elsewhere begin paths that GitHub describes outside of the kept part; their shapes are
// from docs.github.com/rest.
var elsewhere = []string{
	"/user", "/users/", "/meta", "/repositories/", "/installation/repositories", "/orgs/acme/repos", "/orgs/acme/teams", "/orgs/acme/packages", "/orgs/acme/personal-access-tokens",
	"/orgs/acme/credential-authorizations", "/repos/acme/web/environments", "/repos/acme/web/releases", "/repos/acme/web/tags", "/repos/acme/web/contents",
	"/repos/acme/web/commits", "/repos/acme/web/deployments", "/repos/acme/web/pulls", "/repos/acme/web/teams", "/repos/acme/web/properties", "/repos/acme/web/attestations",
	"/repos/acme/web/actions/workflows", "/repos/acme/web/events", "/repos/acme/web/rulesets",
}

// route finds the path of the description that has most of the words of a path.
func route(d *openapi3.T, method, path string) (*routers.Route, map[string]string) {
	var best *routers.Route
	var params map[string]string
	have := strings.Split(path, "/")
	for pattern, item := range d.Paths.Map() {
		want := strings.Split(pattern, "/")
		op := item.GetOperation(method)
		if op == nil || len(want) != len(have) || best != nil && strings.Count(pattern, "{") >= strings.Count(best.Path, "{") {
			continue
		}
		got, ok := map[string]string{}, true
		for i, w := range want {
			if name, is := strings.CutPrefix(w, "{"); is {
				got[strings.TrimSuffix(name, "}")], _ = url.PathUnescape(have[i])
			} else {
				ok = ok && w == have[i]
			}
		}
		if ok {
			best, params = &routers.Route{Spec: d, Path: pattern, PathItem: item, Method: method, Operation: op}, got
		}
	}
	return best, params
}

// fits says what the description has against an answer; "" is nothing. Refusals that it
// does not list for a path still have to be GitHub's error object.
func fits(method, path string, code int, h http.Header, body []byte) string {
	d, err := description()
	if err != nil {
		return err.Error()
	}
	bare, _, _ := strings.Cut(path, "?")
	r, params := route(d, method, bare)
	if r == nil {
		for _, p := range elsewhere {
			if strings.HasPrefix(bare, p) || bare == "/orgs/acme" || bare == "/repos/acme/web" {
				return ""
			}
		}
		return "no such path and method"
	}
	if r.Operation.Responses.Status(code) == nil {
		if code >= 400 && strings.Contains(string(body), `"message"`) {
			return ""
		}
		return fmt.Sprintf("%d is not one of its answers", code)
	}
	in := &openapi3filter.RequestValidationInput{Request: httptest.NewRequest(method, "http://api"+path, nil), PathParams: params, Route: r}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: code, Header: h, Options: &openapi3filter.Options{IncludeResponseStatus: true}}
	out.SetBodyBytes(body)
	if err := openapi3filter.ValidateResponse(context.Background(), out); err != nil {
		return err.Error()
	}
	return ""
}

// Whatever the lab's GitHub answers has the shape that GitHub describes, for readers of
// both kinds of token.
func TestAnswersFitTheDescription(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{
		"/rate_limit", "/meta", "/user", "/user/orgs", "/user/repos", "/orgs/acme", "/users/rosa", "/orgs/acme/repos", "/users/nobody/repos", "/repos/acme/web",
		"/orgs/acme/actions/runners", "/orgs/acme/actions/runners?name=b1&per_page=1", "/orgs/acme/actions/runners/23", "/orgs/acme/actions/runners/23/labels",
		"/orgs/acme/actions/runners/downloads", "/orgs/acme/actions/runners/deprecations/2.317.0", "/orgs/acme/actions/runners/999",
		"/repos/acme/web/actions/runners", "/repos/acme/web/actions/runners/31", "/repos/acme/web/actions/runners/23",
		"/orgs/acme/actions/runner-groups", "/orgs/acme/actions/runner-groups/1", "/orgs/acme/actions/runner-groups/2", "/orgs/acme/actions/runner-groups/9",
		"/orgs/acme/actions/runner-groups/2/runners", "/orgs/acme/actions/runner-groups/2/repositories", "/orgs/acme/actions/runner-groups/2/hosted-runners",
		"/orgs/acme/actions/permissions", "/orgs/acme/actions/permissions/self-hosted-runners", "/orgs/acme/actions/permissions/self-hosted-runners/repositories",
		"/repos/acme/web/actions/permissions", "/orgs/acme/actions/hosted-runners",
		"/repos/acme/web/actions/workflows", "/repos/acme/web/actions/workflows/111", "/repos/acme/web/actions/runs", "/repos/acme/web/actions/runs?status=completed&created=%3E%3D2026-02-28",
		"/repos/acme/web/actions/runs/501", "/repos/acme/web/actions/runs/502", "/repos/acme/web/actions/runs/503", "/repos/acme/web/actions/runs/501/attempts/1",
		"/repos/acme/web/actions/runs/501/jobs", "/repos/acme/web/actions/runs/501/jobs?filter=all", "/repos/acme/web/actions/runs/501/attempts/1/jobs",
		"/repos/acme/web/actions/runs/503/jobs", "/repos/acme/web/actions/jobs/5011", "/repos/acme/web/actions/runs/501/artifacts",
		"/repos/acme/web/actions/secrets", "/repos/acme/web/actions/organization-secrets", "/repos/acme/web/dependabot/secrets", "/repos/acme/web/codespaces/secrets",
		"/repos/acme/web/actions/variables", "/repos/acme/web/actions/organization-variables", "/repos/acme/web/environments",
		"/repos/acme/web/environments/prod%2Feu/secrets", "/repos/acme/web/environments/prod%2Feu/variables", "/orgs/acme/actions/secrets",
		"/orgs/acme/actions/secrets/ONE/repositories", "/orgs/acme/dependabot/secrets", "/orgs/acme/actions/variables", "/repos/acme/web/keys", "/repos/acme/web/keys/301",
		"/repos/acme/web/actions/caches", "/repos/acme/web/actions/artifacts", "/repos/acme/web/actions/artifacts/451", "/repos/acme/web/releases", "/repos/acme/web/tags",
		"/repos/acme/web/contents/.github/CODEOWNERS", "/repos/acme/web/contents/.github/workflows", "/repos/acme/web/commits?path=.github/workflows",
		"/repos/acme/web/commits/" + object("c"), "/repos/acme/web/deployments", "/repos/acme/web/deployments/481/statuses", "/repos/acme/web/pulls/17", "/repos/acme/web/teams",
		"/repos/acme/web/properties/values", "/repos/acme/web/events", "/orgs/acme/audit-log", "/orgs/acme/installations", "/orgs/acme/teams",
		"/orgs/acme/packages?package_type=container", "/orgs/acme/packages/container/web/versions",
	} {
		readers := []string{"look", "act"}
		for _, who := range readers {
			code := w.ask(who, "GET", path, nil, nil)
			if want := map[bool]int{true: 404, false: 200}[strings.HasSuffix(path, "/999") || strings.HasSuffix(path, "acme/web/actions/runners/23")]; code != want {
				t.Errorf("%s: GET %s: %d, want %d", who, path, code, want)
			}
		}
	}
	for _, path := range []string{
		"/enterprises/big/actions/runners", "/enterprises/big/actions/runners/40", "/enterprises/big/actions/runner-groups", "/enterprises/big/actions/runner-groups/9",
		"/enterprises/big/actions/runner-groups/9/organizations", "/enterprises/big/actions/runner-groups/9/runners", "/enterprises/big/actions/permissions", "/enterprises/big/actions/permissions/organizations", "/enterprises/big/audit-log",
	} {
		if code := w.ask("act", "GET", path, nil, nil); code != 200 {
			t.Errorf("GET %s: %d", path, code)
		}
	}
	if w.effects() != nil {
		t.Errorf("reading had effects: %v", w.effects())
	}
}

// A wrong answer is found: the check of shapes can fail.
func TestTheCheckOfShapesFindsWhatIsWrong(t *testing.T) {
	h := http.Header{"Content-Type": {"application/json"}}
	for name, x := range map[string]struct {
		path string
		code int
		body string
	}{
		"a field is missing": {"/orgs/acme/actions/runners/23", 200, `{"id":23,"name":"b1","os":"Linux","status":"online","labels":[]}`},
		"another type":       {"/orgs/acme/actions/runners", 200, `{"total_count":"1","runners":[]}`},
		"another word":       {"/orgs/acme/actions/permissions/self-hosted-runners", 200, `{"enabled_repositories":"some"}`},
		"no such path":       {"/orgs/acme/actions/nothing", 200, `{}`},
		"no such status":     {"/orgs/acme/actions/runners", 201, `{}`},
	} {
		if fits("GET", x.path, x.code, h, []byte(x.body)) == "" {
			t.Errorf("%s: nothing said", name)
		}
	}
}
