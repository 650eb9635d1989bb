package lab

import (
	"context"
	"fmt"
	"strconv"

	"cordon/internal/lab/machine"
	"cordon/internal/lab/runner"
)

// agentLog is where the agents of a host write; the collector reads it there.
const agentLog = "/var/log/gitlab-runner.log"

// agentProc is one simulated gitlab-runner process on a host: what it holds shows
// under /proc as long as it lives.
type agentProc struct {
	*onHost
	agent *runner.Agent
}

// start makes the process and lets it poll until the lab ends or stop is called.
func (h *host) start(p machine.Process, c runner.Config) (*agentProc, error) {
	p.Started = h.lab.clock.Now()
	if err := h.m.Spawn(p); err != nil {
		return nil, err
	}
	a := &agentProc{onHost: h.holding(p.PID)}
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

func (a *agentProc) mainPID() int { return a.pid }

func (a *agentProc) state() runner.State { return a.agent.State() }

// stop ends the process and takes it off the host.
func (a *agentProc) stop() error {
	a.cancel()
	<-a.done
	return a.clear()
}

// Log implements runner.Host.
func (a *agentProc) Log(line []byte) { a.host.lab.must(a.host.m.Log(agentLog, line)) }

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
	a.jobs[strconv.Itoa(id)] = []int{p.PID}
}

// JobEnded implements runner.Host.
func (a *agentProc) JobEnded(id int) { a.jobEnded(strconv.Itoa(id)) }
