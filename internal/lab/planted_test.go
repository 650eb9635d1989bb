package lab

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every planted secret really stands where the list says, and nowhere in the lab's
// own ledger, configuration or ready line.
func TestPlantedSecretsAreThere(t *testing.T) {
	s := serve(t, Options{})
	s.until("the job", func() bool { return s.state().Hosts["build-07"].Agents["1204"].Jobs == 1 })
	s.secretsAreThere("build-", "job/8951-token")
}

// The same in the lab's GitHub, with the rogue's key and the tokens of the App's world.
func TestPlantedSecretsOfGitHubAreThere(t *testing.T) {
	t.Parallel()
	s := serveGitHub(t, Options{Fault: "rogue"})
	s.until("the job", func() bool { return s.state().Hosts["gha-01"].Agents["1213"].Jobs == 1 })
	s.secretsAreThere("gha-", "repository:acme/shop/job/50070-token")
}

// secretsAreThere looks for each secret of the list where it says, on hosts whose names
// begin so; of the running job its token has to be among them.
func (s *served) secretsAreThere(hosts, job string) {
	t := s.t
	t.Helper()
	var list []struct{ Name, Value, Where string }
	b, err := os.ReadFile(s.Planted)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	if len(list) < 20 {
		t.Errorf("only %d secrets", len(list))
	}
	onHosts, ofJob := 0, ""
	for _, p := range list {
		if p.Name == job {
			ofJob = p.Where
		}
		for _, where := range strings.Split(p.Where, ", ") {
			host, path, _ := strings.Cut(where, ":")
			if !strings.HasPrefix(host, hosts) {
				continue
			}
			onHosts++
			if !strings.Contains(s.read(host, path), p.Value) {
				t.Errorf("%s is not at %s", p.Name, where)
			}
		}
		for _, f := range []string{s.Ledger, s.Config, filepath.Join(filepath.Dir(s.Config), "lab.json"), s.KnownHosts} {
			if text, err := os.ReadFile(f); err != nil || bytes.Contains(text, []byte(p.Value)) {
				t.Errorf("%s is in %s (%v)", p.Name, filepath.Base(f), err)
			}
		}
	}
	if !strings.Contains(ofJob, ":/proc/") {
		t.Errorf("the running job's token is listed at %q", ofJob)
	}
	if onHosts < 12 {
		t.Errorf("only %d places on hosts", onHosts)
	}
}

// The whole tree's payloads are inert: no address outside loopback, TEST-NET and
// invalid names, and nothing executable that does anything.
func TestPayloadsAreInert(t *testing.T) {
	for _, o := range []Options{{}, {Scenario: "github-owned", Fault: "rogue"}} {
		serve(t, o).payloadsAreInert()
	}
}

func (s *served) payloadsAreInert() {
	t := s.t
	t.Helper()
	address := regexp.MustCompile(`\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b`)
	allowed := regexp.MustCompile(`^(127\.|192\.0\.2\.|203\.0\.113\.|0\.0\.0\.0)`)
	for _, h := range s.Hosts {
		root := s.tree(h, "")
		err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || strings.HasPrefix(p, filepath.Join(root, "proc")) {
				return err
			}
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			for _, a := range address.FindAllString(string(b), -1) {
				if !allowed.MatchString(a) {
					t.Errorf("%s names %s", p, a)
				}
			}
			if st, err := d.Info(); err == nil && st.Mode()&0o111 != 0 && bytes.HasPrefix(b, []byte("#!")) {
				if body := strings.TrimSpace(string(b)); body != "#!/bin/true" && body != "#!/bin/sh\n/bin/true" {
					t.Errorf("%s would do something: %q", p, body)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
