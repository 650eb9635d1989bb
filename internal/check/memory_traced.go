package check

import (
	"path"
	"slices"

	"cordon/internal/host/snapshot"
)

// tracers are programs with which people look into other processes.
var tracers = []string{"gdb", "strace", "ltrace", "delve", "dlv", "lldb", "lldb-server", "gdbserver", "rr"}

// traced judges who traces p: he reads its memory and decides what it does. What a job
// does to its own processes (tests of debuggers, leak checkers) is its own.
func (v *view) traced(p *snapshot.Process) (Finding, bool) {
	if p.Tracer == 0 {
		return Finding{}, false
	}
	by := v.procs[p.Tracer]
	name, _ := exeOf(p)
	agent := v.isAgent(p) || path.Base(name) == "Runner.Worker" || path.Base(name) == "Agent.Worker"
	s, who := Medium, "a process that is not in the list"
	at, ev := text("process %d (%s)", p.PID, quote(string(p.Comm))), evidenceProc(p)
	if by != nil {
		who = quote(commandLine(by))
		at, ev = text("process %d (%s)", by.PID, quote(string(by.Comm))), evidenceProc(by)
	}
	switch {
	case agent, v.underAgent(p) && (by == nil || !v.underAgent(by)):
		s = Critical
	case v.underAgent(p):
		s = Info
	case by != nil:
		if exe, _ := exeOf(by); slices.Contains(tracers, path.Base(exe)) && v.session(by) {
			s = Low
		}
	}
	words := "Whoever traces a process reads its memory and writes to it."
	if s == Critical {
		words += " Count every secret of the jobs that ran meanwhile as stolen."
	}
	return Finding{
		Severity: s, Title: "a process is traced by another one", Where: at, Evidence: ev, Attack: []string{"T1055.008", "T1003.007"},
		Detail: text("%s (process %d) traces process %d (%s). %s", who, p.Tracer, p.PID, quote(string(p.Comm)), words),
	}, true
}
