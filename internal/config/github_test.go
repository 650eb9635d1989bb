package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/target"
)

const goodGitHub = `providers:
  gh:
    type: github
    url: https://github.com/
    scopes: ["enterprise:big", "organization:acme", "repository:acme/web.js", "repositories:acme", mine]
    look: {app: {id: 123, installation: 456, key_file: app.pem}}
    act: {gh: true}
  ghes:
    type: github
    url: https://github.example.org
    look: {env: GHES_TOKEN}
`

func TestAGitHubIsConfiguredWithATokenOrAnApp(t *testing.T) {
	dir := home(t)
	c, err := Load(write(t, filepath.Join(dir, "c", "config.yaml"), goodGitHub, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	gh, ghes := c.Providers["gh"], c.Providers["ghes"]
	if gh.URL != "https://github.com" || gh.Act.host != "github.com" || gh.Look.App.KeyFile != dir+"/c/app.pem" || gh.Look.String() != "GitHub App 123" || ghes.Act.String() != "asked for" {
		t.Errorf("%+v", gh)
	}
	for i, want := range []target.Scope{{Level: "enterprise", Path: "big"}, {Level: "organization", Path: "acme"}, {Level: "repository", Path: "acme/web.js"}, {Level: "repositories", Path: "acme"}, {Level: "mine"}} {
		if s, ok := Scope("github", gh.Scopes[i]); !ok || s != want {
			t.Errorf("%s: %+v", gh.Scopes[i], s)
		}
	}
	if _, err := gh.Look.Get(t.Context()); !errors.Is(err, ErrToken) {
		t.Errorf("an App's token cannot be fetched: %v", err)
	}
}

func TestEachMistakeWithAGitHubIsOneClearLine(t *testing.T) {
	home(t)
	const prov = "providers:\n  p:\n    type: github\n    url: https://github.com\n    look: {env: T}\n"
	look := func(s string) string { return strings.Replace(prov, "{env: T}", s, 1) }
	for _, c := range []struct{ name, in, want string }{
		{"the API", strings.Replace(prov, "github.com", "api.github.com", 1), `c.yaml:4:5: the URL of the API, not of the service; write https://github.com`},
		{"the API of a server", strings.Replace(prov, "github.com", "h.example/api/v3", 1), `c.yaml:4:5: the URL of the API, not of the service; leave out /api/v3`},
		{"a name in full", strings.Replace(prov, "github.com", "GitHub.com.", 1), `c.yaml:4:5: a host with a dot at its end; leave out the dot`},
		{"an organization", strings.Replace(prov, "github.com", "github.com/acme", 1), `c.yaml:4:5: a URL with a path; write https://github.com alone`},
		{"http", strings.Replace(prov, "https", "http", 1), `c.yaml:4:5: the token would travel in clear`},
		{"a GitLab's scope", prov + "    scopes: [\"group:x\"]\n", `c.yaml:6:14: not a scope; write enterprise:SLUG, organization:ORG, repository:OWNER/REPO, repositories:OWNER or mine`},
		{"half a repository", prov + "    scopes: [\"repository:x\"]\n", `c.yaml:6:14: not a scope`},
		{"climbing", prov + "    scopes: [\"repository:x/..\"]\n", `c.yaml:6:14: not a scope`},
		{"glab", look("{glab: true}"), `c.yaml:5:12: glab has no token for this provider; glab logs in to GitLab`},
		{"no place", look("{}"), `c.yaml:5:5: no place for the token; name one of env, command, file, gh, app`},
		{"two places", look("{gh: true, app: {id: 1, installation: 2, key_file: k}}"), `c.yaml:5:5: more than one place`},
		{"an App without its installation", look("{app: {id: 1, key_file: k}}"), `c.yaml:5:12: the App or its installation has no number`},
		{"an App without a key", look("{app: {id: 1, installation: 2}}"), `c.yaml:5:12: no place for the App's private key`},
		{"an App for a GitLab", strings.Replace(look("{app: {id: 1, installation: 2, key_file: k}}"), "type: github", "type: gitlab", 1), `c.yaml:5:12: an App has no token for this provider`},
	} {
		_, err := Parse("c.yaml", []byte(c.in))
		if err == nil || !strings.HasPrefix(err.Error(), "configuration: "+c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s\ngot  %v\nwant %s", c.name, err, c.want)
		}
	}
}

func TestAnAppsKeyIsReadOnlyIfNobodyElseCan(t *testing.T) {
	dir, mark := home(t), planted(t)
	text := "-----BEGIN RSA PRIVATE KEY-----\n" + mark + "\n"
	a := &App{ID: 1, KeyFile: write(t, dir+"/k.pem", text, 0o600)}
	if k, err := a.Key(); err != nil || k.Reveal() != text {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{write(t, dir+"/open.pem", text, 0o640), "chmod 0600"}, {dir + "/none.pem", "no such file"}, {write(t, dir+"/token", mark, 0o600), "no private key in PEM form"},
	} {
		a.KeyFile = c[0]
		if _, err := a.Key(); !errors.Is(err, ErrToken) || !strings.Contains(err.Error(), c[1]) || strings.Contains(err.Error(), mark) {
			t.Errorf("%s: %v", c[0], err)
		}
	}
}

func TestWithoutAFileGitHubIsFoundByItsVariablesAndItsLogins(t *testing.T) {
	dir, tok := home(t), planted(t)
	found := func() string {
		c, notes := Discover()
		got := notes
		for _, name := range sorted(c.Providers) {
			p := c.Providers[name]
			got = append(got, strings.Join([]string{name, p.Type, p.URL, p.Look.String()}, " "))
		}
		if strings.Contains(strings.Join(got, " "), tok) {
			t.Errorf("the token is shown: %v", got)
		}
		return strings.Join(got, "\n")
	}
	hosts := write(t, filepath.Join(dir, ".config", "gh", "hosts.yml"), "github.com:\n    oauth_token: "+tok+"\n    user: alice\ngithub.example.org:\n    user: alice\n\"evil host\":\n    user: x\n", 0o600)
	t.Setenv("GITHUB_TOKEN", tok)
	want := "gh's login for evil host: its address cannot be used; write it into " + DefaultPath() + "\n" +
		"github.com github https://github.com environment variable GITHUB_TOKEN\n" +
		"github.example.org github https://github.example.org gh's login for github.example.org"
	if got := found(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := os.Chmod(hosts, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := found(); !strings.Contains(got, "gh: ") || !strings.Contains(got, "chmod 0600") {
		t.Errorf("readable by others: %s", got)
	}
	_ = os.Remove(hosts)
	t.Setenv("GH_TOKEN", tok)
	t.Setenv("GH_HOST", "acme.ghe.com")
	if got := found(); got != "acme.ghe.com github https://acme.ghe.com environment variable GH_TOKEN" {
		t.Errorf("a tenant: %s", got)
	}
	t.Setenv("GH_HOST", "github.example.org")
	t.Setenv("GH_ENTERPRISE_TOKEN", tok)
	if got := found(); !strings.Contains(got, "github.example.org github https://github.example.org environment variable GH_ENTERPRISE_TOKEN") || !strings.Contains(got, "github.com github") {
		t.Errorf("a server: %s", got)
	}
	t.Setenv("GITHUB_SERVER_URL", "https://server.example")
	if got := found(); !strings.Contains(got, "server.example github https://server.example environment variable GH_TOKEN") {
		t.Errorf("in a job: %s", got)
	}
}
