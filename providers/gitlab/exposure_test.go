package gitlab

import (
	"context"
	"strings"
	"testing"
	"time"

	"cordon/internal/witness"
	"cordon/providers"
	"cordon/providers/providertest"
)

func TestTheExposureListNamesWhatTheRunnerCouldReach(t *testing.T) {
	l := open(t, providertest.Wait)
	creds, gaps, err := l.Exposure(context.Background(), runner(42, Project), l.fake.now.Add(-24*time.Hour))
	if err != nil || len(gaps) != 0 {
		t.Fatalf("gaps %+v, %v", gaps, err)
	}
	have := map[string]providers.Credential{}
	for _, c := range creds {
		have[c.Kind+" "+c.Name+" @ "+c.Where] = c
	}
	for _, want := range []string{
		"runner-token token of runner 42 @ gl", "job-token job token of job 500 @ acme/web", "job-token job token of job 499 @ acme/tools/api",
		"ci-variable DEPLOY_KEY @ acme/web", "ci-variable CACHE @ acme/tools/api", "ci-variable CACHE @ group acme",
		"ci-variable CACHE @ group acme/tools", "deploy-key pusher @ acme/web",
	} {
		if _, ok := have[want]; !ok {
			t.Errorf("missing: %s", want)
		}
	}
	v := have["ci-variable DEPLOY_KEY @ acme/web"]
	if !v.Deploys || !strings.Contains(v.Why, "protected") || !strings.Contains(v.Why, "production") || v.Web != l.base+"/acme/web/-/settings/ci_cd" {
		t.Errorf("%+v", v)
	}
	if have["ci-variable CACHE @ acme/web"].Deploys || !have["deploy-key pusher @ acme/web"].Deploys {
		t.Error("what deploys is not told from what does not")
	}
	if have["job-token job token of job 500 @ acme/web"].Dead != (time.Time{}) || have["job-token job token of job 499 @ acme/tools/api"].Dead.IsZero() {
		t.Error("a job token lives exactly as long as its job")
	}
}

func TestARefusedProjectIsAGapNotAnEmptyList(t *testing.T) {
	l := open(t, providertest.Wait, func(o *Options) { o.Scopes = []string{"mine"} })
	l.fake.change(func(f *fake) { f.deny["projects/8/variables"] = 403; f.deny["groups/acme%2Ftools"] = 404 })
	creds, gaps, err := l.Exposure(context.Background(), runner(42, Project), l.fake.now.Add(-24*time.Hour))
	if err != nil || len(creds) == 0 {
		t.Fatalf("%+v, %v", creds, err)
	}
	var names []string
	for _, g := range gaps {
		names = append(names, g.Name)
	}
	all := strings.Join(names, "; ")
	for _, want := range []string{"CI variables of acme/tools/api", "CI variables of group acme/tools", "jobs that this credential cannot see"} {
		if !strings.Contains(all, want) {
			t.Errorf("gaps %q lack %q", all, want)
		}
	}
	for _, c := range creds {
		if c.Kind == "ci-variable" && c.Where == "acme/tools/api" {
			t.Errorf("listed although refused: %+v", c)
		}
	}
}

func TestJobsEndAtTheWindowOrAtTheLimit(t *testing.T) {
	l := open(t, providertest.Wait)
	l.fake.change(func(f *fake) { f.perPage = 1 })
	ref := runner(42, Project)
	jobs, partial, err := l.Jobs(context.Background(), ref, l.fake.now.Add(-24*time.Hour), 100)
	if err != nil || partial != "" || len(jobs) != 2 || jobs[0].Ref.ID != "500" || jobs[0].Web != l.base+"/acme/web/-/jobs/500" || jobs[0].Actor != "mallory" {
		t.Errorf("%+v, %q, %v", jobs, partial, err)
	}
	if jobs, partial, err = l.Jobs(context.Background(), ref, l.fake.now.Add(-24*time.Hour), 1); err != nil || len(jobs) != 1 || !strings.Contains(partial, "stopped after 1") {
		t.Errorf("limited: %d, %q, %v", len(jobs), partial, err)
	}
	if jobs, _, err = l.Jobs(context.Background(), ref, l.fake.now, 100); err != nil || len(jobs) != 0 {
		t.Errorf("none since: %+v, %v", jobs, err)
	}
	mine := open(t, providertest.Wait, func(o *Options) { o.Scopes = []string{"mine"} })
	if _, partial, err = mine.Jobs(context.Background(), ref, mine.fake.now.Add(-24*time.Hour), 100); err != nil || partial == "" {
		t.Errorf("without the whole instance the list may lack some: %q, %v", partial, err)
	}
}

func TestTheSameMachineIsRecognisedUnderAnotherRegistration(t *testing.T) {
	traits := providers.Traits{Names: []string{"build-07 shell"}, SystemIDs: []string{"s_aaaa"}, Addresses: []string{"192.0.2.7"}}
	back := func(system, ip string, contact time.Duration) func(*fake) {
		return func(f *fake) {
			yes := true
			f.runners[45] = &fakeRunner{
				id: 45, typ: "project_type", name: "build-07 shell", online: &yes, status: "online", created: f.now,
				managers: []map[string]any{{"id": 99, "system_id": system, "ip_address": ip, "contacted_at": stamp(f.now.Add(contact)), "status": "online"}},
			}
		}
	}
	for name, c := range map[string]struct {
		edit func(*fake)
		want witness.Tri
	}{
		"nobody came":          {func(*fake) {}, witness.No},
		"same system id":       {back("s_aaaa", "198.51.100.1", 0), witness.Yes},
		"same address":         {back("s_new", "192.0.2.7", 0), witness.Yes},
		"not heard of since":   {back("s_aaaa", "192.0.2.7", -time.Hour), witness.No},
		"another machine":      {back("s_new", "198.51.100.1", 0), witness.No},
		"legacy ids are equal": {back("<legacy>", "198.51.100.1", 0), witness.No},
		"a list is refused":    {func(f *fake) { f.deny["groups/"] = 403 }, witness.Unknown},
		"managers are refused": {func(f *fake) { f.deny["runners/43/managers"] = 403 }, witness.Unknown},
		"refused elsewhere, and it came": {func(f *fake) {
			f.deny["runners/43/managers"] = 403
			back("s_aaaa", "", 0)(f)
		}, witness.Yes},
	} {
		l := open(t, providertest.Wait)
		l.fake.change(func(f *fake) { delete(f.runners, 42); c.edit(f) })
		o, err := l.Returned(context.Background(), runner(42, Project), traits, l.fake.now.Add(-10*time.Minute))
		if err != nil || o.Returned != c.want || (o.CouldNot != "") != (c.want == witness.Unknown) {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
	}
	l := open(t, providertest.Wait)
	o, err := l.Returned(context.Background(), runner(42, Project), providers.Traits{SystemIDs: []string{"", "<legacy>"}}, l.fake.now)
	if err != nil || o.CouldNot == "" {
		t.Errorf("nothing to recognise it by: %+v, %v", o, err)
	}
}

func TestWhatTheTokenMayDoIsReadNotTried(t *testing.T) {
	level := func(l *lab, verb string) providers.Capability {
		cs, err := l.Can(context.Background(), runner(42, Project))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cs {
			if c.Verb == verb {
				return c
			}
		}
		return providers.Capability{}
	}
	for _, c := range []struct {
		scopes          []string
		pause, cancel   string
		apart           bool
		deny, deregiser string
	}{
		{[]string{"api"}, "full", "full", false, "", "partial"},
		{[]string{"read_api", "manage_runner"}, "full", "none", false, "", "partial"},
		{[]string{"read_api"}, "none", "none", false, "", "none"},
		{[]string{"read_api"}, "unknown", "unknown", true, "", "unknown"},
		{[]string{"api"}, "unknown", "unknown", false, "personal_access_tokens", "unknown"},
		{[]string{"api"}, "none", "none", false, "runners/42", "none"},
	} {
		l := open(t, providertest.Wait, func(o *Options) { o.ActsApart = c.apart })
		l.fake.change(func(f *fake) {
			f.scopes = c.scopes
			if c.deny != "" {
				f.deny[c.deny] = 403
			}
		})
		p, x, d := level(l, providers.Pause), level(l, providers.Cancel), level(l, providers.Deregister)
		if p.Level != c.pause || x.Level != c.cancel || d.Level != c.deregiser || p.Why == "" {
			t.Errorf("%v apart %v deny %q: %+v, %+v, %+v", c.scopes, c.apart, c.deny, p, x, d)
		}
		if len(l.wire.Changes()) != 0 {
			t.Error("a change was tried")
		}
	}
}
