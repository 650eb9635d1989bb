package gitlab

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/change"
	"cordon/providers"
	"cordon/providers/providertest"
)

// swagger is the part of GitLab's own description that is checked. Its answers are
// not to be trusted (lists are written as one object); paths, parameters and enums are.
type swagger struct {
	Paths       map[string]map[string]operation `json:"paths"`
	Definitions map[string]struct {
		Properties map[string]any `json:"properties"`
	} `json:"definitions"`
}

type operation struct {
	Parameters []parameter `json:"parameters"`
}

type parameter struct {
	Name   string `json:"name"`
	In     string `json:"in"`
	Enum   []any  `json:"enum"`
	Schema struct {
		Ref string `json:"$ref"`
	} `json:"schema"`
}

func described(t *testing.T) swagger {
	t.Helper()
	b, err := os.ReadFile("../../testdata/api/gitlab-runners.swagger2.json")
	if err != nil {
		t.Fatal(err)
	}
	var s swagger
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// newer are query keys that the description (about 18.x) lacks and older versions
// ignore (facts/gitlab-gitea.md §1.1).
var newer = map[string]string{"include_projects": "GET /runners/:id, in newer code alone"}

// elsewhere are requests that GitLab describes outside of the CI part that is kept here.
var elsewhere = map[string]string{"GET /api/v4/user": "doc/api/users.md, \"Get the current user\""}

// valid says what the description has against a request; "" is nothing.
func (s swagger) valid(r providertest.Sent) string {
	u, err := url.ParseRequestURI(r.URI)
	if err != nil {
		return err.Error()
	}
	if elsewhere[r.Method+" "+r.URI] != "" {
		return ""
	}
	op, ok := s.find(r.Method, u.EscapedPath())
	if !ok {
		return "no such path and method"
	}
	for key, values := range u.Query() {
		if newer[key] != "" {
			continue
		}
		i := slices.IndexFunc(op.Parameters, func(p parameter) bool { return p.In == "query" && p.Name == key })
		if i < 0 {
			return "no query parameter " + key
		}
		if e := op.Parameters[i].Enum; len(e) > 0 && !slices.Contains(e, any(values[0])) {
			return fmt.Sprintf("%s may not be %s", key, values[0])
		}
	}
	if r.Body == "" {
		return ""
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(r.Body), &body); err != nil {
		return "the body is no JSON object"
	}
	for key := range body {
		if !s.takes(op, key) {
			return "no body field " + key
		}
	}
	return ""
}

func (s swagger) takes(op operation, key string) bool {
	for _, p := range op.Parameters {
		if p.In != "body" {
			continue
		}
		if _, ok := s.Definitions[strings.TrimPrefix(p.Schema.Ref, "#/definitions/")].Properties[key]; ok {
			return true
		}
	}
	return false
}

// find prefers a path written out over one with a placeholder, as a router does.
func (s swagger) find(method, path string) (operation, bool) {
	if op, ok := s.Paths[path][strings.ToLower(method)]; ok {
		return op, true
	}
	for pattern, ops := range s.Paths {
		want, have := strings.Split(pattern, "/"), strings.Split(path, "/")
		fits := len(want) == len(have)
		for i := 0; fits && i < len(want); i++ {
			fits = want[i] == have[i] || strings.HasPrefix(want[i], "{") && have[i] != ""
		}
		if op, ok := ops[strings.ToLower(method)]; fits && ok {
			return op, true
		}
	}
	return operation{}, false
}

func TestEveryRequestIsOneThatGitLabDescribes(t *testing.T) {
	s := described(t)
	seen := map[string]bool{}
	for _, verb := range []string{providers.Pause, providers.Resume, providers.Cancel, providers.Rotate, providers.Deregister} {
		l := open(t, providertest.Wait, func(o *Options) { o.Scopes = []string{"mine", "instance", "group:acme/tools", "project:acme/web.site"} })
		if verb == providers.Resume {
			l.fake.change(func(f *fake) { f.runners[42].paused = true })
		}
		if verb == providers.Cancel { // with its force
			l.fake.change(func(f *fake) { f.jobs[501] = &fakeJob{id: 501, runner: 42, project: 8, status: "canceling"} })
		}
		askAll(t, l)
		for _, c := range l.planned(t, verb) {
			if out, err := l.apply.Apply(allowed(t, c), c); err != nil || out.State != change.Applied {
				t.Fatalf("%s: %+v, %v", verb, out, err)
			}
		}
		l.fake.change(func(f *fake) { f.runners = map[int64]*fakeRunner{} }) // the canary's reads
		askAll(t, l)
		for _, r := range l.wire.Sent() {
			if why := s.valid(r); why != "" && !seen[r.URI] {
				t.Errorf("%s %s %s: %s", r.Method, r.URI, r.Body, why)
			}
			seen[r.URI] = true
		}
	}
	if len(seen) < 20 {
		t.Errorf("control: only %d different requests were checked", len(seen))
	}
	for name, bad := range map[string]providertest.Sent{
		"path":  {Method: "GET", URI: "/api/v4/runners/42/secrets"},
		"query": {Method: "GET", URI: "/api/v4/runners/42/jobs?system=x"},
		"enum":  {Method: "GET", URI: "/api/v4/runners/42/jobs?status=Running"},
		"verb":  {Method: "PATCH", URI: "/api/v4/runners/42"},
		"body":  {Method: "PUT", URI: "/api/v4/runners/42", Body: `{"pause":true}`},
	} {
		if s.valid(bad) == "" {
			t.Errorf("control: a wrong %s is found valid", name)
		}
	}
}

func TestEveryRouteOfTheTableIsDescribedAndUsed(t *testing.T) {
	s := described(t)
	l := open(t, providertest.Wait, func(o *Options) { o.Scopes = []string{"mine", "instance", "group:acme", "project:acme/web"} })
	l.fake.change(func(f *fake) { f.runners[42].typ = "instance_type" })
	l.askAs(t, Instance)
	c := l.plannedAs(t, providers.Cancel, Instance)[0]
	if _, err := l.apply.Apply(allowed(t, c), c); err != nil {
		t.Fatal(err)
	}
	l.fake.change(func(f *fake) { f.runners = map[int64]*fakeRunner{} })
	_, _ = l.Observe(context.Background(), runner(42, Instance))
	for _, r := range Reads() {
		path := strings.NewReplacer("{id}", "42", "{job_id}", "500", "{group}", "acme", "{project}", "7").Replace(r.Pattern)
		uri := path
		for _, key := range r.Query {
			uri += map[bool]string{true: "?", false: "&"}[uri == path] + key + "=" + map[string]string{"status": "running", "order_by": "id", "sort": "desc"}[key]
		}
		if why := s.valid(providertest.Sent{Method: r.Method, URI: uri}); why != "" && !strings.Contains(why, "may not be") {
			t.Errorf("%s %s: %s", r.Method, uri, why)
		}
		used := slices.ContainsFunc(l.wire.Sent(), func(x providertest.Sent) bool {
			at, _, _ := strings.Cut(x.URI, "?")
			want, have := strings.Split(r.Pattern, "/"), strings.Split(at, "/")
			if x.Method != r.Method || len(want) != len(have) {
				return false
			}
			for i := range want {
				if want[i] != have[i] && !strings.HasPrefix(want[i], "{") {
					return false
				}
			}
			return true
		})
		if !used {
			t.Errorf("%s %s is on the table and nothing asks it: take it off", r.Method, r.Pattern)
		}
	}
}

// The calls that look like reads and are not, or that put a runner's token on the wire.
func TestWhatIsNotOnTheTableNeedsAPermit(t *testing.T) {
	l := open(t, providertest.Wait)
	for _, path := range []string{"runners/router/discovery", "runners/42/jobs?system_id=x", "users", "projects/7/variables/DEPLOY_KEY", "projects/7/jobs/500/trace"} {
		at, q, _ := strings.Cut(path, "?")
		query, _ := url.ParseQuery(q)
		_, err := l.api.get(context.Background(), at, query)
		if err == nil || !strings.Contains(err.Error(), change.ErrNoPermit.Error()) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if n := len(l.wire.Sent()); n != 0 {
		t.Errorf("%d requests left", n)
	}
}

func askAll(t *testing.T, l *lab) {
	t.Helper()
	l.askAs(t, Project)
}

func (l *lab) askAs(t *testing.T, level string) {
	t.Helper()
	ctx, ref, since := context.Background(), runner(42, level), l.fake.now.Add(-24*time.Hour)
	_ = l.Runners(ctx, func(providers.Page) error { return nil })
	_, _ = l.Runner(ctx, ref)
	_, _ = l.Managers(ctx, ref)
	_, _ = l.Observe(ctx, ref)
	_, _ = l.Gather(ctx, ref, providers.Express, &providertest.Sink{})
	_, _ = l.Can(ctx, ref)
	_, _, _ = l.Jobs(ctx, ref, since, 10)
	_, _, _ = l.Exposure(ctx, ref, since)
	_, _, _ = l.RunningJobs(ctx, ref)
	for _, page := range []string{"/acme/web/-/jobs/500", "/acme/web.site"} {
		if u, err := url.Parse(l.base + page); err == nil {
			_, _ = l.Find(ctx, u)
		}
	}
	_, _ = l.WhoAmI(ctx)
	_, _ = l.Expiring(ctx, ref, since)
	_, _ = l.Returned(ctx, ref, providers.Traits{SystemIDs: []string{"s_x"}}, since)
}

func (l *lab) planned(t *testing.T, verb string) []change.Change {
	t.Helper()
	return l.plannedAs(t, verb, Project)
}

func (l *lab) plannedAs(t *testing.T, verb, level string) []change.Change {
	t.Helper()
	plans, err := l.Plan(context.Background(), verb, runner(42, level), nil)
	if err != nil || len(plans) == 0 || len(plans[0].Changes) == 0 {
		t.Fatalf("plan %s: %+v, %v", verb, plans, err)
	}
	return plans[0].Changes
}

func allowed(t *testing.T, c change.Change) context.Context {
	t.Helper()
	p, err := change.NewIssuer().Permit(c, c.Digest())
	if err != nil {
		t.Fatal(err)
	}
	return change.WithPermit(context.Background(), p)
}
