package check

import (
	"path"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
)

// library judges one library that a program was told to load first, by its place: what
// packages put into the system's own, and what an application below /opt brings for
// itself, is honest (jemalloc).
func (v *view) library(p *snapshot.Process, lib string) Severity {
	lib = path.Clean(lib)
	exe, _ := exeOf(p)
	switch f := v.files[lib]; {
	case oddPlace(lib) != "":
		return High
	case f != nil && v.foreign(lib):
		return High
	case below(lib, "/usr/lib") || below(lib, "/usr/lib64") || below(lib, "/lib") || below(lib, "/lib64") || below(lib, "/usr/libexec") || below(lib, "/snap"):
		return Low
	case below(lib, "/opt") && path.Dir(lib) != "/opt":
		app := "/opt/" + strings.Split(lib, "/")[2]
		if below(exe, app) {
			return Low
		}
	}
	return Medium
}

// shadowable are programs in whose place a function of an environment lets everything
// be seen that is asked of them; RHEL's own functions (which, module, ml, scl) are none.
var shadowable = []string{
	"bash", "sh", "cat", "ls", "ps", "ss", "netstat", "ip", "id", "find", "grep", "head", "tail", "stat", "sed", "readlink", "base64", "dd", "kill", "date", "echo", "printf", "test", "read", "cd",
	"sudo", "su", "ssh", "scp", "login", "passwd", "systemctl", "journalctl", "crontab", "git", "docker", "podman", "kubectl", "curl", "wget", "npm", "node", "python3", "pip", "make", "tar", "unset", "builtin", "command", "type",
}

// shadowed reports functions that bash takes from its environment in place of a program
// (BASH_FUNC_name%%). An agent hands its environment to every job.
func (v *view) shadowed(p *snapshot.Process) []Finding {
	var names []string
	for name := range inOrder(p.Env) {
		fn, ok := strings.CutPrefix(name, "BASH_FUNC_")
		if fn, _, ok2 := strings.Cut(fn, "%%"); ok && ok2 && slices.Contains(shadowable, fn) {
			names = append(names, fn)
		}
	}
	if len(names) == 0 {
		return nil
	}
	s := High
	if v.working[p.PID] && !v.isAgent(p) { // a job may export what it likes to what it starts
		s = Medium
	}
	return []Finding{{
		Severity: s, Title: "a function stands in for a program in an environment", Attack: []string{"T1574", "T1564"},
		Where: text("process %d (%s)", p.PID, quote(string(p.Comm))), Evidence: evidenceProc(p),
		Detail: text("Every bash that it starts runs a function in place of %s, and shows what that wants to be seen.", quote(strings.Join(names, ", "))),
	}}
}
