package check

import (
	"path"
	"slices"

	"cordon/internal/host/snapshot"
)

func memoryCheck() Check {
	return Check{
		ID:     "worker-memory",
		Title:  "Who reads the memory of a running job",
		Why:    "The worker holds every secret of its job in memory. Reading it is how the secrets of tj-actions and trivy-action were taken in 2025 and 2026.",
		Reads:  "descriptors of /proc/PID/mem that another process holds, and who traces whom (TracerPid); one read by process_vm_readv leaves no trace",
		Root:   "descriptors of other users' processes",
		live:   true,
		Needs:  []string{snapshot.SectionProc, snapshot.SectionDetail},
		Attack: []string{"T1003.007"},
		NIST:   []string{"SI-4", "AC-6"},
		look:   (*view).memoryReaders,
	}
}

func (v *view) memoryReaders() []Finding {
	var out []Finding
	for i := range v.s.Processes {
		p := &v.s.Processes[i]
		if f, ok := v.traced(p); ok {
			out = append(out, f)
		}
		for _, pid := range p.Memory {
			exe, _ := exeOf(p)
			s, whose := Medium, "a process that is gone"
			if of := v.procs[pid]; of != nil {
				whose = quote(string(of.Comm))
				if name, _ := exeOf(of); v.underAgent(of) || v.above[of.PID] || path.Base(name) == "Runner.Worker" || path.Base(name) == "Agent.Worker" {
					s = Critical
				}
			}
			if s != Critical && slices.Contains([]string{"gdb", "strace", "systemd-coredump", "delve", "dlv", "lldb"}, path.Base(exe)) && v.session(p) {
				s = Low
			}
			out = append(out, Finding{
				Severity: s, Title: "a process has the memory of another one open",
				Where:  text("process %d (%s)", p.PID, quote(string(p.Comm))),
				Detail: text("%s reads process %d (%s). Count every secret of the jobs that ran meanwhile as stolen.", quote(commandLine(p)), pid, whose), Evidence: evidenceProc(p),
			})
		}
	}
	return out
}
