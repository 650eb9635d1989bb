package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/adrg/xdg"

	"cordon/internal/target"
	"cordon/internal/testenv"
	"cordon/internal/yamlfile"
)

// home gives the test a home directory of its own.
func home(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, k := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "GITLAB_TOKEN", "GITLAB_HOST", "CI_SERVER_URL", "GLAB_CONFIG_DIR", "GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GH_HOST", "GITHUB_SERVER_URL", "GH_CONFIG_DIR"} {
		t.Setenv(k, "")
	}
	t.Setenv("HOME", dir)
	xdg.Reload()
	t.Cleanup(xdg.Reload)
	return dir
}

func write(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // the umask is not asked
		t.Fatal(err)
	}
	return path
}

const good = `state_dir: state
principal: alice@example.org
signing: {key: ~/.ssh/id_ed25519}
providers:
  gitlab-prod:
    type: gitlab
    url: https://gitlab.example.org/ci/
    ca_file: ca.pem
    scopes: [instance, "group:a/b", "project:a/b/c", mine]
    look: {env: GITLAB_TOKEN}
    act: {command: [pass, show, gitlab]}
  lab:
    type: gitlab
    url: http://127.0.0.1:8080
    look: {file: look.token}
hosts:
  build-07: {address: "10.0.0.7:2222", user: ir, key: keys/ir, known_hosts: known, sudo: true, unit: gitlab-runner@a.service}
  build-08:
rotate:
  destinations: {vault: {command: [vault, kv, put, "-"]}}
`

func TestAFullConfigurationIsReadAndCompleted(t *testing.T) {
	dir := home(t)
	c, err := Load(write(t, filepath.Join(dir, "c", "config.yaml"), good, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	prod, lab := c.Providers["gitlab-prod"], c.Providers["lab"]
	h7, h8 := c.Hosts["build-07"], c.Hosts["build-08"]
	for _, s := range [][2]string{
		{c.StateDir, dir + "/c/state"},
		{c.Signing.Key, dir + "/.ssh/id_ed25519"},
		{prod.URL, "https://gitlab.example.org/ci"},
		{prod.CAFile, dir + "/c/ca.pem"},
		{prod.Act.String(), "command pass"},
		{prod.Look.host, "gitlab.example.org"},
		{lab.Look.File, dir + "/c/look.token"},
		{lab.Act.String(), "asked for"},
		{h7.Address, "10.0.0.7:2222"},
		{h7.Key, dir + "/c/keys/ir"},
		{h7.KnownHosts, dir + "/c/known"},
		{h8.Address, "build-08:22"},
		{h8.KnownHosts, ""}, // as the SSH configuration says
		{strings.Join(h8.Ask, " "), "-- build-08"},
		{strings.Join(h7.Ask, " "), ""},
		{h8.Unit, "gitlab-runner.service"},
	} {
		if s[0] != s[1] {
			t.Errorf("got %s, want %s", s[0], s[1])
		}
	}
	if h7.Agent || h8.Agent {
		t.Error("an agent that nobody asked for")
	}
	if s, ok := Scope(prod.Type, prod.Scopes[2]); !ok || s != (target.Scope{Level: "project", Path: "a/b/c"}) {
		t.Errorf("scope %+v", s)
	}
}

// TestEachMistakeIsOneClearLine is the list of bad input, as far as it is ours.
func TestEachMistakeIsOneClearLine(t *testing.T) {
	home(t)
	tok := "gl" + "pat-" + strings.Repeat("xY7", 7)
	const prov = "providers:\n  p:\n    type: gitlab\n    url: https://h.example\n    look: {env: T}\n"
	for _, c := range []struct{ name, in, want string }{
		{"unknown key", "provider: {}\n", `c.yaml:1:1: unknown key "provider"; did you mean providers?`},
		{"unknown key, nested", prov + "    cafile: x\n", `c.yaml:6:5: unknown key "cafile"; did you mean ca_file?`},
		{"wrong type", "hosts: [a]\n", `c.yaml:1:8: a list where "key: value" lines are expected`},
		{"a token where its place belongs", "providers: {p: {look: " + tok + "}}\n", `c.yaml:1:23: text where "key: value" lines are expected`},
		{"another provider", strings.Replace(prov, "type: gitlab", "type: gitlap", 1), `c.yaml:3:5: unknown provider type "gitlap"; did you mean gitlab?`},
		{"a provider far away", strings.Replace(prov, "type: gitlab", "type: jenkins", 1), `c.yaml:3:5: unknown provider type "jenkins"; there are github and gitlab`},
		{"a token for a type", strings.Replace(prov, "type: gitlab", "type: "+tok, 1), `c.yaml:3:5: unknown provider type; there are github and gitlab`},
		{"no type", strings.Replace(prov, "type: gitlab", "scopes: [mine]", 1), `c.yaml:2:3: no type; write type: github or type: gitlab`},
		{"no url", strings.Replace(prov, "url: https://h.example", "scopes: [mine]", 1), `c.yaml:2:3: no url; write url: https://`},
		{"not a url", strings.Replace(prov, "https://h.example", "h.example", 1), `c.yaml:4:5: not a URL; write https://HOST`},
		{"http", strings.Replace(prov, "https://h", "http://h", 1), `c.yaml:4:5: the token would travel in clear`},
		{"ftp", strings.Replace(prov, "https://h", "ftp://127.0.0.1", 1), `c.yaml:4:5: `},
		{"userinfo", strings.Replace(prov, "https://h", "https://u:"+tok+"@h", 1), `c.yaml:4:5: a URL with a name or password in it`},
		{"query", strings.Replace(prov, "https://h.example", "\"https://h.example/?private_token="+tok+"\"", 1), `c.yaml:4:5: a URL with more than a host and a path`},
		{"api", strings.Replace(prov, "h.example", "h.example/api/v4/", 1), `c.yaml:4:5: the URL of the API`},
		{"no look", strings.Replace(prov, "look: {env: T}", "act: {ask: true}", 1), `c.yaml:2:3: no place for the token; name one of env, command, file, glab`},
		{"look asked for", strings.Replace(prov, "{env: T}", "{ask: true}", 1), `c.yaml:5:12: look cannot be asked for`},
		{"two places", strings.Replace(prov, "{env: T}", "{env: T, glab: true}", 1), `c.yaml:5:5: more than one place`},
		{"a token for a name", strings.Replace(prov, "{env: T}", "{env: gh"+"p_"+strings.Repeat("a1B2", 9)+"}", 1), `c.yaml:5:12: not the name of an environment variable`},
		{"empty command", strings.Replace(prov, "{env: T}", "{command: []}", 1), `c.yaml:5:12: nothing to run`},
		{"gh for a gitlab", strings.Replace(prov, "{env: T}", "{gh: true}", 1), `c.yaml:5:12: gh has no token for this provider`},
		{"scope", prov + "    scopes: [mine, \"team:x\"]\n", `c.yaml:6:20: not a scope`},
		{"name", strings.Replace(prov, "  p:", "  \"a/b\":", 1), `c.yaml:2:3: not a usable name`},
		{"called ssh", strings.Replace(prov, "  p:", "  ssh:", 1), `c.yaml:2:3: a provider cannot be called ssh`},
		{"two keys to sign", "signing: {key: a, agent: \"SHA256:" + strings.Repeat("a", 43) + "\"}\n", `c.yaml:1:1: both key and agent`},
		{"fingerprint", "signing: {agent: MD5:00}\n", `c.yaml:1:11: not a fingerprint`},
		{"principal", "principal: \"a b\"\n", `c.yaml:1:1: not a principal`},
		{"address", "hosts: {h: {address: \"-oProxyCommand=x\"}}\n", `c.yaml:1:13: not an address`},
		{"port", "hosts: {h: {address: \"h:99999\"}}\n", `c.yaml:1:13: not an address`},
		{"user", "hosts: {h: {user: \"-x\"}}\n", `c.yaml:1:13: not a user name`},
		{"unit", "hosts: {h: {unit: \"a.service; reboot\"}}\n", `c.yaml:1:13: not a service unit`},
		{"key and agent", "hosts: {h: {key: k, agent: true}}\n", `c.yaml:1:9: both key and agent`},
		{"destination", "rotate: {destinations: {v: {}}}\n", `c.yaml:1:25: no command to give the token to`},
		{"recipient", "rotate: {recipients: [age1xyz]}\n", `c.yaml:1:23: not an age recipient`},
		{"recipient of evidence", "evidence: {recipients: [age1xyz]}\n", `c.yaml:1:25: not an age recipient`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("c.yaml", []byte(c.in))
			if err == nil {
				t.Fatal("accepted")
			}
			if !errors.Is(err, ErrInvalid) || !strings.HasPrefix(err.Error(), "configuration: "+c.want) {
				t.Errorf("got  %s\nwant %s", err, c.want)
			}
			if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), tok) || strings.Contains(err.Error(), "a1B2a1B2") {
				t.Errorf("more than one line, or a value in it: %q", err)
			}
		})
	}
}

func TestOneMistakeDoesNotHideTheOthers(t *testing.T) {
	_, err := Parse("c.yaml", []byte("principal: \"a b\"\nhosts: {h: {user: \"-x\"}}\n"))
	var all yamlfile.Errors
	if !errors.As(err, &all) || len(all) != 2 {
		t.Errorf("got %v", err)
	}
}

func TestARecipientIsAKeyAndNeverAnIdentity(t *testing.T) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse("c.yaml", []byte("rotate: {recipients: ["+id.Recipient().String()+"]}")); err != nil {
		t.Error(err)
	}
	if _, err := Parse("c.yaml", []byte("rotate: {recipients: ["+id.String()+"]}")); err == nil || strings.Contains(err.Error(), id.String()[15:]) {
		t.Errorf("the identity: %v", err)
	}
}

func TestAMissingFileIsAnErrorOnlyWhenItWasNamed(t *testing.T) {
	dir := home(t)
	c, err := Load("")
	if err != nil || c.Path != "" || len(c.Providers) != 0 {
		t.Errorf("default: %+v, %v", c, err)
	}
	if _, err := Load(filepath.Join(dir, "no.yaml")); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "does not exist; name another file with --config") {
		t.Errorf("named: %v", err)
	}
	write(t, filepath.Join(dir, ".config", "cordon", "config.yaml"), good, 0o600)
	if c, err := Load(""); err != nil || len(c.Providers) != 2 {
		t.Errorf("in its place: %+v, %v", c, err)
	}
}

// TestAFileThatAnybodyCanWriteIsRefused: it names commands that will be run.
func TestAFileThatAnybodyCanWriteIsRefused(t *testing.T) {
	p := write(t, filepath.Join(home(t), "c.yaml"), good, 0o606)
	if _, err := Load(p); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "run: chmod 0604 "+p) {
		t.Errorf("got %v", err)
	}
	if err := os.Chmod(p, 0o664); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(p); err != nil {
		t.Errorf("readable by all: %v", err)
	}
	if _, err := Load(filepath.Dir(p)); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a directory: %v", err)
	}
}

func TestAFileThatCannotBeReadIsNamed(t *testing.T) {
	testenv.Ordinary(t)
	p := write(t, filepath.Join(home(t), "c.yaml"), good, 0)
	if _, err := Load(p); err == nil || err.Error() != "configuration: read "+p+": permission denied" {
		t.Errorf("got %v", err)
	}
}

func TestStateDirectoryByFlagThenFileThenXDG(t *testing.T) {
	dir := home(t)
	for _, c := range []struct{ flag, file, want string }{
		{"/f", "/c", "/f"}, {"", "/c", "/c"}, {"", "", dir + "/.local/state/cordon"},
	} {
		if got, err := (&Config{StateDir: c.file}).StateHome(c.flag); err != nil || got != c.want {
			t.Errorf("%+v: got %s, %v", c, got, err)
		}
	}
	if got, err := Default().StateHome("rel"); err != nil || !filepath.IsAbs(got) {
		t.Errorf("relative flag: %s, %v", got, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Parse("c.yaml", b)
		if err != nil {
			if !errors.Is(err, ErrInvalid) || strings.ContainsAny(err.Error(), "\x1b\n\r") {
				t.Fatalf("%q", err)
			}
			return
		}
		for name, p := range c.Providers {
			if !nameForm.MatchString(name) || p.Act == nil || p.Look.String() == "nowhere" || !strings.HasPrefix(p.URL, "http") {
				t.Fatalf("accepted: %q %+v", name, p)
			}
		}
	})
}
