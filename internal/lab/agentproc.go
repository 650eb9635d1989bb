package lab

import (
	"context"
	"fmt"
	"net/netip"
	"sync"

	"cordon/internal/lab/machine"
	"cordon/internal/lab/runner"
)

// agentLog is where the agents of a host write; the collector reads it there.
const agentLog = "/var/log/gitlab-runner.log"

// agentProc is one simulated gitlab-runner process on a host: what it holds shows
// under /proc as long as it lives.
type agentProc struct {
	host   *host
	pid    int
	agent  *runner.Agent
	cancel context.CancelFunc
	done   chan struct{}

	mu    sync.Mutex
	conns map[netip.AddrPort]uint64
	jobs  map[int]int // job to pid
	over  bool
}

// start makes the process and lets it poll until the lab ends or stop is called.
func (h *host) start(p machine.Process, c runner.Config) (*agentProc, error) {
	p.Started = h.lab.clock.Now()
	if err := h.m.Spawn(p); err != nil {
		return nil, err
	}
	a := &agentProc{host: h, pid: p.PID, done: make(chan struct{}), conns: map[netip.AddrPort]uint64{}, jobs: map[int]int{}}
	a.agent = runner.New(c, a)
	ctx, cancel := context.WithCancel(h.lab.ctx)
	a.cancel = cancel
	h.lab.group.Go(func() error {
		defer close(a.done)
		a.agent.Run(ctx)
		return nil
	})
	return a, nil
}

func (a *agentProc) number() int { return a.pid }

func (a *agentProc) mainPID() int { return a.pid }

func (a *agentProc) state() runner.State { return a.agent.State() }

// stop ends the process and takes it off the host.
func (a *agentProc) stop() error {
	a.cancel()
	<-a.done
	a.mu.Lock()
	a.over = true
	pids := []int{a.pid}
	for _, pid := range a.jobs {
		pids = append(pids, pid)
	}
	a.mu.Unlock()
	for _, pid := range pids {
		if err := a.host.m.Kill(pid); err != nil {
			return fmt.Errorf("end process %d on %s: %w", pid, a.host.spec.Name, err)
		}
	}
	return nil
}

// Log implements runner.Host.
func (a *agentProc) Log(line []byte) { a.host.lab.must(a.host.m.Log(agentLog, line)) }

// Connected implements runner.Host.
func (a *agentProc) Connected(local, remote netip.AddrPort) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return
	}
	inode, err := a.host.m.Connect(a.pid, local, remote)
	a.host.lab.must(err)
	a.conns[local] = inode
}

// Disconnected implements runner.Host.
func (a *agentProc) Disconnected(local netip.AddrPort) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return
	}
	a.host.lab.must(a.host.m.Disconnect(a.conns[local]))
	delete(a.conns, local)
}

// JobStarted implements runner.Host: the shell executor's login shell, with the job's
// variables around it.
func (a *agentProc) JobStarted(id int, env []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := machine.Process{
		PID: a.host.m.NextPID(), PPID: a.pid, UID: a.host.uid, Comm: "bash", Exe: "/usr/bin/bash",
		Cwd:  fmt.Sprintf("/home/gitlab-runner/builds/job-%d", id),
		Args: []string{"bash", "--login"}, Env: append([]string{"HOME=/home/gitlab-runner", "USER=gitlab-runner"}, env...),
		Cgroup: "/system.slice/" + a.host.spec.Unit, Started: a.host.lab.clock.Now(),
	}
	a.host.lab.plant(fmt.Sprintf("%s:/proc/%d/environ", a.host.spec.Name, p.PID), env)
	a.host.lab.must(a.host.m.Spawn(p))
	a.jobs[id] = p.PID
}

// JobEnded implements runner.Host.
func (a *agentProc) JobEnded(id int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.host.lab.must(a.host.m.Kill(a.jobs[id]))
	delete(a.jobs, id)
}
