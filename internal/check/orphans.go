package check

import (
	"regexp"
	"strings"

	"cordon/internal/host/snapshot"
)

func orphansCheck() Check {
	return Check{
		ID:     "orphans",
		Title:  "Processes that outlived their job",
		Why:    "Stopping the agent does not stop what a job left behind: it keeps the job's secrets and the network.",
		Reads:  "the process table with parents, environments and executables",
		Root:   "environments of other users' processes",
		live:   true,
		Needs:  []string{snapshot.SectionProc, snapshot.SectionDetail, snapshot.SectionKeys},
		Attack: []string{"T1036", "T1543"},
		NIST:   []string{"SI-4", "CM-7"},
		look: func(v *view) []Finding {
			var out []Finding
			own := v.reading()
			for i := range v.s.Processes {
				if own[v.s.Processes[i].PID] {
					continue
				}
				if f, ok := v.judgeProcess(&v.s.Processes[i]); ok {
					out = append(out, f)
				}
			}
			return out
		},
	}
}

// jobVariables returns the names in env that only a job has. Names of the GitHub
// runner's own settings (ACTIONS_RUNNER_…) are left out: the agent has them too.
func jobVariables(env map[string]string) []string {
	var out []string
	for name := range inOrder(env) {
		own := strings.HasPrefix(name, "ACTIONS_RUNNER_") || strings.HasPrefix(name, "GITHUB_ACTIONS_RUNNER_")
		for _, prefix := range []string{"CI_JOB_", "CI_PIPELINE_", "CI_PROJECT_", "CI_COMMIT_", "CI_RUNNER_", "GITHUB_", "ACTIONS_", "BUILDKITE_JOB_", "GITEA_ACTIONS"} {
			if !own && strings.HasPrefix(name, prefix) {
				out = append(out, name)
				break
			}
		}
	}
	return out
}

// tracking is the value that the GitHub runner ends the processes of a job by
// (actions/runner JobExtension.cs).
var tracking = regexp.MustCompile(`^github_[0-9a-fA-F-]{36}$`)

func (v *view) judgeProcess(p *snapshot.Process) (Finding, bool) {
	exe, deleted := exeOf(p)
	if v.isAgent(p) || p.PID == 1 || exe == "" && len(p.Args) == 0 {
		return Finding{}, false // the agents are another check's; kernel threads have neither
	}
	working := v.working[p.PID]
	_, jobs := v.runnerUID(p.UID)
	vars := jobVariables(p.Env)
	var why reasons
	if len(vars) > 0 && !working && !v.above[p.PID] {
		why.add(High, "it carries the variables of a job (%s) and no runner is above it", quote(strings.Join(vars[:min(3, len(vars))], ", ")))
	}
	judgeTracking(p, &why)
	if !working && !v.above[p.PID] {
		if s, words := v.leftBehind(p); s != "" {
			why.add(s, "%s", words)
		}
	}
	if odd := oddPlace(exe); odd != "" && !(working && inTemp(exe)) { // a test binary in /tmp is part of many jobs
		why.add(High, "its executable %s %s", quote(exe), odd)
	}
	if deleted && (jobs || len(vars) > 0 || oddPlace(exe) != "") {
		s := High
		if working {
			s = Medium
		}
		why.add(s, "its executable is no longer on the disk")
	}
	if why.worst == "" {
		return Finding{}, false
	}
	return Finding{
		Severity: why.worst, Title: "a process that belongs to no running job",
		Where: text("process %d (%s)", p.PID, quote(string(p.Comm))),
		Detail: text("%s: %s. Stopping the runner will not end it. Copy /proc/%d/exe and its environment before it is ended.",
			quote(commandLine(p)), why.text(), p.PID),
		Evidence: evidenceProc(p),
	}, true
}

// judgeTracking reports processes of a GitHub job that left the list of what is
// ended after it. A value that is shown only as a fingerprint cannot be judged.
func judgeTracking(p *snapshot.Process, why *reasons) {
	if _, github := p.Env["GITHUB_RUN_ID"]; !github {
		return
	}
	id, there := p.Env["RUNNER_TRACKING_ID"]
	switch {
	case !there:
		why.add(High, "RUNNER_TRACKING_ID is missing, so that the end of its job does not end it")
	case printShape.MatchString(id) || tracking.MatchString(id):
	default:
		why.add(High, "RUNNER_TRACKING_ID was changed to %q, so that the end of its job does not end it", quote(id))
	}
}

func commandLine(p *snapshot.Process) string {
	if len(p.Args) > 0 {
		return strings.Join(argsOf(p), " ")
	}
	return string(p.Comm)
}
