package host

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
)

// tell makes the three observations of one watch snapshot, and one more for each
// agent that is not the configured unit's: it says nothing about this runner, but
// nobody should leave the host without knowing of it.
func tell(o witness.Observation, s *snapshot.Snapshot, unit string) []witness.Observation {
	b := belonging{unit: unit, agent: snapshot.AgentOf(unit), root: rootOf(s, unit)}
	own, others := b.split(Agents(s))
	all := []witness.Observation{b.working(processes(o, s, own, len(others)), s), sockets(o, s, own, len(others)), logged(o, s, b)}
	for _, p := range others {
		x := o
		x.Source, x.Exists = witness.HostProcess, witness.Yes
		x.Subject = target.Ref{
			System: target.SSH, Scope: target.Scope{Level: target.Host, Path: o.Subject.ID}, Kind: target.Installation,
			ID: fmt.Sprintf("%s-%d", executable(p), p.PID),
		}
		x.Says = fmt.Sprintf("another runner agent runs on %s: %s as process %d", o.Subject.ID, executable(p), p.PID)
		if r := listenerRoot(p); r != "" {
			x.Says += ", from " + untrusted.Clean(r, 120)
		}
		all = append(all, x)
	}
	return all
}

// belonging is what tells the configured unit's agent from others on the host. All of
// it is empty where no unit is configured, and agent where its name does not tell.
type belonging struct{ unit, agent, root string }

// rootOf is the directory of the runner that a unit starts, as its file says.
func rootOf(s *snapshot.Snapshot, unit string) string {
	starts, _ := s.Fact("starts")
	for line := range strings.SplitSeq(starts, "\n") {
		if name, root, ok := strings.Cut(line, " "); ok && unit != "" && name == unit {
			return path.Clean(root)
		}
	}
	return ""
}

// split tells the agents that the unit could have started from the others. With a
// unit of an unknown name every agent counts as its own: better one too many.
func (b belonging) split(agents []snapshot.Process) (own, others []snapshot.Process) {
	for _, p := range agents {
		if b.agent == "" || kindOf(p) == b.agent && b.starts(p) {
			own = append(own, p)
		} else {
			others = append(others, p)
		}
	}
	return own, others
}

// starts reports whether an agent of the unit's kind may be the unit's: by its root
// where that is known, else unless it runs in another service or in a person's session.
func (b belonging) starts(p snapshot.Process) bool {
	if r := listenerRoot(p); r != "" && b.root != "" {
		return r == b.root
	}
	if b.agent == "gitlab-runner" {
		return true // one process serves all that is registered, and a second one is a second chance for them
	}
	group := path.Base(string(p.Cgroup))
	switch {
	case group == b.unit:
		return true
	case strings.HasSuffix(group, ".service") && !strings.HasPrefix(group, "user@"):
		return false
	}
	return !strings.HasSuffix(group, ".scope") || group == "init.scope"
}

var listenerPath = regexp.MustCompile(`^(/.*)/bin(?:\.[0-9][0-9.]*)?/(?:Runner|Agent)\.Listener$`)

// listenerRoot is the root that the path of a listener's executable names, "" for
// other agents.
func listenerRoot(p snapshot.Process) string {
	m := listenerPath.FindStringSubmatch(strings.TrimSuffix(string(p.Exe), " (deleted)"))
	if m == nil {
		return ""
	}
	return path.Clean(m[1])
}

// working adds whether a job runs: GitHub and Azure Pipelines start one worker for
// each, which may outlive its listener. Of other agents the table does not tell.
func (b belonging) working(o witness.Observation, s *snapshot.Snapshot) witness.Observation {
	if b.agent != "Runner.Listener" && b.agent != "Agent.Listener" || o.CouldNot != "" {
		return o
	}
	for _, p := range s.Processes {
		exe := strings.TrimSuffix(string(p.Exe), " (deleted)")
		base := path.Base(exe)
		if exe == "" {
			base = string(p.Comm)
		}
		if base != "Runner.Worker" && base != "Agent.Worker" || b.root != "" && exe != "" && !strings.HasPrefix(exe, b.root+"/") {
			continue
		}
		o.Busy = witness.Yes
		o.Says += fmt.Sprintf("; a job runs: %s as process %d", base, p.PID)
		return o
	}
	if s.Seen(snapshot.SectionProc) {
		o.Busy = witness.No
	}
	return o
}

// executable is the name under which a process counts as an agent, "" if it does not.
func executable(p snapshot.Process) string {
	names := []string{path.Base(strings.TrimSuffix(string(p.Exe), " (deleted)")), string(p.Comm)}
	if len(p.Args) > 0 {
		names = append(names, path.Base(string(p.Args[0])))
	}
	for _, n := range names {
		if _, ok := agentNames[n]; ok {
			return n
		}
	}
	if names[0] == "java" || names[1] == "java" {
		for _, a := range p.Args {
			if jenkinsArchive.MatchString(string(a)) {
				return "java"
			}
		}
	}
	return ""
}

// kindOf is executable in the words of snapshot.AgentOf.
func kindOf(p snapshot.Process) string {
	name := executable(p)
	if k := agentNames[name]; k != "" {
		return k
	}
	return name
}

// agentNames are the executables of runner agents (facts/host.md §1), and the kind of
// those that have several names.
var agentNames = map[string]string{
	"gitlab-runner": "", "gitlab-ci-multi-runner": "gitlab-runner", "Runner.Listener": "", "Agent.Listener": "",
	"act_runner": "", "act-runner": "act_runner", "forgejo-runner": "act_runner", "gitea-runner": "act_runner", "buildkite-agent": "",
}

var jenkinsArchive = regexp.MustCompile(`(^|/)(remoting|slave|swarm-client)[^/]*\.jar$|(^|/)agent\.jar$|^hudson\.remoting\.`)

// agentCommands are their first words that poll; another one registers or lists.
var agentCommands = map[string]bool{"run": true, "run-single": true, "daemon": true, "one-job": true, "start": true}

// Agents returns the processes that are runner agents: by the executable's name, the
// process's own or its first argument, and running the command that polls.
func Agents(s *snapshot.Snapshot) []snapshot.Process {
	var out []snapshot.Process
	for _, p := range s.Processes {
		name := executable(p)
		if name == "" {
			continue
		}
		if name != "java" && len(p.Args) > 1 && !strings.HasPrefix(string(p.Args[1]), "-") && !agentCommands[string(p.Args[1])] {
			continue
		}
		out = append(out, p)
	}
	return out
}
