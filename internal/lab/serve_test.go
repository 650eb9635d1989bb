package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What the ready line promises is there, private, and works.
func TestReady(t *testing.T) {
	s := serve(t, Options{})
	if s.Schema != "cordon.lab/1" || s.PID != os.Getpid() || s.Scale != 300 || s.Runner != "gitlab-lab/42" || s.Fault != "none" || s.Start.IsZero() {
		t.Errorf("ready: %+v", s.Ready)
	}
	var onDisk Ready
	b, err := os.ReadFile(filepath.Join(filepath.Dir(s.Config), "lab.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &onDisk); err != nil || onDisk.ID != s.ID || !onDisk.Start.Equal(s.Start) {
		t.Errorf("lab.json: %v, %s", err, b)
	}
	for _, name := range []string{"lab.json", "cordon.yaml", "known_hosts", "ssh_key", "look.token", "act.token", "planted.json", "ledger.jsonl"} {
		st, err := os.Stat(filepath.Join(filepath.Dir(s.Config), name))
		if err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, st, err)
		}
	}
	if c := s.ask("look", "GET", "/version", nil, nil); c != 200 {
		t.Errorf("look token: %d", c)
	}
	if c := s.ask("look", "PUT", "/runners/42", map[string]bool{"paused": true}, nil); c != 403 {
		t.Errorf("the look token pauses: %d", c)
	}
	if c := s.ask("act", "PUT", "/runners/42", map[string]bool{"paused": true}, nil); c != 200 {
		t.Errorf("act token: %d", c)
	}
	for _, h := range s.Hosts {
		out, exit := s.run(h, collector, "P=watch")
		if exit != 0 || !strings.Contains(out, "Configuration loaded") {
			t.Errorf("%s: exit %d, %.200s", h, exit, out)
		}
	}
}

// Managers are seen from their host's address and poll in lab time; the job that
// waited is taken and shows on the host.
func TestAgentsPoll(t *testing.T) {
	s := serve(t, Options{})
	type manager struct {
		SystemID  string    `json:"system_id"`
		IP        string    `json:"ip_address"`
		Contacted time.Time `json:"contacted_at"`
	}
	for id, ip := range map[string]string{"42": "127.0.0.11", "43": "127.0.0.12"} {
		var first []manager
		s.until("the first poll", func() bool {
			s.ask("look", "GET", "/runners/"+id+"/managers", nil, &first)
			return len(first) == 1 && first[0].Contacted.After(s.Start)
		})
		if first[0].IP != ip {
			t.Errorf("manager of %s: %+v", id, first)
		}
		s.until("another poll", func() bool {
			var m []manager
			s.ask("look", "GET", "/runners/"+id+"/managers", nil, &m)
			return m[0].Contacted.After(first[0].Contacted)
		})
	}
	var jobs []struct {
		ID     int
		Status string
	}
	s.ask("look", "GET", "/runners/42/jobs?status=running", nil, &jobs)
	if len(jobs) != 1 || jobs[0].ID != 8951 {
		t.Fatalf("running: %+v", jobs)
	}
	children := childrenOf(s, "build-07", "1204")
	if len(children) != 1 {
		t.Fatalf("children of the agent: %v", children)
	}
	if env := s.read("build-07", "proc/"+children[0]+"/environ"); !strings.Contains(env, "CI_JOB_TOKEN=glcbt-64_") {
		t.Error("the job's process has no job token")
	}
}

// childrenOf lists the processes of the tree whose parent is pid.
func childrenOf(s *served, host, pid string) []string {
	var out []string
	list, err := os.ReadDir(s.tree(host, "proc"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range list {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		stat := s.read(host, "proc/"+e.Name()+"/stat")
		if f := strings.Fields(stat[strings.LastIndex(stat, ")")+1:]); f[1] == pid {
			out = append(out, e.Name())
		}
	}
	return out
}

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

// Every planted secret really stands where the list says, and nowhere in the lab's
// own ledger, configuration or ready line.
func TestPlantedSecretsAreThere(t *testing.T) {
	s := serve(t, Options{})
	s.until("the job", func() bool { return s.state().Hosts["build-07"].Agents["1204"].Jobs == 1 })
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
		if p.Name == "job/8951-token" {
			ofJob = p.Where
		}
		for _, where := range strings.Split(p.Where, ", ") {
			host, path, _ := strings.Cut(where, ":")
			if !strings.HasPrefix(host, "build-") {
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
	if !strings.Contains(ofJob, "build-07:/proc/") {
		t.Errorf("the running job's token is listed at %q", ofJob)
	}
	if onHosts < 12 {
		t.Errorf("only %d places on hosts", onHosts)
	}
}

// The whole tree's payloads are inert: no address outside loopback, TEST-NET and
// invalid names, and nothing executable that does anything.
func TestPayloadsAreInert(t *testing.T) {
	s := serve(t, Options{})
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

func TestServeRefuses(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken")
	if err := os.MkdirAll(taken, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(taken, "lab.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		o    Options
		says string
	}{
		"no directory": {Options{}, "no directory given"},
		"odd path":     {Options{Dir: filepath.Join(dir, "a b")}, "letters, digits"},
		"scenario":     {Options{Dir: filepath.Join(dir, "x"), Scenario: "nope"}, "choose one of runner-owned"},
		"fault":        {Options{Dir: filepath.Join(dir, "x"), Fault: "nope"}, "choose one of none, keeps-polling"},
		"taken":        {Options{Dir: taken}, "holds a lab already"},
	} {
		if err := Serve(context.Background(), c.o); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEndings(t *testing.T) {
	e, err := Endings("")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Ending{
		"none": {"contained", 0, ""}, "keeps-polling": {"knocking", 5, ""}, "resurrects": {"resurrected", 5, ""},
		"loses-reset": {"contained", 0, "rotate unknown, settled"}, "always-422": {"refused", 1, ""},
		"host-gone": {"cannot tell", 4, ""}, "empty-evidence": {"cannot tell", 4, ""},
	}
	if len(e) != len(want) || len(Faults()) != len(want) {
		t.Errorf("%d endings, %d faults", len(e), len(Faults()))
	}
	for k, v := range want {
		if e[k] != v {
			t.Errorf("%s: %+v, want %+v", k, e[k], v)
		}
	}
}
