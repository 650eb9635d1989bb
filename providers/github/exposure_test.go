package github

import (
	"context"
	"strings"
	"testing"
	"time"

	"cordon/internal/evidence"
	"cordon/providers"
)

func row(kv ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i < len(kv); i += 2 {
		m[kv[i].(string)] = kv[i+1]
	}
	return m
}

// secretRow is a secret or variable; the value is there as a real variable has it.
func secretRow(p *past, name string, made, changed time.Time) any {
	return row("name", name, "created_at", stamp(made), "updated_at", stamp(changed), "value", p.behind.secrets.variable)
}

// exposedPast has a job of acme/web on the runner, and what it could reach.
func exposedPast(t *testing.T) (*lab, *past, time.Time) {
	l, p, since := openPast(t)
	p.repos("acme/web", "acme/tools")
	at := since.Add(time.Hour)
	old := since.AddDate(0, -6, 0)
	running := on(2, "deploy", at)
	running.status = "in_progress"
	p.run("acme/web", 900, at, func(r *pastRun) { r.status = "in_progress" }, on(1, "build", at), running)
	p.change(func(p *past) {
		p.paged["repos/acme/web/actions/secrets"] = pagedList{"secrets", []any{
			secretRow(p, "NPM_TOKEN", old, old), secretRow(p, "ROTATED", old, at), secretRow(p, "NEW_IN_WINDOW", at, at), secretRow(p, "ROTATED_BEFORE", old, since.Add(-time.Hour)),
		}}
		p.paged["repos/acme/web/actions/organization-secrets"] = pagedList{"secrets", []any{secretRow(p, "ORG_SIGNING_KEY", old, old)}}
		p.paged["repos/acme/web/actions/variables"] = pagedList{"variables", []any{secretRow(p, "REGION", old, old)}}
		p.paged["repos/acme/web/dependabot/secrets"] = pagedList{"secrets", []any{secretRow(p, "DEPENDABOT_ONE", old, old)}}
		p.paged["orgs/acme/dependabot/secrets"] = pagedList{"secrets", []any{secretRow(p, "DEPENDABOT_ORG", old, old)}}
		p.paged["repos/acme/web/environments"] = pagedList{"environments", []any{row("name", "prod/eu", "protection_rules", []any{row("type", "required_reviewers")})}}
		p.paged["repos/acme/web/environments/prod/eu/secrets"] = pagedList{"secrets", []any{secretRow(p, "KUBE", old, old)}}
		p.paged["repos/acme/web/keys"] = pagedList{"", []any{
			row("id", 1, "title", "pusher", "read_only", false, "added_by", "bob", "last_used", stamp(at), "key", "ssh-ed25519 AAAA"),
			row("id", 2, "title", "reader", "read_only", true),
		}}
		p.lists["repos/acme/web/properties/values"] = []any{row("property_name", "tier", "value", "1"), row("property_name", "owning-team", "value", "web-platform")}
	})
	return l, p, since
}

func byName(creds []providers.Credential) map[string]providers.Credential {
	out := map[string]providers.Credential{}
	for _, c := range creds {
		out[c.Kind+" "+c.Name+" @ "+c.Where] = c
	}
	return out
}

func gapNames(gaps []evidence.Gap) string {
	var out []string
	for _, g := range gaps {
		out = append(out, g.Name+": "+g.Why)
	}
	return strings.Join(out, "\n")
}

func TestTheExposureListNamesWhatTheJobsCouldReachAndNoValue(t *testing.T) {
	l, _, since := exposedPast(t)
	creds, gaps, err := l.Exposure(context.Background(), build07, since)
	if err != nil || len(gaps) != 0 {
		t.Fatalf("%s %v", gapNames(gaps), err)
	}
	have := byName(creds)
	for _, want := range []string{
		"runner-token key of runner 23 @ organization acme", "secret NPM_TOKEN @ acme/web", "secret ORG_SIGNING_KEY @ organization acme", "ci-variable REGION @ acme/web",
		"secret DEPENDABOT_ONE @ acme/web", "secret DEPENDABOT_ORG @ organization acme", "secret KUBE @ acme/web environment prod/eu",
		"deploy-key pusher (1) @ acme/web", "deploy-key reader (2) @ acme/web", "job-token job token of job 1 @ acme/web", "job-token job token of job 2 @ acme/web",
	} {
		if _, ok := have[want]; !ok {
			t.Errorf("missing: %s", want)
		}
	}
	for _, c := range creds {
		if strings.Contains(c.Name+c.Where+c.Why, l.fake.secrets.variable) || strings.Contains(c.Name+c.Why, "AAAA") {
			t.Errorf("a value: %+v", c)
		}
		if strings.Contains(c.Where, "acme/tools") {
			t.Errorf("no job of it ran here: %+v", c)
		}
		if !c.Dead.IsZero() && c.Kind != "job-token" {
			t.Errorf("nobody asked an issuer: %+v", c)
		}
	}
	if have["job-token job token of job 1 @ acme/web"].Dead.IsZero() || !have["job-token job token of job 2 @ acme/web"].Dead.IsZero() {
		t.Error("a job's token lives exactly as long as its job")
	}
	if k := have["deploy-key pusher (1) @ acme/web"]; !k.Deploys || k.Owner != "bob" || !strings.Contains(k.Why, "used since the window") {
		t.Errorf("%+v", k)
	}
	if have["deploy-key reader (2) @ acme/web"].Deploys || !have["secret KUBE @ acme/web environment prod/eu"].Deploys {
		t.Error("what deploys is not told from what does not")
	}
	if c := have["secret NPM_TOKEN @ acme/web"]; c.Owner != "web-platform (custom property)" {
		t.Errorf("%+v", c)
	}
	if c := have["secret KUBE @ acme/web environment prod/eu"]; c.Owner != "web-platform (custom property)" {
		t.Errorf("an environment is its repository's: %+v", c)
	}
}

// A job that started after the change got the new value, and so may one that still runs.
func TestReplacedIsANewValueThatNoJobHereCouldRead(t *testing.T) {
	l, p, since := exposedPast(t)
	replaced := func(want map[string]bool, why string) {
		t.Helper()
		creds, _, err := l.Exposure(context.Background(), build07, since)
		if err != nil {
			t.Fatal(err)
		}
		for name, is := range want {
			c := byName(creds)[name]
			if c.Name == "" || c.Replaced.IsZero() == is || is && (!c.Replaced.Equal(c.Changed) || !c.Replaced.After(c.Reached)) {
				t.Errorf("%s: %s: %+v", why, name, c)
			}
		}
	}
	const at, org = " @ acme/web", "secret ORG_ROTATED @ organization acme"
	replaced(map[string]bool{"secret ROTATED" + at: false, "secret NPM_TOKEN" + at: false}, "a job still runs")
	began := since.Add(time.Hour)
	p.change(func(p *past) {
		old := since.AddDate(0, -6, 0)
		r := p.runs["acme/web"][0]
		r.status, r.jobs[1].status = "completed", "completed"
		rows := p.paged["repos/acme/web/actions/secrets"].rows
		rows = append(rows, secretRow(p, "AFTER", old, began.Add(6*time.Minute)), secretRow(p, "DURING", old, began.Add(4*time.Minute)), secretRow(p, "MADE_AFTER", began.Add(6*time.Minute), began.Add(6*time.Minute)))
		p.paged["repos/acme/web/actions/secrets"] = pagedList{"secrets", rows}
		p.paged["repos/acme/web/actions/organization-secrets"] = pagedList{"secrets", []any{secretRow(p, "ORG_ROTATED", old, began.Add(6*time.Minute))}}
	})
	replaced(map[string]bool{
		"secret AFTER" + at: true, "secret DURING" + at: false, "secret ROTATED" + at: false, "secret NPM_TOKEN" + at: false, "secret NEW_IN_WINDOW" + at: false,
		"secret ROTATED_BEFORE" + at: false, "secret MADE_AFTER" + at: false, org: true,
	}, "all jobs are over")
	p.run("acme/tools", 901, began.Add(8*time.Minute), nil, on(9, "later", began.Add(8*time.Minute)))
	replaced(map[string]bool{"secret AFTER" + at: true, org: false}, "another repository's job after it")
	p.run("acme/web", 902, began.Add(8*time.Minute), nil, on(10, "later", began.Add(8*time.Minute)))
	replaced(map[string]bool{"secret AFTER" + at: false, org: false}, "a job after it")
	p.change(func(p *past) {
		p.runs["acme/web"], p.deny["repos/acme/tools/actions/runs"] = p.runs["acme/web"][:1], 403
	})
	replaced(map[string]bool{"secret AFTER" + at: false}, "jobs may have been missed")
}

func TestARefusedListIsAGapNotAnEmptyList(t *testing.T) {
	l, p, since := exposedPast(t)
	p.change(func(p *past) {
		p.deny["repos/acme/web/actions/secrets"] = 403
		p.deny["repos/acme/web/environments/prod"] = 404
		p.lists["repos/acme/web/keys"] = row("message", "not a list")
		p.lists["repos/acme/web/actions/variables"] = row("total_count", 0)
	})
	creds, gaps, err := l.Exposure(context.Background(), build07, since)
	if err != nil || len(creds) == 0 {
		t.Fatal(creds, err)
	}
	all := gapNames(gaps)
	for _, want := range []string{"secrets of acme/web: ", "secrets of acme/web environment prod/eu", "deploy keys of acme/web", "variables of acme/web"} {
		if !strings.Contains(all, want) {
			t.Errorf("no gap %q in\n%s", want, all)
		}
	}
	if _, ok := byName(creds)["secret ORG_SIGNING_KEY @ organization acme"]; !ok || strings.Contains(all, l.fake.secrets.note) {
		t.Errorf("the rest is missing, or GitHub's text is shown:\n%s", all)
	}
}

func TestAnExposureListThatStopsSaysWhatItDidNotAsk(t *testing.T) {
	l, p, since := exposedPast(t)
	_, gaps, err := l.Exposure(providers.WithCalls(context.Background(), 8), build07, since)
	if all := gapNames(gaps); err != nil || !strings.Contains(all, "not asked: no requests left for it") || !strings.Contains(all, "not sent after 8 requests") {
		t.Errorf("%s %v", all, err)
	}
	if n := p.count(""); n > 16 { // eight for the jobs and eight for the list
		t.Errorf("%d requests", n)
	}
}

func TestTheSearchForJobsIsSharedWhereTheCallerAllowsIt(t *testing.T) {
	l, p, since := exposedPast(t)
	ctx := providers.WithRecent(context.Background(), time.Minute)
	if _, _, err := l.Exposure(ctx, build07, since); err != nil {
		t.Fatal(err)
	}
	before := p.count("actions/runs?")
	if jobs, _, err := l.Jobs(ctx, build07, since, 10); err != nil || len(jobs) != 2 {
		t.Fatal(jobs, err)
	}
	if n := p.count("actions/runs?") - before; n > 2 { // those ask for an actor, and whether there was anybody before
		t.Errorf("%d lists of runs again", n)
	}
	if _, _, err := l.Jobs(context.Background(), build07, since, 10); err != nil || p.count("actions/runs?")-before < 4 {
		t.Error("control: without leave everything is asked again")
	}
}

func TestAnOwnerIsWhoTheServiceNamesInItsOrder(t *testing.T) {
	l, p, _ := openPast(t)
	ask := func() string { return l.owner(context.Background(), l.spend(context.Background(), 50), "acme/web") }
	if got := ask(); got != "" {
		t.Errorf("nobody is named: %q", got)
	}
	p.change(func(p *past) {
		p.lists["repos/acme/web/teams"] = []any{row("slug", "readers", "permission", "pull"), row("slug", "web", "permission", "admin")}
	})
	if got := ask(); got != "web (team with administration)" {
		t.Errorf("%q", got)
	}
	p.change(func(p *past) { p.lists["repos/acme/web/contents/docs/CODEOWNERS"] = file("* @acme/docs\n") })
	p.change(func(p *past) {
		p.lists["repos/acme/web/contents/CODEOWNERS"] = file("* @acme/all\n/.github/ @acme/platform bob@example.org # who else\n*.go @acme/go\n")
	})
	if got := ask(); got != "@acme/platform bob@example.org (CODEOWNERS)" {
		t.Errorf("%q", got)
	}
	p.change(func(p *past) {
		p.lists["repos/acme/web/properties/values"] = []any{row("property_name", "owner", "value", []any{"a", "b"}), row("property_name", "team", "value", nil)}
	})
	if got := ask(); got != "a, b (custom property)" {
		t.Errorf("%q", got)
	}
}

func TestCodeownersTakesTheLastPatternThatFits(t *testing.T) {
	const f = ".github/workflows/x.yml"
	for text, want := range map[string]string{
		"* @a":                           "@a",
		"* @a\n/.github/ @b":             "@b",
		"* @a\n/.github @b":              "@b",
		"* @a\n.github/workflows @b":     "@b",
		"* @a\nworkflows/ @b":            "@b",
		"* @a\n*.yml @b":                 "@b",
		"* @a\n/.github/* @b":            "@a",
		"* @a\n/.github/** @b":           "@b",
		"* @a\n**/workflows/*.yml @b @c": "@b @c",
		"* @a\n/workflows/ @b":           "@a",
		"* @a\n/.github/":                "",
		"* @a\n[.]github @b":             "@a",
		"# * @a":                         "",
		"* no-at-sign":                   "",
		"":                               "",
		"docs/ @a":                       "",
	} {
		if got := strings.Join(codeowners([]byte(text), f), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if ownsPath(strings.Repeat("**/a/", 40)+"x", strings.Repeat("a/", 20)+"y") || !ownsPath(strings.Repeat("**/", 60)+"*.yml", f) {
		t.Error("stars are not kept short")
	}
	if got := codeowners([]byte("* "+strings.Repeat("@a ", 1000)), f); len(got) != 10 {
		t.Errorf("%d owners", len(got))
	}
}
