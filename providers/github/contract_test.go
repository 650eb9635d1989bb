package github

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/providers"
	"cordon/providers/providertest"
)

// description is the part of GitHub's own API description that runners need. Its examples
// are official; it does not bound per_page.
type description struct{ *openapi3.T }

var load = sync.OnceValues(func() (description, error) {
	b, err := os.ReadFile("../../testdata/api/github-actions.openapi3.json")
	if err != nil {
		return description{}, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(b)
	return description{doc}, err
})

func described(t *testing.T) description {
	t.Helper()
	d, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// elsewhere are requests that GitHub describes outside of the kept part, by their first and
// last literal segments; docs.github.com/en/rest has them all.
var elsewhere = map[string]string{
	"/meta": "meta/meta", "/user": "users/users", "/user/orgs": "orgs/orgs", "/user/repos": "repos/repos", "/rate_limit": "rate-limit",
	"/installation/repositories": "apps/installations", "/orgs/{org}": "orgs/orgs", "/orgs/{org}/repos": "repos/repos",
	"/users/{user}": "users/users", "/users/{user}/repos": "repos/repos", "/repos/{owner}/{repo}": "repos/repos",
	"/orgs/{org}/credential-authorizations":                "orgs/orgs, for organizations with SAML",
	"/orgs/{org}/credential-authorizations/{id}":           "orgs/orgs, for organizations with SAML",
	"/orgs/{org}/personal-access-tokens":                   "orgs/personal-access-tokens",
	"/orgs/{org}/personal-access-tokens/{id}":              "orgs/personal-access-tokens",
	"/repos/{owner}/{repo}/teams":                          "repos/repos",
	"/repos/{owner}/{repo}/properties/values":              "repos/custom-properties",
	"/repos/{owner}/{repo}/contents/{path...}":             "repos/contents",
	"/repos/{owner}/{repo}/commits":                        "commits/commits",
	"/repos/{owner}/{repo}/environments":                   "deployments/environments",
	"/repos/{owner}/{repo}/deployments":                    "deployments/deployments",
	"/repos/{owner}/{repo}/releases":                       "releases/releases",
	"/repos/{owner}/{repo}/events":                         "activity/events",
	"/repos/{owner}/{repo}/attestations/{subject_digest}":  "repos/attestations",
	"/repos/{owner}/{repo}/actions/workflows":              "actions/workflows",
	"/repos/{owner}/{repo}/rulesets/rule-suites":           "repos/rule-suites",
	"/repos/{owner}/{repo}/actions/workflows/{id}":         "actions/workflows",
	"/repos/{owner}/{repo}/actions/workflows/{id}/enable":  "actions/workflows",
	"/repos/{owner}/{repo}/actions/workflows/{id}/disable": "actions/workflows",
	"/orgs/{org}/packages":                                 "packages/packages",
	"/orgs/{org}/packages/{type}/{name}/versions":          "packages/packages",
	"/users/{user}/packages":                               "packages/packages",
	"/users/{user}/packages/{type}/{name}/versions":        "packages/packages",
}

// pathFits reports whether a path is one of a pattern; "{x...}" takes the rest.
func pathFits(pattern, path string) (map[string]string, bool) {
	want, have := strings.Split(pattern, "/"), strings.Split(path, "/")
	params := map[string]string{}
	for i, w := range want {
		if strings.HasSuffix(w, "...}") && i < len(have) {
			return params, true
		}
		if i >= len(have) || !strings.HasPrefix(w, "{") && w != have[i] || have[i] == "" && w != "" {
			return nil, false
		}
		if name, ok := strings.CutPrefix(w, "{"); ok {
			params[strings.TrimSuffix(name, "}")], _ = url.PathUnescape(have[i])
		}
	}
	return params, len(want) == len(have)
}

// find prefers a path with fewer placeholders, as a router does.
func (d description) find(method, path string) (*routers.Route, map[string]string) {
	var best *routers.Route
	var params map[string]string
	for pattern, item := range d.Paths.Map() {
		got, ok := pathFits(pattern, path)
		op := item.GetOperation(method)
		if !ok || op == nil || best != nil && strings.Count(pattern, "{") >= strings.Count(best.Path, "{") {
			continue
		}
		best, params = &routers.Route{Spec: d.T, Path: pattern, PathItem: item, Method: method, Operation: op}, got
	}
	return best, params
}

// valid says what the description has against a request; "" is nothing.
func (d description) valid(r providertest.Sent) string {
	u, err := url.ParseRequestURI(strings.TrimPrefix(r.URI, "/api/v3"))
	if err != nil {
		return err.Error()
	}
	route, params := d.find(r.Method, u.EscapedPath())
	if route == nil {
		for pattern := range elsewhere {
			if _, ok := pathFits(pattern, u.EscapedPath()); ok {
				return ""
			}
		}
		return "no such path and method"
	}
	for key := range u.Query() {
		if key != "page" && route.Operation.Parameters.GetByInAndName("query", key) == nil { // every list has pages
			return "no query parameter " + key
		}
	}
	q := u.Query()
	q.Del("created") // the description calls it one time; docs: search syntax for dates, with ranges
	u.RawQuery = q.Encode()
	req, err := http.NewRequestWithContext(context.Background(), r.Method, "http://api"+u.RequestURI(), io.NopCloser(bytes.NewReader([]byte(r.Body))))
	if err != nil {
		return err.Error()
	}
	if r.Body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	in := &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route}
	if err := openapi3filter.ValidateRequest(context.Background(), in); err != nil {
		return err.Error()
	}
	return unknownFields(route, r.Body)
}

// unknownFields says which field of a body the description does not have.
func unknownFields(route *routers.Route, body string) string {
	if body == "" {
		return ""
	}
	if route.Operation.RequestBody == nil {
		return "it takes no body"
	}
	var sent map[string]any
	if err := json.Unmarshal([]byte(body), &sent); err != nil {
		return "the body is no JSON object"
	}
	schema := route.Operation.RequestBody.Value.Content.Get("application/json").Schema.Value
	for key := range sent {
		if schema.Properties[key] == nil {
			return "no body field " + key
		}
	}
	return ""
}

func TestTheCheckOfRequestsFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	d := described(t)
	for name, bad := range map[string]providertest.Sent{
		"path":       {Method: "GET", URI: "/api/v3/orgs/acme/actions/runners/23/secrets"},
		"query":      {Method: "GET", URI: "/api/v3/orgs/acme/actions/runners?label=x"},
		"enum":       {Method: "GET", URI: "/api/v3/repos/acme/web/actions/runs?status=Running"},
		"verb":       {Method: "PATCH", URI: "/api/v3/orgs/acme/actions/runners/23"},
		"id":         {Method: "DELETE", URI: "/api/v3/orgs/acme/actions/runners/build-07"},
		"body":       {Method: "PUT", URI: "/api/v3/orgs/acme/actions/runners/23/labels", Body: `{"label":[]}`},
		"body type":  {Method: "PUT", URI: "/api/v3/orgs/acme/actions/runners/23/labels", Body: `{"labels":"x"}`},
		"no body":    {Method: "PUT", URI: "/api/v3/orgs/acme/actions/runners/23/labels"},
		"body field": {Method: "POST", URI: "/api/v3/orgs/acme/actions/runner-groups", Body: `{"name":"x","selected_organization_ids":[]}`},
		"visibility": {Method: "POST", URI: "/api/v3/orgs/acme/actions/runner-groups", Body: `{"name":"x","visibility":"none"}`},
	} {
		if d.valid(bad) == "" {
			t.Errorf("a wrong %s is found valid", name)
		}
	}
	good := providertest.Sent{Method: "PUT", URI: "/api/v3/orgs/acme/actions/runners/23/labels", Body: `{"labels":[]}`}
	if why := d.valid(good); why != "" {
		t.Errorf("control: %s", why)
	}
}

// TestEveryRouteOfTheTableIsDescribed walks the reads of the whole package.
func TestEveryRouteOfTheTableIsDescribed(t *testing.T) {
	d := described(t)
	known, kept := 0, 0
	for _, r := range Reads() {
		if r.Method != http.MethodGet {
			continue // with its exact body: see the tests of what sends it
		}
		path := fill(r.Pattern)
		uri := "/api/v3" + path
		for i, key := range r.Query {
			uri += map[bool]string{true: "?", false: "&"}[i == 0] + key + "=" + sample[key]
		}
		if why := d.valid(providertest.Sent{Method: r.Method, URI: uri}); why != "" {
			t.Errorf("%s: %s", uri, why)
		}
		known++
		if route, _ := d.find(r.Method, path); route != nil {
			kept++
		}
	}
	for _, r := range Reads() { // what nobody asks is not allowed either
		if slices.Contains([]string{"/rate_limit", "/meta", "/repos/{owner}/{repo}"}, r.Pattern) {
			t.Errorf("%s is read by nobody", r.Pattern)
		}
	}
	if known < 50 || kept < 40 {
		t.Errorf("control: %d routes, %d of them in the description", known, kept)
	}
}

var sample = map[string]string{
	"page": "1", "per_page": "1", "status": "in_progress", "sort": "last_accessed_at", "direction": "desc", "filter": "all", "created": "2026-11-30T00:00:00Z",
	"exclude_pull_requests": "true", "include": "all", "order": "asc", "name": "x", "actor": "x", "phrase": "x",
}

// fill gives every placeholder of a pattern a value that its kind can have.
func fill(pattern string) string {
	parts := strings.Split(pattern, "/")
	for i, p := range parts {
		name, ok := strings.CutPrefix(p, "{")
		if !ok {
			continue
		}
		name = strings.TrimSuffix(name, "}")
		switch {
		case name == "id" || name == "n" || strings.HasSuffix(name, "_id"):
			parts[i] = "23"
		case name == "version":
			parts[i] = "2.330.0"
		default:
			parts[i] = "x"
		}
	}
	return strings.Join(parts, "/")
}

// TestEveryRequestIsOneThatGitHubDescribes makes every change that the package can make, on
// every level, with the reads that go with it.
func TestEveryRequestIsOneThatGitHubDescribes(t *testing.T) {
	t.Parallel()
	d := described(t)
	done := map[string]bool{} // operations that were sent
	seen := map[string]bool{}
	for _, ref := range []target.Ref{runner(23, organization, "acme"), runner(7, repository, "acme/web"), runner(3, enterprise, "big")} {
		l := openActing(t, providertest.Wait)
		l.fake.change(enterpriseToo)
		l.fake.change(func(f *fake) { f.acts().app = 4 }) // of the App that is suspended
		ctx := context.Background()
		for _, verb := range []string{providers.Pause, providers.Resume, providers.Purge, providers.Cancel, providers.Rotate, providers.Revoke, providers.Deregister} {
			plans, err := l.Plan(ctx, verb, ref, []byte(`{"case":"c1"}`))
			if err != nil {
				t.Fatalf("plan %s of %s: %v", verb, ref, err)
			}
			for _, p := range plans {
				for _, c := range p.Changes {
					l.carry(t, d, c, done)
					if verb == providers.Pause && p.Option == "quarantine" {
						l.resumed(t, d, ref, done) // out of it and its group gone, then into it again
					}
					if c.Undo != nil {
						l.carry(t, d, *c.Undo, done)
					}
				}
			}
		}
		l.askAll(ctx, ref)
		for _, r := range l.wire.Sent() {
			if why := d.valid(r); why != "" && !seen[r.URI] {
				t.Errorf("%s %s %s: %s", r.Method, r.URI, r.Body, why)
			}
			seen[r.URI] = true
		}
	}
	for op := range operations {
		if !done[op] {
			t.Errorf("%s was never sent: nothing is known of its call", op)
		}
	}
}

// askAll asks everything that the package answers.
func (l *acting) askAll(ctx context.Context, ref target.Ref) {
	since := l.fake.now.Add(-24 * time.Hour)
	_, _ = l.Observe(ctx, ref)
	_, _ = l.Gather(ctx, ref, providers.Express, &providertest.Sink{})
	_ = l.Runners(ctx, func(providers.Page) error { return nil })
	_, _ = l.Runner(ctx, target.Ref{System: "gh", Kind: target.Runner, ID: ref.ID})
	_, _ = l.Can(ctx, ref)
	_, _ = l.WhoAmI(ctx)
	_, _, _ = l.Jobs(ctx, ref, since, 100)
	_, _, _ = l.RunningJobs(ctx, ref)
	_, _, _ = l.Exposure(ctx, ref, since)
	_, _, _ = l.Published(ctx, ref, since)
	_, _ = l.Returned(ctx, ref, providers.Traits{Names: []string{"build-07"}}, since)
	_, _ = l.Expiring(ctx, ref, since)
	_, _ = l.Audit(ctx, ref, providers.Traits{Names: []string{"build-07"}}, since)
	_, _ = l.JobsCost(ctx, ref, since)
	for _, page := range []string{"/acme/web/actions/runs/77/job/500", "/acme/web/actions/runs/77", "/organizations/acme/settings/actions/runners/23", "/acme/web"} {
		if u, err := url.Parse(l.base + page); err == nil {
			_, _ = l.Find(ctx, u)
		}
	}
}

// resumed carries out the first way out of a quarantine, with the removal of the group,
// and then puts the runner into a new one again.
func (l *acting) resumed(t *testing.T, d description, ref target.Ref, done map[string]bool) {
	t.Helper()
	for _, verb := range []string{providers.Resume, providers.Pause} {
		plans, err := l.Plan(context.Background(), verb, ref, []byte(`{"case":"c1"}`))
		if err != nil || len(plans[0].Changes) == 0 {
			t.Fatalf("%s: %+v, %v", verb, plans, err)
		}
		for _, c := range plans[0].Changes {
			l.carry(t, d, c, done)
		}
	}
}

// enterpriseToo gives the enterprise a group of its own and a runner with labels in it.
func enterpriseToo(f *fake) {
	f.groups["enterprises/big"][2] = &fakeGroup{ID: 2, Name: "builders", Visibility: "selected", Workflows: []string{}, Repos: []int64{1}}
	x := f.runners["enterprises/big"][3]
	x.GroupID = 2
	x.Labels = append(x.Labels, fakeLabel{0, "win", "custom"})
}

// carry checks a captured call and carries it out; what is stale by now is not sent.
func (l *acting) carry(t *testing.T, d description, c change.Change, done map[string]bool) {
	t.Helper()
	r := providertest.Sent{Method: c.Call.Method, URI: strings.TrimPrefix(c.Call.URL, l.base), Body: c.Call.Body}
	if why := d.valid(r); why != "" {
		t.Errorf("%s: %s: %s", c.Op, c.Call, why)
	}
	before := len(l.wire.Changes())
	out, err := l.apply.Apply(allowed(t, c), c)
	if len(l.wire.Changes()) > before {
		done[c.Op] = true
		if out.State != change.Applied {
			t.Errorf("%s: %+v, %v", c.Op, out, err)
		}
	}
}

func allowed(t *testing.T, c change.Change) context.Context {
	t.Helper()
	p, err := change.NewIssuer().Permit(c, c.Digest())
	if err != nil {
		t.Fatal(err)
	}
	return change.WithPermit(context.Background(), p)
}
