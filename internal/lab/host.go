package lab

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"sync"

	"cordon/internal/lab/fault"
	"cordon/internal/lab/machine"
	"cordon/internal/lab/runner"
)

// proc is a simulated agent as a process of a host.
type proc interface {
	number() int  // of the process that polls
	mainPID() int // that its unit started
	stop() error
	state() runner.State
}

// host is one simulated machine: its tree, the unit that runs its agent, and the
// processes that faults bring up beside it.
type host struct {
	lab   *lab
	spec  hostSpec
	m     *machine.Machine
	uid   int // of the account that runs jobs
	token string

	mu    sync.Mutex
	main  proc // nil while the unit is stopped
	rogue []proc
	exits map[string]int
}

// config is the agent of a gitlab-runner's unit.
func (h *host) config() runner.Config {
	return runner.Config{
		URL: h.lab.url, Token: h.token, SystemID: h.spec.Agent.SystemID, Name: h.spec.Agent.Name,
		From: netip.MustParseAddr(h.spec.Address), Builds: h.spec.Agent.Builds, Clock: h.lab.clock,
	}
}

func (h *host) process(pid int) machine.Process {
	return machine.Process{
		PID: pid, PPID: 1, Comm: "gitlab-runner", Exe: "/usr/bin/gitlab-runner", Cwd: "/home/gitlab-runner",
		Args: []string{
			"/usr/bin/gitlab-runner", "run", "--config", "/etc/gitlab-runner/config.toml", "--working-directory",
			"/home/gitlab-runner", "--service", "gitlab-runner", "--user", "gitlab-runner",
		},
		Env:    []string{"LANG=C.UTF-8", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin"},
		Cgroup: "/system.slice/" + h.spec.Unit,
	}
}

// boot starts the unit as it is when the lab begins; that is no effect.
func (h *host) boot() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.spec.Listener != nil {
		return h.run(h.spec.Listener.PID)
	}
	return h.run(h.spec.Agent.PID)
}

func (h *host) run(pid int) error {
	var p proc
	var err error
	if h.spec.Listener != nil {
		p, err = h.listen(*h.spec.Listener, pid, inUnit)
	} else {
		p, err = h.start(h.process(pid), h.config())
	}
	if err != nil {
		return fmt.Errorf("start the agent of %s: %w", h.spec.Name, err)
	}
	h.main = p
	return nil
}

// Status implements sshd.Unit.
func (h *host) Status(unit string) (active, enabled string, mainPID int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.m.HasUnit(unit) {
		return "inactive", "not-found", 0
	}
	active, enabled = "inactive", "disabled"
	if h.m.Enabled(unit) {
		enabled = "enabled"
	}
	if unit == h.spec.Unit && h.main != nil {
		active, mainPID = "active", h.main.mainPID()
	}
	return active, enabled, mainPID
}

// Stop implements sshd.Unit: disable --now. Each part counts once, when it changed
// something.
func (h *host) Stop(unit string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	changed, err := h.m.SetEnabled(unit, false)
	if err != nil {
		return err
	}
	if changed {
		h.lab.ledger.Effect("host.disable", "ssh", h.target(unit), "")
	}
	if unit != h.spec.Unit || h.main == nil {
		return nil
	}
	if err := h.main.stop(); err != nil {
		return err
	}
	h.main = nil
	h.lab.ledger.Effect("host.stop", "ssh", h.target(unit), "")
	if h.spec.Name == h.lab.scenario.Target.Host && (h.lab.faults.Is(fault.KeepsPolling) || h.lab.faults.Is(fault.OldListener) || h.lab.faults.Is(fault.NewListener)) {
		return h.respawn()
	}
	return nil
}

// Start implements sshd.Unit: enable --now.
func (h *host) Start(unit string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	changed, err := h.m.SetEnabled(unit, true)
	if err != nil {
		return err
	}
	if changed {
		h.lab.ledger.Effect("host.enable", "ssh", h.target(unit), "")
	}
	if unit != h.spec.Unit || h.main != nil {
		return nil
	}
	if err := h.run(h.m.NextPID()); err != nil {
		return err
	}
	h.lab.ledger.Effect("host.start", "ssh", h.target(unit), "")
	return nil
}

// kill is what a person does on the host by hand: an agent outside its unit is ended.
// cordon has no such act.
func (h *host) kill(pid int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, p := range h.rogue {
		if p.number() != pid {
			continue
		}
		if err := p.stop(); err != nil {
			return err
		}
		h.rogue = slices.Delete(h.rogue, i, i+1)
		h.lab.ledger.Effect("host.kill", "person", h.target(strconv.Itoa(pid)), "")
		return nil
	}
	return fmt.Errorf("no agent outside its unit has the process id %d on %s", pid, h.spec.Name)
}

func (h *host) target(unit string) string { return "host/" + h.spec.Name + "/" + unit }

// HostState is what a test may want to know of a host.
type HostState struct {
	Active  bool                    `json:"active"` // the unit runs
	Enabled bool                    `json:"enabled"`
	Agents  map[string]runner.State `json:"agents"`          // by PID
	Exits   map[string]int          `json:"exits,omitempty"` // codes of those that ended by themselves, by PID
}

func (h *host) state() HostState {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := HostState{Active: h.main != nil, Enabled: h.m.Enabled(h.spec.Unit), Agents: map[string]runner.State{}, Exits: map[string]int{}}
	for _, p := range append([]proc{h.main}, h.rogue...) {
		if p != nil {
			s.Agents[strconv.Itoa(p.number())] = p.state()
		}
	}
	for pid, code := range h.exits {
		s.Exits[pid] = code
	}
	return s
}
