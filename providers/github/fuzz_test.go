package github

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"

	gh "github.com/google/go-github/v66/github"

	"cordon/internal/redact"
	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/providers"
)

func fuzzed(f *testing.F) *Provider {
	f.Helper()
	p, err := New(Options{Name: "gh", URL: "https://git.example.org", HTTP: http.DefaultTransport, Marker: redact.NewMarker([]byte("k"))})
	if err != nil {
		f.Fatal(err)
	}
	return p
}

func clean(t *testing.T, what ...string) {
	t.Helper()
	for _, s := range what {
		if strings.ContainsFunc(s, unicode.IsControl) {
			t.Errorf("a control character is shown: %q", s)
		}
	}
}

// FuzzAnswers gives any bytes to every decoder: they refuse, or give rows that can be
// selected by id and shown; an accepted list is one that was written as a list.
func FuzzAnswers(f *testing.F) {
	for _, s := range []string{
		"", "null", "[]", "{}", "[null]", "<html>", `{"id":4`, `[{"id":1}] x`,
		`{"total_count":1,"runners":[{"id":23,"name":"build-07","os":"Linux","status":"online","busy":true,"labels":[{"name":"deploy","type":"custom"}]}]}`,
		`{"total_count":1,"workflow_runs":[{"id":5,"created_at":"2026-11-30T12:00:00Z","head_branch":"x\u001b[31m","head_repository":{"full_name":"a/b"},"referenced_workflows":[{"path":"x/y/z"}],"actor":{"login":"m"}}]}`,
		`{"total_count":1,"jobs":[{"id":1,"run_id":5,"name":"a\u0007","status":"completed","conclusion":"success","runner_id":23,"runner_name":"build-07","started_at":"2026-11-30T12:00:00Z"}]}`,
		`{"total_count":1,"secrets":[{"name":"N","updated_at":"2026-11-30T12:00:00Z"}],"variables":[{"name":"V","value":"v"}],"environments":[{"name":"p"}],"artifacts":[],"actions_caches":[]}`,
		`[{"@timestamp":1764500000000,"action":"org.register_self_hosted_runner","runner_name":"build-07","runner_id":"9","org":["a"]}]`,
		`[{"tag_name":"v1","assets":[{"name":"x","digest":"sha256:00"}]}]`, `[{"property_name":"owner","value":["a",1,null]}]`,
	} {
		f.Add([]byte(s))
	}
	p := fuzzed(f)
	at := time.Unix(1764500000, 0).UTC()
	f.Fuzz(func(t *testing.T, b []byte) {
		a := answer{Request: "GET x", Status: 200, Body: b}
		if l, err := rows(a); err == nil {
			for _, w := range l.Runners {
				r := p.runner(scope{organization, "acme"}, w, nil)
				if r.Ref.ID == "" || r.Ref.ID[0] == '-' || r.Ref.ID == "0" || !strings.HasPrefix(r.Web, "https://git.example.org/") {
					t.Errorf("cannot be selected: %+v", r)
				}
				clean(t, r.Name.String(), r.Status, r.Version.String())
			}
		}
		s := &search{p: p, w: &wireRunner{ID: 23, Name: "build-07"}, id: 23, since: at, history: map[string]*history{"acme/web": {seen: map[int64]bool{}, actors: map[string]time.Time{}, workflows: map[int64]time.Time{}}}}
		if l, err := runRows(a); err == nil {
			for _, r := range l.Runs {
				s.history["acme/web"].add(r, at)
				f := flagger{s: s, known: map[string]fact{}}
				f.origin(hit{repo: "acme/web", run: r})
				clean(t, f.out...)
			}
		}
		if l, err := jobRows(a, 5); err == nil {
			for _, j := range l.Jobs {
				s.matches(j)
				x := p.job(hit{repo: "acme/web", run: wireRun{ID: 5}, job: j}, nil)
				if x.Ref.ID == "" || x.Ref.ID[0] == '-' || !strings.HasPrefix(x.Web, "https://git.example.org/acme/web/actions/runs/5/job/") {
					t.Errorf("cannot be selected: %+v", x)
				}
				clean(t, x.Name.String(), x.Status, x.Branch.String())
			}
		}
		for _, kind := range []string{kindSecret, "ci-variable"} {
			if l, err := secretRows(a, kind); err == nil {
				for _, x := range l {
					if x.Name == "" {
						t.Error("a credential without a name")
					}
				}
			}
		}
		if l, err := decode[[]wireAudit](a); err == nil {
			o := witness.Observation{}
			p.auditSays(&o, scope{organization, "acme"}, &auditReading{rows: l, cut: "the bound"}, scope{organization, "acme"}, 23, providers.Traits{Names: []string{"build-07"}}, at)
			clean(t, o.Says, o.Except)
			for i, w := range l {
				e := p.auditEntry(i, w)
				clean(t, e.Action, e.Actor, e.Subject, e.Where, e.From)
			}
		}
		c := collector{seen: map[string]bool{}}
		if l, err := decode[[]wireRepo](a); err == nil {
			c.add(l)
		}
		for _, r := range c.list {
			if repoPath(r.repo) == "" || strings.Contains(r.repo, "..") && strings.Contains(r.repo, "/..") {
				t.Errorf("a repository that is none: %q", r.repo)
			}
		}
		if l, err := decode[[]wireProperty](a); err == nil {
			_ = propertyOwner(l)
		}
		_, _ = decode[wireEnvironments](a)
		_, _ = decode[[]wireKey](a)
		_, _ = decode[[]wireRelease](a)
		_, _ = decode[[]wireDeployment](a)
		_, _ = decode[[]wireEvent](a)
		_, _ = decode[[]wirePackage](a)
		_, _ = decode[wireArtifacts](a)
		_, _ = decode[wireCaches](a)
		_, _ = decode[wireAttestations](a)
		_, _ = decode[wireRetention](a)
		_, _ = decode[wireWorkflows](a)
		_, _ = decode[[]wireCommit](a)
		_, _ = decode[groupPage](a)
		_, _ = decode[wireGroupRepos](a)
		_, _ = decode[wireGroupOrgs](a)
		if c, err := decode[wireContent](a); err == nil {
			_, _ = c.file()
		}
		_ = problem(answer{Request: "GET x", Status: 403, Body: b})
	})
}

// FuzzLink gives any header to what finds the next page: of an address only the number or
// the cursor is taken, so no answer leads to another host.
func FuzzLink(f *testing.F) {
	for _, s := range []string{
		"", `<https://api.github.com/x?page=2>; rel="next"`, `<https://evil.example/x?page=-3&after=a%20b>; rel=next`, `<>; rel="next", <x?page=9999999999999999999>; rel="next"`,
		`<http://[::1]:namedport?page=3>; rel="next"`, `<https://x?after=MS45&before=>; rel="next"`, strings.Repeat(`<a?page=2>; rel="next",`, 500),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, link string) {
		req, err := http.NewRequest(http.MethodGet, "https://git.example.org/api/v3/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp := &http.Response{StatusCode: 200, Header: http.Header{"Link": {link}}, Request: req, Body: http.NoBody}
		c := gh.NewClient(&http.Client{Transport: answering{resp}})
		r, err := c.BareDo(t.Context(), req)
		if err != nil {
			return
		}
		a, err := reply("GET x", r, []byte(`[]`), nil)
		if err != nil {
			t.Fatal(err)
		}
		if a.Next < 0 {
			t.Errorf("page %d", a.Next)
		}
		if q := pageOf(nil, a.Next, 100).Encode(); strings.Contains(q, "/") {
			t.Errorf("%q", q)
		}
	})
}

type answering struct{ resp *http.Response }

func (a answering) RoundTrip(*http.Request) (*http.Response, error) { return a.resp, nil }

// FuzzCodeowners gives any file and any path: whoever is named is in the file, and only
// with an at sign.
func FuzzCodeowners(f *testing.F) {
	for _, s := range []string{"* @a", "/.github/ @a/b c@d # x", "**/**/**/x @a", "[a] @b", "\x00 @a", "docs/* @a\n* \n", strings.Repeat("**/", 60) + "x @a"} {
		f.Add([]byte(s), ".github/workflows/x.yml")
	}
	f.Fuzz(func(t *testing.T, text []byte, file string) {
		if len(file) > 100 {
			return
		}
		for _, who := range codeowners(text, file) {
			if !strings.Contains(string(text), who) || !strings.ContainsRune(who, '@') {
				t.Errorf("%q is not in the file", who)
			}
		}
	})
}

// FuzzWorkflow gives any file: it is refused, or every answer about a job is yes or no.
func FuzzWorkflow(f *testing.F) {
	for _, s := range []string{
		ciFile, "", "jobs:", "jobs: {a: 1}", "x: &a [*a]", "permissions: write-all\njobs: {a: {}}", "jobs: {a: {permissions: {id-token: ${{ x }}}}}", "? a\n: b",
		"jobs:\n  a:\n    name: !!str x\n    environment: [y]\n", "permissions:\njobs: {a: {permissions:}}", "---\n---\njobs: {}",
	} {
		f.Add([]byte(s), "build")
	}
	f.Fuzz(func(t *testing.T, text []byte, job string) {
		w, err := readWorkflow(text)
		if err != nil {
			return
		}
		token, _, _ := w.grants(job)
		if token != witness.Yes && token != witness.No {
			t.Errorf("%q for %q of %q", token, job, text)
		}
		if token == witness.Yes && !strings.Contains(strings.ToLower(string(text)), "write") {
			t.Errorf("a permission that is not in the file: %q", text)
		}
	})
}

// FuzzFind gives any address: it is not ours, or leads to a runner that can be selected,
// before anything was sent.
func FuzzFind(f *testing.F) {
	for _, s := range []string{
		"/acme/web/settings/actions/runners/7", "/organizations/acme/settings/actions/runners/23", "/enterprises/big/settings/actions/runners/3", "//a/b/settings/actions/runners/1",
		"/../x/settings/actions/runners/1", "/a%2Fb/c/settings/actions/runners/1", "/acme/web/settings/actions/runners/0", "",
	} {
		f.Add(s)
	}
	p := fuzzed(f)
	p.look = nowhere{}
	f.Fuzz(func(t *testing.T, path string) {
		u, err := p.web.Parse(path)
		if err != nil {
			return
		}
		found, err := p.Find(t.Context(), u)
		if err != nil {
			return
		}
		for _, r := range found.Runners {
			back, perr := target.Parse(r.Ref.String())
			if sc, id, oerr := p.own(r.Ref); oerr != nil || id <= 0 || sc.prefix() == "" || perr != nil || back != r.Ref {
				t.Errorf("%q: %+v %v %v", path, r.Ref, oerr, perr)
			}
		}
	})
}

// nowhere answers nothing.
type nowhere struct{}

func (nowhere) get(_ context.Context, path string, _ url.Values) (answer, error) {
	return answer{Request: "GET " + path}, providers.ErrUnavailable
}
