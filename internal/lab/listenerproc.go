package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"time"

	"cordon/internal/lab/ghrunner"
	"cordon/internal/lab/machine"
	"cordon/internal/lab/runner"
)

// listenerProc is one simulated GitHub listener with the processes around it: what it
// holds shows under /proc and in its directory as long as it lives.
type listenerProc struct {
	*onHost
	with     []int  // what its unit started before it
	root     string // as the host sees it
	diag     string // its log
	out      string // where its terminal goes; "" is the journal, which the tree does not have
	listener *ghrunner.Listener
}

// launch lets it poll until the lab ends, stop is called or it ends by itself.
func (l *listenerProc) launch() {
	ctx, cancel := context.WithCancel(l.host.lab.ctx)
	l.cancel = cancel
	l.host.lab.group.Go(func() error {
		code := l.listener.Run(ctx)
		close(l.done)
		if ctx.Err() == nil {
			l.host.lab.must(l.host.ended(l, code))
		}
		return nil
	})
}

// ended takes a listener that is over off the host.
func (h *host) ended(l *listenerProc, code int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.main == proc(l) {
		h.main = nil
	}
	h.rogue = slices.DeleteFunc(h.rogue, func(p proc) bool { return p == proc(l) })
	h.exits[strconv.Itoa(l.pid)] = code
	h.lab.ledger.Effect("host.exit", "lab", h.target(l.root), fmt.Sprintf("pid %d code %d", l.pid, code))
	return l.clear(l.with...)
}

func (l *listenerProc) mainPID() int {
	if len(l.with) > 0 {
		return l.with[0]
	}
	return l.pid
}

func (l *listenerProc) state() runner.State { return runner.State(l.listener.State()) }

func (l *listenerProc) stop() error {
	l.cancel()
	<-l.done
	return l.clear(l.with...)
}

// Log implements ghrunner.Host.
func (l *listenerProc) Log(line string) { l.host.lab.must(l.host.m.Log(l.diag, []byte(line))) }

// Say implements ghrunner.Host.
func (l *listenerProc) Say(line string) {
	if l.out != "" {
		l.host.lab.must(l.host.m.Log(l.out, []byte(line)))
	}
}

// JobStarted implements ghrunner.Host: the worker, a step with the job's variables
// around it, and what they leave in the work directory.
func (l *listenerProc) JobStarted(j ghrunner.Job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h, now := l.host, l.host.lab.clock.Now()
	h.lab.must(h.worked(l.root, j, now))
	env := []string{
		"CI=true", "GITHUB_ACTIONS=true", "GITHUB_REPOSITORY=" + j.Repository, "GITHUB_RUN_ID=" + j.RunID, "GITHUB_JOB=" + j.Name, "GITHUB_REF=" + j.Ref,
		"GITHUB_SHA=" + j.SHA, "GITHUB_ACTOR=" + j.Actor, "GITHUB_EVENT_NAME=" + j.Event, "GITHUB_WORKFLOW=" + j.Workflow, "GITHUB_SERVER_URL=" + j.ServerURL,
		"RUNNER_TRACKING_ID=github_" + j.ID, "GITHUB_TOKEN=" + j.Token,
	}
	for _, name := range sorted(j.Secrets) {
		env = append(env, name+"="+j.Secrets[name])
	}
	worker := machine.Process{
		PID: h.m.NextPID(), PPID: l.pid, UID: h.uid, Comm: "Runner.Worker", Exe: l.root + "/bin/Runner.Worker", Cwd: l.root, Started: now,
		Args: []string{l.root + "/bin/Runner.Worker", "spawnclient", "100", "103"}, Cgroup: "/system.slice/" + h.spec.Unit,
	}
	h.lab.must(h.m.Spawn(worker))
	step := worker
	step.PID, step.PPID, step.Comm, step.Exe, step.Env = h.m.NextPID(), worker.PID, "bash", "/usr/bin/bash", env
	step.Cwd = path.Join(l.root, "_work", path.Base(j.Repository), path.Base(j.Repository))
	step.Args = []string{"/usr/bin/bash", "-e", l.root + "/_work/_temp/" + j.ID + ".sh"}
	h.lab.plant(fmt.Sprintf("%s:/proc/%d/environ", h.spec.Name, step.PID), env)
	h.lab.must(h.m.Spawn(step))
	l.jobs[j.ID] = []int{worker.PID, step.PID}
}

// JobLog implements ghrunner.Host.
func (l *listenerProc) JobLog(j ghrunner.Job, line string) {
	l.host.lab.must(l.host.m.Log(path.Join(l.root, "_diag", ghrunner.LogName("Worker", j.Began)), []byte(line)))
}

// JobEnded implements ghrunner.Host.
func (l *listenerProc) JobEnded(j ghrunner.Job) { l.jobEnded(j.ID) }

// worked leaves a job's traces: the worker's log and the mapping of its repository.
func (h *host) worked(root string, j ghrunner.Job, at time.Time) error {
	for _, line := range ghrunner.WorkerLog(j, at) {
		if err := h.m.Log(path.Join(root, "_diag", ghrunner.LogName("Worker", at)), []byte(line)); err != nil {
			return err
		}
	}
	return h.mapped(root, j.Repository, at)
}

// mapped writes when the runner last worked for a repository.
func (h *host) mapped(root, repo string, at time.Time) error {
	b, err := json.MarshalIndent(ghrunner.Mapping(repo, at), "", "  ")
	if err != nil {
		return err
	}
	return h.m.Put(path.Join(root, "_work/_PipelineMapping", repo, "PipelineFolder.json"), "\ufeff"+string(b), 0o644, at)
}
