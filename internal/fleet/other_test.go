package fleet

import (
	"fmt"
	"strings"
	"testing"

	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/providers"
)

// TestAHostIsAnotherRunnersOnlyWhereNothingOnItCanBeThisOnes: to say so keeps people from
// acting, so it takes registrations of others and none that may be its own.
func TestAHostIsAnotherRunnersOnlyWhereNothingOnItCanBeThisOnes(t *testing.T) {
	acme := target.Scope{Level: "organization", Path: "acme"}
	gh := func(id, name string) providers.Runner {
		return providers.Runner{Ref: target.Ref{System: "gh", Scope: acme, Kind: target.Runner, ID: id}, Name: untrusted.Text(name)}
	}
	gl := providers.Runner{Ref: target.Ref{System: "gl", Kind: target.Runner, ID: "42"}, Name: "build-07"}
	ours := []providers.Manager{{SystemID: "s_aaaaaaaaaaaa"}}
	in := Input{Runners: []providers.Runner{gh("24", "gha-02"), gl}, Services: map[string]string{"gh": "https://github.com", "gl": "https://gl.invalid"}}
	github := func(id, name, at string) string {
		return fmt.Sprintf(`{"agentId": %s, "agentName": %q, "gitHubUrl": %q, "workFolder": "_work"}`, id, name, at)
	}
	toml := func(id, at string) string { return "[[runners]]\nname = \"x\"\n" + id + "url = \"" + at + "\"\n" }
	for name, c := range map[string]struct {
		r     providers.Runner
		files map[string]string
		want  string
	}{
		"another's":                  {gh("23", "gha-01"), map[string]string{"/opt/a/.runner": github("24", "gha-02", "https://github.com/acme")}, `holds the registration of runner 24 ("gha-02") and none of runner 23 ("gha-01")`},
		"its own":                    {gh("23", "gha-01"), map[string]string{"/opt/a/.runner": github("23", "gha-01", "https://github.com/Acme")}, ""},
		"its own beside another's":   {gh("23", "gha-01"), map[string]string{"/opt/a/.runner": github("23", "gha-01", "https://github.com/acme"), "/opt/b/.runner": github("24", "gha-02", "https://github.com/acme")}, ""},
		"its number in another's":    {gh("23", "gha-01"), map[string]string{"/opt/a/.runner": github("23", "else", "https://github.com/mallory")}, `holds the registration of runner 23 ("else") and none of runner 23`},
		"its number elsewhere":       {gh("23", "gha-01"), map[string]string{"/opt/a/.runner": github("23", "gha-09", "https://ghe.invalid/acme")}, "and none of"},
		"it, by another address":     {gh("23", "gha-01"), map[string]string{"/opt/a/.runner": github("23", "gha-01", "https://proxy.invalid/acme")}, ""},
		"registered anew":            {gh("23", "gha-01"), map[string]string{"/opt/a/.runner": github("31", "gha-01", "https://github.com/acme")}, ""},
		"it does not say which":      {gh("23", "gha-01"), map[string]string{"/opt/a/.runner": `{"agentName": "x", "gitHubUrl": "https://github.com/acme"}`, "/opt/b/.runner": github("24", "gha-02", "https://github.com/acme")}, ""},
		"nothing is there":           {gh("23", "gha-01"), nil, ""},
		"of another kind alone":      {gh("23", "gha-01"), map[string]string{"/etc/gitlab-runner/config.toml": toml("id = 42\n", "https://gl.invalid")}, `holds the registration of runner 42 ("build-07") and none`},
		"GitLab: its own":            {gl, map[string]string{"/etc/gitlab-runner/config.toml": toml("id = 42\n", "https://gl.invalid/")}, ""},
		"GitLab: another's":          {gl, map[string]string{"/etc/gitlab-runner/config.toml": toml("id = 43\n", "https://gl.invalid/")}, `runner 43 ("x") and none of runner 42`},
		"GitLab: its number, not it": {gl, map[string]string{"/etc/gitlab-runner/config.toml": toml("id = 42\n", "https://other.invalid/")}, `and none of runner 42`},
		"GitLab: without a number":   {gl, map[string]string{"/etc/gitlab-runner/config.toml": toml("", "https://gl.invalid/")}, ""},
		"GitLab: its machine":        {gl, map[string]string{"/etc/gitlab-runner/config.toml": toml("id = 43\n", "https://gl.invalid/"), "/etc/gitlab-runner/.runner_system_id": "s_aaaaaaaaaaaa"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := &snapshot.Snapshot{Host: "h1"}
			for p, content := range c.files {
				s.Files = append(s.Files, snapshot.File{Section: snapshot.SectionRunners, Path: untrusted.Text(p), Type: "file", Mode: 0o600, Size: int64(len(content)), Content: untrusted.Text(content)})
			}
			got := NotOf(in, c.r, ours, s)
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
