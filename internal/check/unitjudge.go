package check

import (
	"path"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
)

// execLines returns every assignment that starts a program.
func execLines(u unit) []unitLine {
	var out []unitLine
	for _, l := range u.lines {
		if slices.Contains(execSections, l.section) && strings.HasPrefix(l.key, "Exec") && l.value != "" {
			out = append(out, l)
		}
	}
	return out
}

// startCommands judges the programs a runner's unit starts beside the runner; in a
// drop-in ExecStart counts too, since it replaces the unit's own.
func startCommands(u unit, why *reasons, dropIn bool) {
	for _, e := range execLines(u) {
		signs := suspicious(e.value)
		switch {
		case e.key == "ExecStart" && !dropIn:
			if len(signs) > 0 {
				why.add(High, "ExecStart=%s: %s", quote(e.value), strings.Join(signs, ", "))
			}
		case e.key == "ExecReload" && len(signs) == 0:
			// The template of kardianos/service may have one: it sends a signal.
		case len(signs) > 0:
			why.add(High, "%s=%s: %s", e.key, quote(e.value), strings.Join(signs, ", "))
		case e.key == "ExecStart" || oddPlace(execPath(e.value)) != "":
			why.add(High, "%s=%s", e.key, quote(e.value))
		default:
			why.add(Medium, "%s=%s runs with the agent", e.key, quote(e.value))
		}
	}
}

// startEnvironment judges Environment= of a unit. Hook variables belong to job-hooks.
func startEnvironment(u unit, why *reasons) {
	for name, value := range inOrder(u.environment()) {
		if s, ok := loaderVar(name, value); ok {
			why.add(s, "it sets %s=%s, which makes programs load foreign code", name, quote(value))
		}
	}
}

// judgeEnvFile reports loader variables in the file that gitlab-runner's unit reads
// if it exists; other variables there are an administrator's.
func judgeEnvFile(f *snapshot.File) (Finding, bool) {
	var why reasons
	for name, value := range inOrder(assignments(string(f.Content))) {
		if s, ok := loaderVar(name, value); ok {
			why.add(s, "it sets %s=%s for the agent and every job", name, quote(value))
		}
	}
	if why.worst == "" {
		return Finding{}, false
	}
	return Finding{
		Severity: why.worst, Title: "the runner's environment file makes programs load foreign code",
		Detail: text("%s.", why.text()), Attack: []string{"T1574.006", "T1543.002"},
	}, true
}

// hasTimer reports whether a timer of the same name lies beside the unit or in a
// directory an administrator writes to.
func (v *view) hasTimer(p string) bool {
	name := strings.TrimSuffix(path.Base(p), ".service") + ".timer"
	if v.files[path.Join(path.Dir(p), name)] != nil {
		return true
	}
	for _, dir := range adminUnitDirs {
		if v.files[path.Join(dir, name)] != nil {
			return true
		}
	}
	return false
}

// isGenerator reports whether p is a program that systemd runs at boot, before any
// unit, to make units (systemd.generator(7)).
func isGenerator(p string) bool {
	dir := path.Base(path.Dir(p))
	return slices.Contains([]string{"system-generators", "user-generators", "system-environment-generators", "user-environment-generators"}, dir)
}

// judgeGenerator reports generators where packages put none. LXC writes its own to /run.
func judgeGenerator(p string) (Finding, bool) {
	if below(p, "/usr/lib") || below(p, "/lib") {
		return Finding{}, false
	}
	s := Medium
	if below(p, "/run") {
		s = Low
	}
	return Finding{
		Severity: s, Title: "a program makes units at every boot",
		Detail: "No package puts a generator there. What it makes is in no unit file on the disk.",
	}, true
}
