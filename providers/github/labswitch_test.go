package github

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/clock"
	labhub "cordon/internal/lab/github"
	"cordon/internal/lab/ledger"
	"cordon/internal/lab/vault"
	"cordon/internal/target"
	"cordon/providers"
	"cordon/providers/providertest"
)

// inLab is a provider over the lab's GitHub, which is written without its code, and the
// ledger of what really happened there.
type inLab struct {
	*acting
	ledger *ledger.Ledger
	token  string
}

func openLab(t *testing.T) *inLab {
	t.Helper()
	dir := t.TempDir()
	l := &inLab{}
	var err error
	if l.ledger, err = ledger.Open(filepath.Join(dir, "ledger.jsonl"), clock.Real{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.ledger.Close() })
	api, err := labhub.New(labhub.Options{ID: "lab", Clock: clock.Real{}, Ledger: l.ledger, Vault: vault.New(1, filepath.Join(dir, "planted.json")), Data: labhub.Data{
		Version: "3.19.1", NewRunner: 90, NewRun: 600,
		People:      []labhub.Person{{ID: 2, Login: "act", Token: "act", File: "act.token", Sees: []string{"acme", "big"}, Scopes: []string{"repo", "admin:org", "admin:enterprise"}}},
		Enterprises: []labhub.Enterprise{{ID: 800, Slug: "big"}},
		Owners:      []labhub.Owner{{ID: 900, Login: "acme", Type: "Organization", Enterprise: "big"}},
		Repos: []labhub.Repo{
			{ID: 11, Path: "acme/web", Workflows: []labhub.Workflow{{ID: 111, Name: "build", Path: ".github/workflows/build.yml"}, {ID: 112, Name: "nightly", Path: ".github/workflows/nightly.yml"}, {ID: 113, Name: "old", Path: ".github/workflows/old.yml", State: workflowOff}}},
			{ID: 12, Path: "acme/tools"},
		},
		Groups: []labhub.SeedGroup{
			{ID: 2, Scope: "organization:acme", Name: "release", Visibility: "selected", Repos: []string{"acme/web"}},
			{ID: 9, Scope: "enterprise:big", Name: "fleet", Visibility: "selected", Orgs: []string{"acme"}},
		},
		Runners: []labhub.Seeded{
			{ID: 23, Scope: "organization:acme", Name: "b1", Labels: []string{"release"}, Group: 2},
			{ID: 31, Scope: "repository:acme/web", Name: "w1", Labels: []string{"web"}},
			{ID: 40, Scope: "enterprise:big", Name: "f1", Labels: []string{"fleet"}, Group: 9},
		},
		Runs: []labhub.SeedRun{
			{ID: 501, Repo: "acme/web", Workflow: 111, Event: "push", Branch: "main", Actor: "rosa", Conclusion: "success", Ago: time.Hour, Jobs: []labhub.SeedJob{{ID: 5011, Name: "a", Labels: []string{"self-hosted"}, Runner: 23, Takes: time.Minute}}},
			{ID: 502, Repo: "acme/web", Workflow: 112, Event: "schedule", Branch: "main", Actor: "rosa", Ago: time.Minute, Jobs: []labhub.SeedJob{{ID: 5021, Name: "n", Labels: []string{"self-hosted"}, Takes: time.Minute}}},
			{ID: 503, Repo: "acme/web", Workflow: 113, Event: "push", Branch: "main", Actor: "rosa", Ago: time.Minute, Jobs: []labhub.SeedJob{{ID: 5031, Name: "o", Labels: []string{"self-hosted"}, Takes: time.Minute}}},
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if l.token, err = api.PersonToken("act"); err != nil {
		t.Fatal(err)
	}
	l.acting = openActing(t, providertest.Wait)
	h := api.Handler()
	l.wire.Service = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+l.token)
		h.ServeHTTP(w, r)
	})
	return l
}

// set is what a test prepares or reads by itself.
func (l *inLab) set(t *testing.T, method, path, body string) string {
	t.Helper()
	rec := httptest.NewRecorder()
	l.wire.Service.ServeHTTP(rec, httptest.NewRequest(method, "/api/v3"+path, strings.NewReader(body)))
	if rec.Code >= 300 {
		t.Fatalf("%s %s: %d %s", method, path, rec.Code, rec.Body)
	}
	b, _ := io.ReadAll(rec.Body)
	return string(b)
}

// stands is all that a pause could have changed, as the lab's GitHub tells it.
func (l *inLab) stands(t *testing.T) string {
	t.Helper()
	var out []string
	for _, path := range []string{
		"/orgs/acme/actions/runners/23", "/repos/acme/web/actions/runners/31", "/enterprises/big/actions/runners/40",
		"/orgs/acme/actions/runner-groups/2", "/orgs/acme/actions/runner-groups/2/repositories", "/enterprises/big/actions/runner-groups/9/organizations",
		"/repos/acme/web/actions/workflows", "/repos/acme/web/actions/permissions", "/orgs/acme/actions/permissions", "/orgs/acme/actions/permissions/repositories",
		"/orgs/acme/actions/permissions/self-hosted-runners", "/orgs/acme/actions/permissions/self-hosted-runners/repositories",
		"/enterprises/big/actions/permissions", "/enterprises/big/actions/permissions/organizations",
	} {
		out = append(out, path+" "+l.set(t, "GET", path, ""))
	}
	return strings.Join(out, "\n")
}

// TestEachPausesUndoRestoresExactlyByTheLabsLedger carries out every pause plan of a runner
// of each level, under policies of each kind, and takes it back: every effect that the
// ledger has is turned round by a later one, and all reads as it was.
func TestEachPausesUndoRestoresExactlyByTheLabsLedger(t *testing.T) {
	t.Parallel()
	done := map[string]int{}
	for _, policy := range []string{"all", "selected"} {
		for _, ref := range []target.Ref{runner(23, organization, "acme"), runner(31, repository, "acme/web"), runner(40, enterprise, "big")} {
			l := openLab(t)
			l.set(t, "PUT", "/repos/acme/web/actions/permissions", `{"enabled":true,"allowed_actions":"local_only","sha_pinning_required":true}`)
			if policy == "selected" {
				l.set(t, "PUT", "/orgs/acme/actions/permissions", `{"enabled_repositories":"selected","allowed_actions":"selected"}`)
				l.set(t, "PUT", "/orgs/acme/actions/permissions/repositories", `{"selected_repository_ids":[11]}`)
				l.set(t, "PUT", "/orgs/acme/actions/permissions/self-hosted-runners", `{"enabled_repositories":"selected"}`)
				l.set(t, "PUT", "/orgs/acme/actions/permissions/self-hosted-runners/repositories", `{"selected_repository_ids":[11,12]}`)
				l.set(t, "PUT", "/enterprises/big/actions/permissions", `{"enabled_organizations":"selected","allowed_actions":"selected"}`)
				l.set(t, "PUT", "/enterprises/big/actions/permissions/organizations", `{"selected_organization_ids":[900]}`)
			}
			for _, plan := range l.plans(t, providers.Pause, ref) {
				if len(plan.Changes) == 0 {
					continue
				}
				before, from := l.stands(t), len(l.ledger.Entries())
				for _, c := range plan.Changes {
					l.do(t, c)
				}
				if l.stands(t) == before {
					t.Errorf("control: %s of %s changed nothing", plan.Option, ref)
				}
				for _, c := range slices.Backward(plan.Changes) {
					l.do(t, *c.Undo)
				}
				if after := l.stands(t); after != before {
					t.Errorf("%s of %s:\n%s\nbecame\n%s", plan.Option, ref, before, after)
				}
				if open := unturned(l.ledger.Entries()[from:]); len(open) > 0 {
					t.Errorf("%s of %s: effects that were not turned round: %v", plan.Option, ref, open)
				}
				done[plan.Option]++
			}
		}
	}
	if got, want := fmt.Sprint(done), "map[actions-off:6 group:4 labels:6 labels-marker:6 no-new-runners:2 quarantine:4 workflows:6]"; got != want {
		t.Errorf("control: undone were %s", got)
	}
}

// unturned are the effects, as "EFFECT TARGET", whose "FROM to TO" no later one takes back,
// apart from the empty group that a quarantine leaves.
func unturned(all []ledger.Entry) []string {
	open := map[string][2]string{}
	for _, e := range all {
		from, to, ok := strings.Cut(e.Detail, " to ")
		word := e.Effect
		switch e.Effect {
		case "group.create":
			continue
		case "workflow.disable":
			word, from, to, ok = "workflow", "on", "off", true
		case "workflow.enable":
			word, from, to, ok = "workflow", "off", "on", true
		case "runner.move":
			from = strings.TrimPrefix(from, "group ")
		}
		key := word + " " + e.Target
		if was, is := open[key]; ok && is && was[1] == from && was[0] == to {
			delete(open, key)
			continue
		}
		open[key] = [2]string{from, to}
	}
	var out []string
	for k, v := range open {
		out = append(out, k+": "+v[0]+" to "+v[1])
	}
	return out
}

// What the lab's GitHub tells of the waiting and the past goes into the plan.
func TestTheLabsTrafficIsInThePlans(t *testing.T) {
	l := openLab(t)
	p := l.option(t, providers.Pause, runner(23, organization, "acme"), "workflows")
	words := all(p)
	if len(p.Changes) != 2 || !strings.Contains(words, "old.yml is disabled_manually already") || !strings.Contains(words, "nightly.yml is started by a schedule too") {
		t.Errorf("%d changes\n%s", len(p.Changes), words)
	}
	for _, c := range p.Changes {
		if !strings.HasSuffix(c.Capacity, "of its jobs 0 are on this runner and 0 wait that ask for labels it has") && !strings.HasSuffix(c.Capacity, "and 1 wait that ask for labels it has") {
			t.Errorf("%s", c.Capacity)
		}
	}
	c := l.option(t, providers.Pause, runner(23, organization, "acme"), "quarantine").Changes[0]
	if !strings.HasSuffix(c.Capacity, "; 2 jobs wait now that ask for labels it has, in 1 repositories") {
		t.Errorf("%s", c.Capacity)
	}
}
