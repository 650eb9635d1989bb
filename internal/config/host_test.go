package config

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hostOf is the one host of a configuration with that line.
func hostOf(t *testing.T, line string) Host {
	t.Helper()
	dir := home(t)
	c, err := Load(write(t, filepath.Join(dir, "c", "config.yaml"), "hosts:\n  b7: "+line+"\n", 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return c.Hosts["b7"]
}

// What the file leaves out is asked of OpenSSH, with what the file does say.
func TestWhatAHostLeavesOutIsAskedOfTheSSHConfiguration(t *testing.T) {
	for line, want := range map[string][]string{
		"":                                     {"--", "b7"},
		"{user: ir}":                           {"-l", "ir", "--", "b7"},
		"{address: gw}":                        {"--", "gw"},
		"{address: \"gw:2222\", user: ir}":     {"-p", "2222", "-l", "ir", "--", "gw"},
		"{address: gw, user: ir, key: k}":      nil,
		"{address: gw, user: ir, agent: true}": nil,
		"{local: true}":                        nil,
		"{exec: [docker, exec, -i, c, /bin/sh, -s]}": nil,
	} {
		h := hostOf(t, line)
		if !slices.Equal(h.Ask, want) {
			t.Errorf("%s: asks %v, want %v", line, h.Ask, want)
		}
		if (h.KnownHosts == "") != (want != nil || !h.OverSSH()) {
			t.Errorf("%s: known hosts %q", line, h.KnownHosts)
		}
	}
	if h := hostOf(t, "{address: gw, user: ir, agent: true, key: \"SHA256:"+strings.Repeat("a", 43)+"\"}"); !strings.HasPrefix(h.Key, "SHA256:") {
		t.Errorf("a fingerprint became the path %s", h.Key)
	}
}

func TestAHostHasOneWay(t *testing.T) {
	dir := home(t)
	for line, want := range map[string]string{
		"{local: true, exec: [a]}":        "both exec and local",
		"{local: true, user: ir}":         "belong to SSH",
		"{exec: [a], known_hosts: x}":     "belong to SSH",
		"{exec: [a], sudo: true}":         "sudo with exec",
		"{exec: [\" \"]}":                 "no program",
		"{exec: [a, \"\"]}":               "no program",
		"{exec: \"kubectl exec -i pod\"}": "a list is expected",
		"{key: k, agent: true}":           "both key and agent",
	} {
		_, err := Parse(filepath.Join(dir, "config.yaml"), []byte("hosts:\n  b7: "+line+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}
