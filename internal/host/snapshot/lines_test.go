package snapshot

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// keptOf is what a snapshot keeps of one file.
func keptOf(t *testing.T, section, path, content string) string {
	t.Helper()
	s, err := parse(ProfileTriage, whole(ProfileTriage, map[string]func(*stream){section: func(s *stream) {
		s.frame("lstat", path, fmt.Sprintf("8180 0 0 %d 1796000000 1796000000", len(content)))
		s.frame("data", path, content)
	}}))
	if err != nil {
		t.Fatal(err)
	}
	return string(fileOf(t, s, path).Content)
}

// A value does not end where its line does: by a quote, a backslash, an indent, or
// because it is a key.
func TestASecretOfSeveralLinesLeavesWithAllOfThem(t *testing.T) {
	p := &planted{}
	key := strings.TrimSuffix(p.pem(), "\n")
	body := base64.StdEncoding.EncodeToString([]byte(random() + random() + random() + random()))
	p.values = append(p.values, body[50:90])
	wrapped := body[:48] + "\n" + body[48:]
	for _, c := range [][3]string{
		{SectionRunners, "/opt/a/.env", "A=\"" + key + "\"\nLANG=C\n"},
		{SectionRunners, "/opt/a/.env", "A=" + key + "\nLANG=C\n"},
		{SectionRunners, "/opt/a/.env", "A=\"" + wrapped + "\"\nLANG=C\n"},
		{SectionRunners, "/opt/a/.env", "A=x'" + wrapped + "'\nLANG=C\n"},
		{SectionRunners, "/opt/a/.env", "A=$'it\\'s\n" + wrapped + "'\r\nLANG=C\n"},
		{SectionProfiles, "/etc/environment", "A='" + wrapped + "\n\n" + p.opaque() + "'\nLANG=C\n"},
		{SectionUnits, "/etc/default/gitlab-runner", "A=\"" + wrapped + "\nB=" + p.opaque() + "\n" + p.opaque() + "\"\nLANG=C\n"},
		{SectionUnits, "/etc/sysconfig/gitlab-runner", "A=abc\\\n" + p.opaque() + "\nLANG=C\n"},
		{SectionProfiles, "/root/.config/environment.d/x.conf", "A=\"\n" + p.opaque() + "\n\"\nLANG=C\n"},
		{SectionCron, "/var/spool/cron/atjobs/a00001", "A=first\"\n\"" + p.opaque() + "\"\n\"" + p.opaque() + "; export A\nLANG=C\n"},
		{SectionHomes, "/root/.cargo/config.toml", "[registries.x]\ntoken = \"\"\"\n" + p.opaque() + " \"a\n" + p.opaque() + "\"\"\"\nregistry = 'r'\n"},
		{SectionHomes, "/root/.config/pip/pip.conf", "[global]\nproxy =\n  " + p.opaque() + "\n  " + p.opaque() + "\nno-index = 1\n"},
		{SectionRunners, "/etc/buildkite-agent/buildkite-agent.cfg", "token=\"" + wrapped + "\"\nname=\"b7\"\n"},
	} {
		got := keptOf(t, c[0], c[1], c[2])
		for _, v := range p.values {
			if strings.Contains(got, v) {
				t.Errorf("%s: of\n%s\nstays\n%s", c[1], c[2], got)
			}
		}
		if !strings.Contains(got, "[redacted hmac:") {
			t.Errorf("%s: nothing was replaced: %s", c[1], got)
		}
		last := strings.Split(strings.TrimSuffix(c[2], "\n"), "\n")
		if want := last[len(last)-1]; !strings.HasSuffix(got, want+"\n") {
			t.Errorf("%s: %q behind the value was lost: %s", c[1], want, got)
		}
	}
}

// The agent reads its .env line by line: a quote that is never closed is no place to
// hide a hook in.
func TestAnOpenQuoteHidesNoSetting(t *testing.T) {
	got := keptOf(t, SectionRunners, "/opt/a/.env", "A=\"\nnoise\nACTIONS_RUNNER_HOOK_JOB_STARTED=/tmp/h.sh\nLD_PRELOAD=/tmp/x.so\n")
	if !strings.Contains(got, "\nACTIONS_RUNNER_HOOK_JOB_STARTED=/tmp/h.sh\nLD_PRELOAD=/tmp/x.so\n") || strings.Contains(got, "noise") {
		t.Errorf("%s", got)
	}
}

// What a runner gives to its jobs is secret by where it stands.
func TestTheVariablesOfAnActRunnerAreHidden(t *testing.T) {
	p := &planted{}
	got := keptOf(t, SectionRunners, "/opt/a/config.yaml", "runner:\n  capacity: 2\n  envs:\n    MY_VALUE: "+p.opaque()+"\n    LD_PRELOAD: /tmp/x.so\n    LONG: >\n      "+p.opaque()+
		"\n  env_file: .env\nother:\n  A_KEY: "+p.opaque()+"\n  envs: {A: "+p.opaque()+",\n    B: "+p.opaque()+"}\n  labels: [x]\n")
	for _, v := range p.values {
		if strings.Contains(got, v) {
			t.Errorf("%s stays in\n%s", v, got)
		}
	}
	for _, keep := range []string{"capacity: 2\n", "LD_PRELOAD: /tmp/x.so\n", "env_file: .env\n", "labels: [x]\n"} {
		if !strings.Contains(got, keep) {
			t.Errorf("%q was lost from\n%s", keep, got)
		}
	}
}
