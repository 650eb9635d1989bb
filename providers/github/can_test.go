package github

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"cordon/internal/target"
	"cordon/internal/transport"
	"cordon/providers"
	"cordon/providers/providertest"
)

// anyRunner asks about every runner of a scope.
func anyRunner(level, path string) target.Ref {
	return target.Ref{System: "gh", Scope: target.Scope{Level: level, Path: path}, Kind: target.Runner}
}

// levels is what Can answers, by verb.
func levels(t *testing.T, p *Provider, ctx context.Context, ref target.Ref) map[string]providers.Capability {
	t.Helper()
	list, err := p.Can(ctx, ref)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]providers.Capability{}
	for _, c := range list {
		if c.Level != full && c.Why == "" {
			t.Errorf("%s is %s without a reason", c.Verb, c.Level)
		}
		out[c.Verb] = c
	}
	return out
}

func TestAClassicTokenIsJudgedByItsScopes(t *testing.T) {
	l := open(t, providertest.Wait)
	ctx := context.Background()
	l.fake.change(func(f *fake) {
		f.headers["X-OAuth-Scopes"], f.headers["X-Accepted-OAuth-Scopes"] = "repo, read:org", "admin:org"
	})
	org := levels(t, l.Provider, ctx, anyRunner(organization, "acme"))
	if c := org[providers.Pause]; c.Level != none || c.Missing != "scope admin:org" {
		t.Errorf("an organization without admin:org: %+v", c)
	}
	repo := levels(t, l.Provider, ctx, anyRunner(repository, "acme/web"))
	if repo[providers.Deregister].Level != full || repo[providers.Cancel].Level != full || repo[providers.Pause].Level != partial || !strings.Contains(repo[providers.Pause].Why, "custom labels") {
		t.Errorf("a repository with repo: %+v", repo)
	}
	if repo[providers.Rotate].Level != manual || repo[providers.Revoke].Level != partial {
		t.Errorf("what GitHub does not have: %+v", repo)
	}
	l.fake.change(func(f *fake) { f.headers["X-OAuth-Scopes"] = "admin:org" })
	org = levels(t, l.Provider, ctx, anyRunner(organization, "acme"))
	if org[providers.Pause].Level != partial || !strings.Contains(org[providers.Pause].Why, "group") || org[providers.Deregister].Level != full || org[canList].Level != full {
		t.Errorf("with admin:org: %+v", org)
	}
	if c := levels(t, l.Provider, ctx, runner(23, organization, "acme"))[providers.Deregister]; c.Level != partial || !strings.Contains(c.Why, "busy") {
		t.Errorf("a busy runner: %+v", c)
	}
	if _, there := org[providers.Cancel]; there {
		t.Error("runs are canceled in a repository, not in an organization")
	}
}

func TestAFineGrainedTokenSaysNothingOfItselfAndARefusalSaysWhatIsMissing(t *testing.T) {
	l := open(t, providertest.Wait)
	ctx := context.Background()
	org := levels(t, l.Provider, ctx, anyRunner(organization, "acme"))
	if c := org[providers.Deregister]; c.Level != unsure || !strings.Contains(c.Why, "organization_self_hosted_runners: write") {
		t.Errorf("%+v", c)
	}
	l.fake.change(func(f *fake) {
		f.headers["X-Accepted-GitHub-Permissions"] = "organization_self_hosted_runners=read"
		f.deny["orgs/acme"] = 403
	})
	org = levels(t, l.Provider, ctx, anyRunner(organization, "acme"))
	for _, verb := range []string{canList, providers.Pause, providers.Deregister} {
		if c := org[verb]; c.Level != none || c.Missing != "permission organization_self_hosted_runners=read" {
			t.Errorf("%s: %+v", verb, c)
		}
	}
	l.fake.change(func(f *fake) { f.deny["orgs/acme"] = 503 })
	if c := levels(t, l.Provider, ctx, anyRunner(organization, "acme"))[canList]; c.Level != unsure {
		t.Errorf("no answer is not a refusal: %+v", c)
	}
}

func TestAnAppIsJudgedByWhatItsInstallationHas(t *testing.T) {
	s := serveApp(t)
	s.granted = map[string]string{"organization_self_hosted_runners": "read", "administration": "write", "actions": "read"}
	m := s.mint(t)
	if _, err := m.Token(context.Background()); err != nil {
		t.Fatal(err)
	}
	l := open(t, providertest.Wait, func(o *Options) { o.App, o.ActApp, o.ActsApart = m, s.mint(t), true })
	org := levels(t, l.Provider, context.Background(), anyRunner(organization, "acme"))
	repo := levels(t, l.Provider, context.Background(), anyRunner(repository, "acme/web"))
	if c := org[providers.Deregister]; c.Level != none || c.Missing != "permission organization_self_hosted_runners: write" {
		t.Errorf("%+v", c)
	}
	if repo[providers.Deregister].Level != full || repo[providers.Cancel].Level != none {
		t.Errorf("%+v", repo)
	}
	who, err := l.WhoAmI(context.Background())
	if err != nil || len(who) != 1 || who[0].Kind != "app" || who[0].Login != "app 5, installation 77" || len(who[0].Scopes) != 3 || who[0].Scopes[1] != "administration:read" || who[0].Expires.IsZero() {
		t.Errorf("%+v, %v", who, err)
	}
}

// Their names announce secrets, and are none.
func TestAnAppsPermissionsAreShownByTheirNames(t *testing.T) {
	s := serveApp(t)
	s.granted = map[string]string{"secrets": "write", "organization_dependabot_secrets": "read", "secret_scanning_alerts": "admin", "token": random("zz")}
	all := s.mint(t, func(o *MintOptions) { o.ReadOnly = false })
	l := open(t, providertest.Wait, func(o *Options) { o.App, o.ActApp = all, all })
	who, err := l.WhoAmI(context.Background())
	if err != nil || len(who) != 1 {
		t.Fatalf("%+v, %v", who, err)
	}
	shown := fmt.Sprint(who[0].Scopes)
	for _, want := range []string{"secrets:write", "organization_dependabot_secrets:read", "secret_scanning_alerts:admin", "token:[redacted "} {
		if !strings.Contains(shown, want) {
			t.Errorf("%s is not in %s", want, shown)
		}
	}
}

func TestWhatAnotherCredentialMayDoIsNotKnownUntilItIsAsked(t *testing.T) {
	l := open(t, providertest.Wait, func(o *Options) { o.ActsApart = true })
	l.fake.change(func(f *fake) { f.headers["X-OAuth-Scopes"] = "admin:org" })
	if c := levels(t, l.Provider, context.Background(), anyRunner(organization, "acme"))[providers.Deregister]; c.Level != unsure || !strings.Contains(c.Why, "another one") {
		t.Errorf("%+v", c)
	}
	if c := levels(t, l.Provider, transport.AsActing(context.Background()), anyRunner(organization, "acme"))[providers.Deregister]; c.Level != full {
		t.Errorf("asked with it: %+v", c)
	}
}

func TestCanAsksAboutScopesOfItsSystemAlone(t *testing.T) {
	l := open(t, providertest.Wait)
	for _, ref := range []target.Ref{{}, anyRunner("group", "acme"), {System: "other", Kind: target.Runner}, {System: "gh", Kind: target.Host}} {
		if _, err := l.Can(context.Background(), ref); !errors.Is(err, providers.ErrNotYours) {
			t.Errorf("%s: %v", ref, err)
		}
	}
	l.fake.change(func(f *fake) { f.headers["X-OAuth-Scopes"] = "repo" })
	all := levels(t, l.Provider, context.Background(), anyRunner(repositories, "acme"))
	if c := all[canList]; c.Level != partial || !strings.Contains(c.Why, "2 organizations and repositories") || !strings.Contains(c.Why, "acme/site") {
		t.Errorf("a scope that stands for others: %+v", c)
	}
	for status, want := range map[int]string{403: none, 503: unsure} {
		l.fake.change(func(f *fake) { f.deny["users/acme"] = status })
		if c := levels(t, l.Provider, context.Background(), anyRunner(repositories, "acme"))[canList]; c.Level != want || !strings.Contains(c.Why, "repositories of acme") {
			t.Errorf("nothing of it can be listed, %d: %+v", status, c)
		}
	}
	if c := all[providers.Deregister]; c.Level != full || !strings.HasPrefix(c.Why, "asked of acme/tools: ") {
		t.Errorf("one of them: %+v", c)
	}
}

func TestWhoItIsComesFromTheUserAndTheHeaders(t *testing.T) {
	l := open(t, providertest.Wait, func(o *Options) { o.ActsApart, o.ActHeld = true, func() bool { return true } })
	l.fake.change(func(f *fake) {
		f.headers["X-OAuth-Scopes"], f.headers["GitHub-Authentication-Token-Expiration"] = "repo, read:org", "2026-12-24 18:00:00 UTC"
	})
	who, err := l.WhoAmI(context.Background())
	if err != nil || len(who) != 2 || who[0].Login != "ir-look" || who[0].Kind != "user, classic token" || len(who[0].Scopes) != 2 ||
		!who[0].Expires.Equal(time.Date(2026, 12, 24, 18, 0, 0, 0, time.UTC)) || who[1].Credential != "act" {
		t.Errorf("%+v, %v", who, err)
	}
	l.fake.change(func(f *fake) { delete(f.headers, "X-OAuth-Scopes"); f.deny["user"] = 403 })
	if who, _ = l.WhoAmI(context.Background()); !strings.Contains(who[0].CouldNot, "403") || who[0].Login != "" {
		t.Errorf("%+v", who)
	}
	if id := (wireMe{Type: "Bot"}).kind(false); id != "bot, fine-grained token" {
		t.Error(id)
	}
}
