package lab

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
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
	var children []string
	s.until("the job's process", func() bool {
		children = childrenOf(s, "build-07", "1204")
		return len(children) == 1
	})
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
		"scenario":     {Options{Dir: filepath.Join(dir, "x"), Scenario: "nope"}, "choose one of github-owned, runner-owned"},
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
	names, err := FaultsOf("")
	if len(e) != len(want) || len(names) != len(want) || err != nil {
		t.Errorf("%d endings, faults %v, %v", len(e), names, err)
	}
	for k, v := range want {
		if e[k] != v {
			t.Errorf("%s: %+v, want %+v", k, e[k], v)
		}
	}
}
