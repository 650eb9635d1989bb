package lab

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A stopped agent looks stopped everywhere at once: no process, no job, no socket, no
// link that starts it, no more log, no more contact at the provider.
func TestStoppedLooksStoppedEverywhere(t *testing.T) {
	s := serve(t, Options{})
	gitlab := regexp.MustCompile(` [0-9A-F]{8}:[0-9A-F]{4} 0100007F:` + hexPort(t, s.GitLab.URL) + ` 01 `)
	s.until("the job", func() bool { return s.state().Hosts["build-07"].Agents["1204"].Jobs == 1 })
	s.until("the connection", func() bool { return gitlab.MatchString(s.read("build-07", "proc/net/tcp")) })
	wants := s.tree("build-07", "etc/systemd/system/multi-user.target.wants/gitlab-runner.service")
	if _, err := os.Lstat(wants); err != nil {
		t.Fatalf("before: %v", err)
	}
	child := childrenOf(s, "build-07", "1204")
	if len(child) != 1 {
		t.Fatalf("before: children %v", child)
	}

	s.stopUnit("build-07")

	for _, pid := range append(child, "1204") {
		if _, err := os.Lstat(s.tree("build-07", "proc/"+pid)); !os.IsNotExist(err) {
			t.Errorf("process %s: %v", pid, err)
		}
	}
	if tcp := s.read("build-07", "proc/net/tcp"); gitlab.MatchString(tcp) {
		t.Errorf("its connection is left:\n%s", tcp)
	}
	if _, err := os.Lstat(wants); !os.IsNotExist(err) {
		t.Errorf("it starts at boot: %v", err)
	}
	if h := s.state().Hosts["build-07"]; h.Active || h.Enabled || len(h.Agents) != 0 {
		t.Errorf("state: %+v", h)
	}
	var job struct{ Status string }
	s.ask("look", "GET", "/projects/11/jobs/8951", nil, &job)
	if job.Status != "failed" {
		t.Errorf("its job is %s", job.Status)
	}
	log := s.read("build-07", "var/log/gitlab-runner.log")
	contact := lastContact(s, "42")
	polls := s.state().Hosts["build-08"].Agents["1311"].Polls
	s.until("the other host to poll ten times", func() bool { return s.state().Hosts["build-08"].Agents["1311"].Polls > polls+10 })
	if s.read("build-07", "var/log/gitlab-runner.log") != log {
		t.Error("its log goes on")
	}
	if c := lastContact(s, "42"); !c.Equal(contact) {
		t.Errorf("heard of at %s, after %s", c, contact)
	}
	s.stopUnit("build-07")
	stops := slices.DeleteFunc(s.effects(), func(e string) bool { return !strings.HasPrefix(e, "host.") })
	if want := []string{"host.disable host/build-07/gitlab-runner.service", "host.stop host/build-07/gitlab-runner.service"}; !slices.Equal(stops, want) {
		t.Errorf("ledger after stopping twice: %v", stops)
	}
	if out, _ := s.run("build-07", starter, "U=gitlab-runner.service"); !strings.Contains(out, "=active\n") {
		t.Errorf("start again:\n%s", out)
	}
	s.until("it to poll again", func() bool { return lastContact(s, "42").After(contact) })
}

func hexPort(t *testing.T, url string) string {
	t.Helper()
	n, err := strconv.Atoi(url[strings.LastIndex(url, ":")+1:])
	if err != nil {
		t.Fatal(err)
	}
	h := strings.ToUpper(strconv.FormatInt(int64(n), 16))
	return strings.Repeat("0", 4-len(h)) + h
}

func lastContact(s *served, id string) time.Time {
	var r struct {
		Contacted time.Time `json:"contacted_at"`
	}
	s.ask("look", "GET", "/runners/"+id, nil, &r)
	return r.Contacted
}
