package exposure_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/check"
	"cordon/internal/evidence"
	"cordon/internal/exposure"
	"cordon/internal/target"
	"cordon/providers"
)

var (
	opened = time.Date(2026, 3, 4, 3, 0, 0, 0, time.UTC)
	since  = opened.Add(-48 * time.Hour)
	own    = providers.Credential{Name: "gitlab-prod/42", Kind: "runner-token", Where: "gitlab-prod/runner/42", Why: "the runner's own credential"}
)

func open(cs ...providers.Credential) exposure.List {
	return exposure.Open(exposure.Input{At: opened, Since: since, Own: own, Known: cs, Paused: since.Add(time.Hour)})
}

func variable(name string) providers.Credential {
	return providers.Credential{Name: name, Kind: "ci-variable", Where: "acme/web", Why: "jobs of this project run here"}
}

func names(l exposure.List) []string {
	var out []string
	for _, c := range l.Entries {
		out = append(out, c.Name)
	}
	return out
}

// What publishes, signs or deploys is what an intruder goes on with.
func TestWhatDeploysComesFirst(t *testing.T) {
	l := exposure.Open(exposure.Input{
		At: opened, Since: since, Own: own,
		Known: []providers.Credential{
			variable("LOG_LEVEL"), variable("NPM_TOKEN"), variable("COSIGN_PASSWORD"), variable("deployKeyProd"), variable("DESIGN"),
			{Name: "release bot", Kind: "deploy-key", Where: "acme/web", Deploys: true},
			{Name: "deploy mirror", Kind: "deploy-key", Where: "acme/web"}, // it may only read, whatever it is called
		},
		Jobs: []providers.Job{{Ref: target.Ref{System: "gitlab-prod", Kind: target.Job, ID: "77"}, Project: "acme/web"}},
	})
	want := []string{"COSIGN_PASSWORD", "NPM_TOKEN", "deployKeyProd", "release bot", "gitlab-prod/42", "DESIGN", "LOG_LEVEL", "deploy mirror", "job token of job 77"}
	if !slices.Equal(names(l), want) {
		t.Errorf("order %q\nwant  %q", names(l), want)
	}
	for _, c := range l.Entries {
		if first := slices.Index(want, c.Name) < 4; c.Deploys != first {
			t.Errorf("%s deploys: %v", c.Name, c.Deploys)
		}
	}
}

func TestOneCredentialIsListedOnce(t *testing.T) {
	a, b := variable("NPM_TOKEN"), variable("NPM_TOKEN")
	b.Why = "jobs of every project below inherit it"
	elsewhere := variable("NPM_TOKEN")
	elsewhere.Where = "acme/api"
	token := providers.Credential{Name: "authentication token of runner 42", Kind: "runner-token", Where: "gitlab-prod", Why: "it polls with it"}
	job := providers.Credential{Name: "job token of job 77", Kind: "job-token", Where: "acme/web", Why: "the job ran here; its token is valid until the job ends", Dead: opened, DeadSaysBy: "GitLab: the job has ended"}
	l := exposure.Open(exposure.Input{
		At: opened, Since: since, Own: own, Known: []providers.Credential{a, b, elsewhere, token, job},
		Jobs: []providers.Job{{Ref: target.Ref{Kind: target.Job, ID: "77"}, Project: "acme/web"}},
	})
	if want := []string{"NPM_TOKEN", "NPM_TOKEN", "gitlab-prod/42", "job token of job 77"}; !slices.Equal(names(l), want) {
		t.Fatalf("got %q, want %q", names(l), want)
	}
	if !strings.Contains(l.Entries[1].Why, a.Why) || !strings.Contains(l.Entries[1].Why, b.Why) {
		t.Errorf("a reason was lost: %q", l.Entries[1].Why)
	}
	if l.Entries[3].Dead.IsZero() {
		t.Error("joining lost that the token is dead")
	}
	if got := l.Summary(); got != "4 credentials, 0 replaced, 1 dead" {
		t.Errorf("summary %q", got)
	}
}

// Replaced and dead are two things, and neither is true before somebody shows it.
func TestReplacedAndDeadNeedProof(t *testing.T) {
	with := func(f func(*providers.Credential)) string {
		c := variable("X")
		f(&c)
		return open(c).Summary()
	}
	for name, c := range map[string]struct {
		change func(*providers.Credential)
		want   string
	}{
		"nobody looked":              {func(*providers.Credential) {}, "2 credentials, 0 replaced, 0 dead"},
		"replaced in the window":     {func(c *providers.Credential) { c.Replaced = opened }, "2 credentials, 1 replaced, 0 dead"},
		"replaced before the window": {func(c *providers.Credential) { c.Replaced = since.Add(-time.Second) }, "2 credentials, 0 replaced, 0 dead"},
		"dead, and who checked":      {func(c *providers.Credential) { c.Dead, c.DeadSaysBy = opened, "npm: 401" }, "2 credentials, 0 replaced, 1 dead"},
		"dead, and nobody checked":   {func(c *providers.Credential) { c.Dead = opened }, "2 credentials, 0 replaced, 0 dead"},
	} {
		if got := with(c.change); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A value that was set while the runner still got jobs is one that it could read.
func TestReplacedIsLaterThanWhatTheRunnerCouldRead(t *testing.T) {
	at := func(h int) time.Time { return since.Add(time.Duration(h) * time.Hour) }
	job := func(began, ended int) []providers.Job {
		j := providers.Job{Ref: target.Ref{Kind: target.Job, ID: "77"}, Project: "acme/web", StartedAt: at(began)}
		if ended > 0 {
			j.FinishedAt = at(ended)
		}
		return []providers.Job{j}
	}
	for name, c := range map[string]struct {
		in       exposure.Input
		set      int // hours after the window began
		replaced bool
	}{
		"before the pause":                          {exposure.Input{Paused: at(10), Jobs: job(2, 3)}, 9, false},
		"after the pause":                           {exposure.Input{Paused: at(10), Jobs: job(2, 3)}, 11, true},
		"after the pause, and a job began later":    {exposure.Input{Paused: at(10), Jobs: job(12, 13)}, 11, false},
		"after the pause, while an old job runs":    {exposure.Input{Paused: at(10), Jobs: job(2, 0)}, 11, true},
		"not paused, after the last job":            {exposure.Input{Jobs: job(2, 3)}, 4, true},
		"not paused, before the last job":           {exposure.Input{Jobs: job(2, 3)}, 2, false},
		"not paused, and a job runs":                {exposure.Input{Jobs: job(2, 0)}, 4, false},
		"not paused, and not all jobs are known":    {exposure.Input{Jobs: job(2, 3), JobsPartial: "not all"}, 4, false},
		"not paused, and no job is known":           {exposure.Input{}, 4, false},
		"paused, and not all jobs are known":        {exposure.Input{Paused: at(10), JobsPartial: "not all"}, 11, true},
		"in the window's first hour, paused before": {exposure.Input{Paused: at(-1)}, 1, true},
	} {
		x := variable("X")
		x.Replaced = at(c.set)
		c.in.At, c.in.Since, c.in.Known = opened, since, []providers.Credential{x}
		i := slices.IndexFunc(exposure.Open(c.in).Entries, func(e providers.Credential) bool { return e.Name == "X" })
		got := exposure.Open(c.in).Entries[i]
		if got.Replaced.IsZero() == c.replaced || !c.replaced && !strings.Contains(got.Why, "may have got the new value") {
			t.Errorf("%s: replaced %v, why %q", name, got.Replaced, got.Why)
		}
	}
}

// A credential that two runners could read is replaced when neither got the new value.
func TestWhatTwoRunnersCouldReadIsReplacedForBoth(t *testing.T) {
	x := variable("X")
	x.Replaced = since.Add(10 * time.Hour)
	of := func(paused int) exposure.List {
		return exposure.Open(exposure.Input{At: opened, Since: since, Known: []providers.Credential{x}, Paused: since.Add(time.Duration(paused) * time.Hour)})
	}
	for _, c := range []struct{ a, b, replaced int }{{9, 9, 1}, {9, 11, 0}, {11, 9, 0}} {
		if _, n, _ := of(c.a).Joined(of(c.b)).Counts(); n != c.replaced {
			t.Errorf("paused after %d and %d hours: %d replaced, want %d", c.a, c.b, n, c.replaced)
		}
	}
}

func secrets(state, why string, fs ...check.Finding) []check.Result {
	for i := range fs {
		fs[i].Check = check.SecretsOnDisk
	}
	return []check.Result{
		{Check: "cron-timers", State: check.Found, Findings: []check.Finding{{Check: "cron-timers", Where: "/etc/cron.d/x"}}},
		{Check: check.SecretsOnDisk, State: state, Why: why, Findings: fs},
	}
}

// Files on the host join the list; the runner's own token does not twice, and findings
// of other checks are no credentials.
func TestSecretsOfAHostJoinTheList(t *testing.T) {
	found := secrets(check.Found, "",
		check.Finding{Where: "/home/gitlab-runner/.npmrc", Title: "a token", Detail: "in reach of jobs"},
		check.Finding{Where: "/etc/gitlab-runner/config.toml", Title: "the runner's own token"})
	before := open()
	after := before.With("build-07", found)
	if want := []string{"/home/gitlab-runner/.npmrc", "gitlab-prod/42"}; !slices.Equal(names(after), want) {
		t.Errorf("got %q, want %q", names(after), want)
	}
	if c := after.Entries[0]; c.Kind != "file" || c.Where != "host build-07" || !strings.Contains(c.Why, "in reach of jobs") {
		t.Errorf("entry %+v", c)
	}
	if len(before.Entries) != 1 {
		t.Error("the old list was changed")
	}
	if again := after.With("build-07", found); len(again.Entries) != 2 {
		t.Errorf("a second look doubled entries: %q", names(again))
	}
	direct := exposure.Open(exposure.Input{At: opened, Since: since, Own: own, Findings: map[string][]check.Result{"build-07": found}})
	if !slices.Equal(names(direct), names(after)) {
		t.Errorf("opened with the findings: %q", names(direct))
	}
}

// A look that failed leaves a gap, not a shorter list.
func TestBlindLookIsAGap(t *testing.T) {
	l := open().With("build-07", secrets(check.Blind, "secrets denied"))
	if len(l.Gaps) != 1 || l.Gaps[0].Why != "secrets denied" || !strings.Contains(l.Summary(), "1 gap, so there may be more") {
		t.Errorf("gaps %+v, summary %q", l.Gaps, l.Summary())
	}
	if clean := open().With("build-07", secrets(check.Nothing, "")); len(clean.Gaps) != 0 {
		t.Errorf("a whole look left gaps %+v", clean.Gaps)
	}
}

func TestJSONAndLines(t *testing.T) {
	l := exposure.Open(exposure.Input{At: opened, Since: since, Own: own, Known: []providers.Credential{variable("A"), variable("B")}, Gaps: []evidence.Gap{{Name: "deploy keys", Why: "403"}}})
	b, err := json.Marshal(l)
	var back exposure.List
	if err != nil || json.Unmarshal(b, &back) != nil || back.Schema != "cordon.exposure/1" || len(back.Entries) != 3 || !back.Window.From.Equal(since) {
		t.Errorf("%v: %s", err, b)
	}
	want := []string{"3 credentials, 0 replaced, 0 dead; the list has 1 gap, so there may be more", "runner-token: 1, of these 1 neither replaced nor dead", "ci-variable: 2, of these 2 neither replaced nor dead"}
	if !slices.Equal(l.Lines(), want) {
		t.Errorf("got  %q\nwant %q", l.Lines(), want)
	}
}
