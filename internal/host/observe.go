package host

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"cordon/internal/evidence"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
)

// Observe implements providers.System: one read with the watch profile, told as
// process table, sockets and log. All three are one witness, the host's own. What
// was not wholly seen stays Unknown.
func (h *Hosts) Observe(ctx context.Context, t target.Ref) ([]witness.Observation, error) {
	x, err := h.find(t)
	if err != nil && !errors.Is(err, ErrBadConfig) {
		return nil, err
	}
	o := witness.Observation{Subject: t, Source: witness.HostProcess, At: h.o.Clock.Now()}
	var s *snapshot.Snapshot
	if err == nil {
		s, err = h.Read(ctx, x.Name, snapshot.ProfileWatch)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if s != nil {
		if to := evidence.SinkFrom(ctx); to != nil {
			digest, kerr := keep(ctx, to, s, watchName(x.Name, o.At))
			if kerr != nil {
				return nil, kerr
			}
			o.Evidence = []string{digest}
		}
	}
	if err != nil {
		o.CouldNot = untrusted.Clean(err.Error(), 500)
		o.Says = "host could not be read: " + o.CouldNot
		return []witness.Observation{o}, nil
	}
	return tell(o, s, x.Unit), nil
}

// tell makes the three observations of one watch snapshot, and one more for each
// agent of another kind than the configured unit's: it says nothing about this
// runner, but nobody should leave the host without knowing of it.
func tell(o witness.Observation, s *snapshot.Snapshot, unit string) []witness.Observation {
	own, others := split(Agents(s), unit)
	all := []witness.Observation{processes(o, s, own), sockets(o, s, own), logged(o, s)}
	for _, p := range others {
		x := o
		x.Source, x.Exists = witness.HostProcess, witness.Yes
		x.Subject = target.Ref{
			System: target.SSH, Scope: target.Scope{Level: target.Host, Path: o.Subject.ID}, Kind: target.Installation,
			ID: fmt.Sprintf("%s-%d", executable(p), p.PID),
		}
		x.Says = fmt.Sprintf("another runner agent runs on %s: %s as process %d", o.Subject.ID, executable(p), p.PID)
		all = append(all, x)
	}
	return all
}

// unitAgents are the agents by how their units are named (facts/host.md §1).
var unitAgents = []struct{ prefix, agent string }{
	{"gitlab-runner", "gitlab-runner"},
	{"actions.runner.", "Runner.Listener"},
	{"buildkite-agent", "buildkite-agent"},
	{"vsts.agent.", "Agent.Listener"},
}

// split tells the agents that the unit could have started from the others. With a
// unit of an unknown name every agent counts as its own: better one too many.
func split(agents []snapshot.Process, unit string) (own, others []snapshot.Process) {
	for _, u := range unitAgents {
		if !strings.HasPrefix(unit, u.prefix) {
			continue
		}
		for _, p := range agents {
			if executable(p) == u.agent {
				own = append(own, p)
			} else {
				others = append(others, p)
			}
		}
		return own, others
	}
	return agents, nil
}

// executable is the name under which a process counts as an agent, "" if it does not.
func executable(p snapshot.Process) string {
	names := []string{path.Base(strings.TrimSuffix(string(p.Exe), " (deleted)")), string(p.Comm)}
	if len(p.Args) > 0 {
		names = append(names, path.Base(string(p.Args[0])))
	}
	for _, n := range names {
		if agentNames[n] {
			return n
		}
	}
	return ""
}

// agentNames are the executables of runner agents (facts/host.md §1).
var agentNames = map[string]bool{
	"gitlab-runner": true, "Runner.Listener": true, "act_runner": true, "forgejo-runner": true, "gitea-runner": true,
	"buildkite-agent": true, "Agent.Listener": true,
}

// agentCommands are their first words that poll; another one registers or lists.
var agentCommands = map[string]bool{"run": true, "run-single": true, "daemon": true, "start": true}

// Agents returns the processes that are runner agents: by the executable's name, the
// process's own or its first argument, and running the command that polls.
func Agents(s *snapshot.Snapshot) []snapshot.Process {
	var out []snapshot.Process
	for _, p := range s.Processes {
		if executable(p) == "" {
			continue
		}
		if len(p.Args) > 1 && !strings.HasPrefix(string(p.Args[1]), "-") && !agentCommands[string(p.Args[1])] {
			continue
		}
		out = append(out, p)
	}
	return out
}

func processes(o witness.Observation, s *snapshot.Snapshot, agents []snapshot.Process) witness.Observation {
	o.Source = witness.HostProcess
	switch {
	case len(agents) > 0:
		o.Exists = witness.Yes
		o.Says = fmt.Sprintf("%s runs as process %d", agents[0].Comm, agents[0].PID)
		if len(agents) > 1 {
			o.Says += fmt.Sprintf(" (and %d more)", len(agents)-1)
		}
	case s.Seen(snapshot.SectionProc):
		o.Exists = witness.No
		o.Says = fmt.Sprintf("no runner agent among %d processes", len(s.Processes))
	default:
		o.CouldNot = unseen(s, snapshot.SectionProc)
		o.Says = "processes: " + o.CouldNot
	}
	return o
}

func sockets(o witness.Observation, s *snapshot.Snapshot, agents []snapshot.Process) witness.Observation {
	o.Source = witness.HostSocket
	is := map[int]bool{}
	for _, p := range agents {
		is[p.PID] = true
	}
	for _, k := range s.Sockets {
		if k.PID != 0 && is[k.PID] && k.State == "ESTABLISHED" {
			o.Polling = witness.Yes
			o.Says = fmt.Sprintf("process %d is connected to %s", k.PID, k.Remote)
			return o
		}
	}
	need := []string{snapshot.SectionNet, snapshot.SectionProc}
	if len(agents) > 0 {
		need = append(need, snapshot.SectionDetail) // whose a socket is
	}
	for _, sec := range need {
		if !s.Seen(sec) {
			o.CouldNot = unseen(s, sec)
			o.Says = "sockets: " + o.CouldNot
			return o
		}
	}
	o.Polling = witness.No
	o.Says = fmt.Sprintf("no connection of a runner agent among %d sockets", len(s.Sockets))
	return o
}

// logged finds the last contact in the agent's log, by the host's clock. The wording
// is gitlab-runner's (recorded: api/agent-logs).
func logged(o witness.Observation, s *snapshot.Snapshot) witness.Observation {
	o.Source = witness.HostLog
	if !s.Seen(snapshot.SectionLog) {
		o.CouldNot = unseen(s, snapshot.SectionLog)
		o.Says = "log: " + o.CouldNot
		return o
	}
	o.Says = fmt.Sprintf("no contact in %d lines of the agent's log", len(s.Log))
	for i := len(s.Log) - 1; i >= 0; i-- {
		text := string(s.Log[i].Text)
		refused, answered := contact(text)
		if !refused && !answered {
			continue
		}
		o.LastContact, o.Clock = s.Log[i].At, witness.ClockEvent
		if o.LastContact.IsZero() {
			o.Clock = witness.ClockNone
		}
		said := untrusted.Clean(text, 160)
		switch at := o.LastContact.UTC().Format(time.RFC3339); {
		case refused:
			o.Rejected = witness.Yes
			o.Says = "refused, by the agent's log, at " + at + ": " + said
		default:
			o.Polling, o.Rejected = witness.Yes, witness.No
			o.Says = "no contact in the agent's log after " + at + ": " + said
		}
		if o.LastContact.IsZero() {
			o.Says = "last contact in the agent's log, at a time that is not known: " + said
		}
		return o
	}
	return o
}

// contact reads one line: was the agent refused, or answered? 204s are not logged.
func contact(text string) (refused, answered bool) {
	switch {
	case strings.Contains(text, "Checking for jobs"):
		if strings.Contains(text, "forbidden") || strings.Contains(text, "403 Forbidden") || strings.Contains(text, "401 Unauthorized") {
			return true, false
		}
		return false, strings.Contains(text, "received")
	case strings.Contains(text, "Submitting job to coordinator"), strings.Contains(text, "Appending trace to coordinator"):
		return strings.Contains(text, "403"), strings.Contains(text, "ok")
	}
	return false, false
}

// unseen says why a section cannot be relied on.
func unseen(s *snapshot.Snapshot, name string) string {
	sec := s.Section(name)
	if sec.End == snapshot.EndOK {
		return "the host's answer was not complete"
	}
	return strings.TrimSpace(sec.End + " " + sec.Why)
}
