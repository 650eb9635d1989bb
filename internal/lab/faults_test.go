package lab

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// refuse does what makes an agent's token worthless.
func (s *served) refuse() {
	s.t.Helper()
	if c := s.ask("act", "POST", "/runners/42/reset_authentication_token", nil, nil); c != 201 {
		s.t.Fatalf("reset: %d", c)
	}
}

func (s *served) has(effect string) bool {
	return slices.ContainsFunc(s.effects(), func(e string) bool { return strings.HasPrefix(e, effect) })
}

// Without a fault a refused agent knocks three times, says so, and is silent.
func TestNoFault(t *testing.T) {
	s := serve(t, Options{})
	s.refuse()
	log := func() string { return s.read("build-07", "var/log/gitlab-runner.log") }
	s.until("the agent to go silent", func() bool { return strings.Contains(log(), "is unhealthy and will be disabled for 1h0m0s seconds!") })
	if n := strings.Count(log(), "Checking for jobs... forbidden"); n != 3 {
		t.Errorf("%d refusals", n)
	}
	s.stopUnit("build-07")
	if s.has("host.respawn") || s.has("runner.register") {
		t.Errorf("something came back: %v", s.effects())
	}
}

// The agent survives its stop under another process id and knocks without pause.
func TestKeepsPolling(t *testing.T) {
	s := serve(t, Options{Fault: "keeps-polling"})
	s.refuse()
	s.stopUnit("build-07")
	h := s.state().Hosts["build-07"]
	pids := slices.Collect(maps.Keys(h.Agents))
	if h.Active || h.Enabled || len(pids) != 1 || pids[0] == "1204" {
		t.Fatalf("state: %+v", h)
	}
	if stat := s.read("build-07", "proc/"+pids[0]+"/stat"); !strings.Contains(stat, "(gitlab-runner)") {
		t.Errorf("process: %s", stat)
	}
	s.until("ten refusals", func() bool {
		a := s.state().Hosts["build-07"].Agents[pids[0]]
		return a.Polls > 15 && a.Last == 403 && !a.Unhealthy
	})
	if out, _ := s.run("build-07", collector, "P=watch"); strings.Count(out, "Checking for jobs... forbidden") < 10 {
		t.Errorf("the collector does not see it knock:\n%s", out)
	}
	if !s.has("host.respawn") {
		t.Error("not in the ledger")
	}
}

// Once its token is refused, the machine comes back under another registration.
func TestResurrects(t *testing.T) {
	s := serve(t, Options{Fault: "resurrects"})
	s.refuse()
	s.stopUnit("build-07")
	if c := s.ask("act", "DELETE", "/runners/42", nil, nil); c != 204 {
		t.Fatalf("delete: %d", c)
	}
	type manager struct {
		SystemID string `json:"system_id"`
		IP       string `json:"ip_address"`
	}
	var m []manager
	s.until("a new registration that polls", func() bool {
		if s.ask("look", "GET", "/runners/60/managers", nil, nil) != 200 {
			return false
		}
		s.ask("look", "GET", "/runners/60/managers", nil, &m)
		return len(m) == 1
	})
	if m[0].SystemID != "s_5b1c7a90e3d4" || m[0].IP != "127.0.0.11" {
		t.Errorf("manager: %+v", m)
	}
	s.until("accepted polls", func() bool {
		for _, a := range s.state().Hosts["build-07"].Agents {
			if a.Polls > 3 && a.Last/100 == 2 {
				return true
			}
		}
		return false
	})
	if c := s.ask("look", "GET", "/runners/42", nil, nil); c != 404 {
		t.Errorf("the old registration: %d", c)
	}
}

// The reset happens and its answer is lost, once.
func TestLosesReset(t *testing.T) {
	s := serve(t, Options{Fault: "loses-reset"})
	if c := s.ask("act", "POST", "/runners/42/reset_authentication_token", nil, nil); c != 502 {
		t.Errorf("first reset: %d", c)
	}
	if !s.has("runner.reset runner/42") {
		t.Error("the lost reset had no effect")
	}
	s.until("the old token to be refused", func() bool { return s.state().Hosts["build-07"].Agents["1204"].Last == 403 })
}

func TestAlways422(t *testing.T) {
	s := serve(t, Options{Fault: "always-422"})
	for range 3 {
		if c := s.ask("act", "DELETE", "/runners/42", nil, nil); c != 422 {
			t.Errorf("delete: %d", c)
		}
	}
	if c := s.ask("look", "GET", "/runners/42", nil, nil); c != 200 || s.has("runner.delete") {
		t.Errorf("after three refusals: %d, %v", c, s.effects())
	}
}

// Nobody listens at the compromised host's address; the other host is there. Taken
// off again, the host is back at its address and knows its key.
func TestHostGone(t *testing.T) {
	s := serve(t, Options{Fault: "host-gone"})
	s.until("the host to be gone", func() bool {
		c, err := s.dial("build-07")
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	if _, exit := s.run("build-08", collector, "P=watch"); exit != 0 {
		t.Errorf("build-08: exit %d", exit)
	}
	if !s.state().Hosts["build-07"].Active {
		t.Error("the agent is gone too")
	}
	s.fault("none")
	s.until("the host to be back", func() bool {
		c, err := s.dial("build-07")
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	c, err := s.dial("build-07")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s.fault("host-gone")
	if err := c.Wait(); err == nil {
		t.Error("an open connection ended well")
	}
}

func TestEmptyEvidence(t *testing.T) {
	s := serve(t, Options{Fault: "empty-evidence"})
	if out, exit := s.run("build-07", collector, "P=triage"); out != "" || exit != 0 {
		t.Errorf("exit %d, %q", exit, out)
	}
	s.stopUnit("build-07")
}

// Faults can be changed while the lab runs; an unknown one is refused and changes nothing.
func TestFaultIsSwitched(t *testing.T) {
	s := serve(t, Options{})
	if c := s.fault("always-422"); c != 200 || s.state().Fault != "always-422" {
		t.Errorf("%d, %s", c, s.state().Fault)
	}
	if c := s.ask("", "POST", s.Control+"/fault", map[string]string{"fault": "nope"}, nil); c != 400 || s.state().Fault != "always-422" {
		t.Errorf("%d, %s", c, s.state().Fault)
	}
	s.fault("none")
	if c := s.ask("act", "DELETE", "/runners/42", nil, nil); c != 204 {
		t.Errorf("delete: %d", c)
	}
}
