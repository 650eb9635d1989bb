package gitlab

import (
	"errors"
	"net/url"
	"testing"

	"cordon/providers"
	"cordon/providers/providertest"
)

func TestAPageOfTheWebLeadsToItsRunners(t *testing.T) {
	l := open(t, providertest.Wait)
	l.fake.change(func(f *fake) { f.jobs[502] = &fakeJob{id: 502, project: 7, status: "pending"} })
	for page, want := range map[string]string{
		"/admin/runners/42":            "42",
		"/admin/runners/42/edit":       "42",
		"/groups/acme/-/runners/44":    "44",
		"/acme/web/-/runners/43":       "43",
		"/acme/web/-/jobs/500":         "42",
		"/acme/web/-/jobs/500#L12":     "42",
		"/acme/web/-/jobs/502":         "", // no runner took it
		"/acme/web/-/pipelines/77":     "42 43 44",
		"/acme/web":                    "42 43 44",
		"/acme/web/-/settings/ci_cd":   "42 43 44",
		"/acme/web/-/jobs/4711":        "error",
		"/acme/web/-/jobs/x":           "error",
		"/admin/runners/build-07":      "error",
		"/dashboard":                   "error",
		"/":                            "error",
		"http://elsewhere.invalid/a/b": "error",
		"/groups/acme":                 "error",
	} {
		u, err := url.Parse(page)
		if err != nil {
			t.Fatal(err)
		}
		base, _ := url.Parse(l.base)
		f, err := l.Find(t.Context(), base.ResolveReference(u))
		got := ""
		for _, r := range f.Runners {
			got += " " + r.Ref.ID
		}
		if err != nil {
			got = " error"
		}
		if want != "" {
			want = " " + want
		}
		if got != want {
			t.Errorf("%s leads to%s (%v), want%s", page, got, err, want)
		}
		if err == nil && (f.What == "" || f.Why == "") {
			t.Errorf("%s: %+v does not say what it is and why", page, f)
		}
	}
}

func TestAPageElsewhereIsNotAskedFor(t *testing.T) {
	l := open(t, providertest.Wait)
	u, _ := url.Parse("https://gitlab.elsewhere.invalid/acme/web/-/jobs/500")
	if _, err := l.Find(t.Context(), u); !errors.Is(err, providers.ErrNotYours) || l.reads() != 0 {
		t.Errorf("%v, %d reads", err, l.reads())
	}
}

func TestOnlyJobsThatRunAreRunning(t *testing.T) {
	l := open(t, providertest.Wait)
	jobs, _, err := l.RunningJobs(t.Context(), runner(42, Project))
	if err != nil || len(jobs) != 1 || jobs[0].Ref.ID != "500" {
		t.Errorf("%+v, %v", jobs, err)
	}
}
