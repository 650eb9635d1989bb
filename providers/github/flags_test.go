package github

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/witness"
	"cordon/providers"
)

const ciFile = `name: ci
on: [push]
permissions: {contents: read}
jobs:
  build:
    runs-on: self-hosted
    steps: []
  release:
    name: Release it
    permissions:
      contents: write
      id-token: write
    environment: {name: production}
    runs-on: self-hosted
`

// habits gives acme/web sixty runs before the window, of alice, from 9 to 17 o'clock.
func habits(p *past, since time.Time) {
	for i := range 60 {
		day := since.AddDate(0, 0, -2-i%30).Truncate(24 * time.Hour)
		at := day.Add(time.Duration(9+i%9) * time.Hour)
		p.run("acme/web", int64(100+i), at, nil, on(int64(100+i), "build", at))
	}
	p.change(func(p *past) {
		p.lists["repos/acme/web/contents/.github/workflows/ci.yml"] = file(ciFile)
		p.paged["repos/acme/web/actions/workflows"] = pagedList{"workflows", []any{
			map[string]any{"id": 5, "created_at": stamp(since.AddDate(-1, 0, 0))}, map[string]any{"id": 6, "created_at": stamp(since.Add(time.Hour))},
		}}
	})
}

// at hour is that hour of the day, inside the window.
func atHour(since time.Time, h int) time.Time {
	at := since.Truncate(24 * time.Hour).Add(time.Duration(h) * time.Hour)
	if at.Before(since) {
		at = at.Add(24 * time.Hour)
	}
	return at
}

func TestEachFlagIsRaisedByWhatItMeansAndByNothingElse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		edit func(*pastRun)
		job  string
		hour int
		want string // prefix; "": none at all
	}{
		{"nothing odd", nil, "build", 11, ""},
		{"a fork's pull request", func(r *pastRun) { r.event, r.head = "pull_request_target", "mallory/web" }, "build", 11, "fork pull request (pull_request_target from mallory/web)"},
		{"a pull request of a fork that is gone", func(r *pastRun) { r.event, r.head = "pull_request", "" }, "build", 11, "fork pull request (pull_request from a repository that is gone)"},
		{"a pull request of its own", func(r *pastRun) { r.event = "pull_request" }, "build", 11, ""},
		{"somebody new", func(r *pastRun) { r.actor = "mallory" }, "build", 11, "first-time actor"},
		{"somebody new who ran it again", func(r *pastRun) { r.trigger, r.attempt, r.jobs[0].attempt = "mallory", 2, 2 }, "build", 11, "first-time actor"},
		{"somebody new whose run was run again by one who is not", func(r *pastRun) { r.actor, r.trigger, r.attempt = "mallory", "alice", 2 }, "build", 11, "first-time actor"},
		{"one who is not new, and whose run somebody new ran again", func(r *pastRun) { r.trigger, r.attempt = "mallory", 2 }, "build", 11, ""},
		{"a workflow that is new", func(r *pastRun) { r.workflow = 6 }, "build", 11, "new workflow"},
		{"a workflow that was changed", func(r *pastRun) { r.path = ".github/workflows/other.yml" }, "build", 11, "changed workflow (ffffffffffff)"},
		{"an hour in which nothing ever ran", nil, "build", 3, "odd hour (03:00Z"},
		{"a schedule at that hour", func(r *pastRun) { r.event = "schedule" }, "build", 3, ""},
		{"a commit of another repository", func(r *pastRun) { r.head = "mallory/web" }, "build", 11, "foreign ref (the commit is of mallory/web)"},
		{"the ref of a pull request", func(r *pastRun) { r.branch = "refs/pull/9/merge" }, "build", 11, "foreign ref (refs/pull/9/merge)"},
		{"a workflow of another owner", func(r *pastRun) { r.uses = []string{"mallory/x/.github/workflows/y.yml@main"} }, "build", 11, "foreign ref (it uses mallory/x"},
		{"a workflow of its own owner", func(r *pastRun) { r.uses = []string{"Acme/x/.github/workflows/y.yml@main"} }, "build", 11, ""},
		{"a deployment of its commit", func(r *pastRun) { r.sha = strings.Repeat("d", 40) }, "build", 11, "deployment (of its commit to staging)"},
		{"a token for clouds", nil, "Release it", 11, "deployment (environment production)|id-token: write"},
		{"a job that the file does not have", nil, "strange", 11, "id-token: write (some job of its workflow)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, p, since := openPast(t)
			p.repos("acme/web")
			habits(p, since)
			p.change(func(p *past) {
				p.lists["repos/acme/web/contents/.github/workflows/other.yml"] = file(ciFile)
				p.paged["repos/acme/web/deployments"] = pagedList{"", []any{
					map[string]any{"id": 1, "sha": strings.Repeat("d", 40), "environment": "staging", "created_at": stamp(since.Add(time.Hour))},
					map[string]any{"id": 2, "sha": pastSHA, "environment": "long ago", "created_at": stamp(since.Add(-time.Hour))},
				}}
				p.mux.HandleFunc("GET /api/v3/repos/acme/web/commits", func(w http.ResponseWriter, r *http.Request) {
					var rows []any
					if strings.HasSuffix(r.URL.Query().Get("path"), "other.yml") && r.URL.Query().Get("sha") == pastSHA {
						rows = append(rows, map[string]any{"sha": strings.Repeat("f", 40)})
					}
					p.behind.pageOf(w, r, "", rows)
				})
			})
			at := atHour(since, c.hour)
			p.run("acme/web", 900, at, c.edit, on(1, c.job, at))
			jobs, _, err := l.Jobs(context.Background(), build07, since, 1)
			if err != nil || len(jobs) != 1 || jobs[0].Ref.ID != "1" {
				t.Fatalf("%v %v", jobIDs(jobs), err)
			}
			got := jobs[0].Flags
			want := strings.Split(c.want, "|")
			if c.want == "" {
				want = nil
			}
			if len(got) != len(want) || !slices.EqualFunc(got, want, strings.HasPrefix) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

func TestWhatWasNotLookedAtIsAFlagOfItsOwn(t *testing.T) {
	l, p, since := openPast(t)
	p.repos("acme/web")
	at := since.Add(time.Hour)
	p.run("acme/web", 900, at, func(r *pastRun) { r.path = "dynamic/dependabot" }, on(1, "build", at))
	p.change(func(p *past) { p.deny["repos/acme/web/deployments"] = 403 })
	jobs, _, err := l.Jobs(context.Background(), build07, since, 1)
	if err != nil || len(jobs) != 1 {
		t.Fatal(jobs, err)
	}
	all := strings.Join(jobs[0].Flags, "|")
	for _, want := range []string{"not looked: ", "changed workflow (its file is not in the repository)", "odd hour (0 runs before the window, 50 are needed)", "first-time actor (nobody ran anything before the window)", "id-token: write (", "deployment (not permitted"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q lacks %q", all, want)
		}
	}
	if strings.Contains(all, l.fake.secrets.note) {
		t.Error("GitHub's own text is in a flag")
	}
	ctx := providers.WithCalls(context.Background(), 6) // enough for the job, not for its flags
	fresh, q, _ := openPast(t)
	q.repos("acme/web")
	q.run("acme/web", 900, at, nil, on(1, "build", at))
	jobs, _, err = fresh.Jobs(ctx, build07, since, 1)
	if err != nil || len(jobs) != 1 || !strings.Contains(strings.Join(jobs[0].Flags, "|"), "no requests left for it") {
		t.Errorf("%+v %v", jobs, err)
	}
}

func TestFlagsAreAskedOnceForWhatJobsShare(t *testing.T) {
	l, p, since := openPast(t)
	p.repos("acme/web")
	habits(p, since)
	for i := range 20 {
		at := since.Add(time.Duration(i+1) * time.Minute)
		p.run("acme/web", int64(900+i), at, nil, on(int64(i+1), "build", at))
	}
	if _, _, err := l.Jobs(context.Background(), build07, since, 20); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"contents/", "/commits?", "/deployments?", "actor="} {
		if n := p.count(what); n > 1 {
			t.Errorf("%s: %d times", what, n)
		}
	}
}

func TestPermissionsOfAWorkflowAreReadOrRefused(t *testing.T) {
	for name, c := range map[string]struct {
		file, job string
		token     witness.Tri
		sure      bool
	}{
		"of the job":                  {ciFile, "Release it", witness.Yes, true},
		"none of the job":             {ciFile, "build", witness.No, true},
		"a matrix":                    {"permissions: write-all\njobs:\n  a: {runs-on: x}\n  b: {permissions: {}}\n", "a (linux, 20)", witness.Yes, true},
		"emptied by the job":          {"permissions: write-all\njobs:\n  a: {runs-on: x}\n  b: {permissions: {}}\n", "b", witness.No, true},
		"a reusable workflow":         {"jobs:\n  a:\n    permissions: {id-token: write}\n    uses: x/y/z.yml@v1\n", "a / inner", witness.Yes, true},
		"without any":                 {"jobs: {a: {runs-on: x}}", "a", witness.No, true},
		"quoted":                      {"\"permissions\": {\"id-token\": 'write'}\njobs: {a: {runs-on: x}}", "a", witness.Yes, true},
		"a name that is worked out":   {"jobs: {a: {name: '${{ matrix.x }}', permissions: {id-token: write}}}", "linux", witness.Yes, false},
		"two jobs that could be it":   {"jobs: {a: {name: x}, b: {name: x, permissions: {id-token: write}}}", "x", witness.Yes, false},
		"read-all":                    {"permissions: read-all\njobs: {a: {runs-on: x}}", "a", witness.No, true},
		"on is a word and not a bool": {"on: push\njobs: {a: {permissions: {id-token: write}}}", "a", witness.Yes, true},
	} {
		w, err := readWorkflow([]byte(c.file))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if token, _, sure := w.grants(c.job); token != c.token || sure != c.sure {
			t.Errorf("%s: %q %v", name, token, sure)
		}
	}
	for name, text := range map[string]string{
		"an alias":    "x: &p {id-token: write}\njobs: {a: {permissions: *p}}",
		"a merge key": "x: &p {permissions: {id-token: write}}\njobs: {a: {<<: *p}}",
		"not YAML":    "jobs: [",
		"no jobs":     "on: push",
		"a list":      "- jobs",
		"a bomb":      strings.Repeat("[", 5000),
		"empty":       "",
		"huge":        "jobs: " + strings.Repeat("a", 200<<10),
	} {
		if w, err := readWorkflow([]byte(text)); err == nil {
			t.Errorf("%s: %+v", name, w)
		}
	}
}

func TestFilesOfARepositoryAreDecodedOrRefused(t *testing.T) {
	for name, c := range map[string]wireContent{
		"a link": {Type: "symlink"}, "too large for GitHub": {Type: "file", Encoding: "none"}, "not base64": {Type: "file", Encoding: "base64", Content: "%"},
		"too large": {Type: "file", Encoding: "base64", Content: strings.Repeat("A", 600<<10)},
	} {
		if b, err := c.file(); err == nil {
			t.Errorf("%s: %d bytes", name, len(b))
		}
	}
	if b, err := (wireContent{"file", "base64", "aGV\nsbG8=\n"}).file(); err != nil || string(b) != "hello" {
		t.Errorf("%q %v", b, fmt.Sprint(err))
	}
}
