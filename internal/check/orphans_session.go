package check

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"cordon/internal/host/snapshot"
)

// sessionPrograms begin what a person does after logging in.
var sessionPrograms = []string{
	"sshd", "sshd-session", "login", "su", "sudo", "systemd", "(sd-pam)", "agetty", "getty",
	"gdm-session-worker", "lightdm", "sddm-helper",
}

// login reports whether q manages a login. systemd counts only as the manager of a
// login (its own pid is not 1), since everything is below 1, and never as that of an
// account that jobs run under: whoever runs there may start what he likes below it
// (facts/host.md §1.1). A sudo or su that nobody waits for any more is no login.
func (v *view) login(q *snapshot.Process) bool {
	exe, deleted := exeOf(q)
	base := path.Base(exe)
	if exe == "" {
		base = string(q.Comm)
	}
	switch {
	case q.PID == 1 || deleted || !slices.Contains(sessionPrograms, base) || exe != "" && !inSystem(exe):
		return false
	case base == "su" || base == "sudo":
		return q.PPID > 1
	case base == "systemd" || base == "(sd-pam)":
		_, jobs := v.runnerUID(q.UID)
		return !jobs
	}
	return true
}

// session reports whether p is a login of a person or part of one.
func (v *view) session(p *snapshot.Process) bool { return v.login(p) || v.sessions[p.PID] }

// manager reports whether p is the manager of its account's own services, or what it
// keeps beside itself; whether the account should have one is another check's.
func manager(p *snapshot.Process) bool {
	exe, deleted := exeOf(p)
	base := path.Base(exe)
	if exe == "" {
		base = string(p.Comm)
	}
	return p.PID != 1 && !deleted && (base == "systemd" || base == "(sd-pam)") && (exe == "" || inSystem(exe)) && strings.HasSuffix(string(p.Cgroup), "/init.scope")
}

// shippedService reports whether p is a service that a package brought for everybody who
// logs in, the bus for one, under its account's manager.
func (v *view) shippedService(p *snapshot.Process) bool {
	up := v.procs[p.PPID]
	name := path.Base(string(p.Cgroup))
	if up == nil || !manager(up) || !strings.HasSuffix(name, ".service") || v.packaged == nil {
		return false
	}
	exe, deleted := exeOf(p)
	for _, dir := range []string{"/usr/lib/systemd/user/", "/lib/systemd/user/"} {
		if v.files[dir+name] != nil && !v.foreign(dir+name) {
			return !deleted && below(exe, "/usr") && !below(exe, "/usr/local")
		}
	}
	return false
}

// leftBehind says why a process of the jobs' account, or one that it started through
// sudo, is what a job left; "" where it is not.
func (v *view) leftBehind(p *snapshot.Process) (Severity, string) {
	name, jobs := v.runnerUID(p.UID)
	through := false
	if who := p.Env["SUDO_USER"]; !jobs && who != "" {
		if u, ok := v.byName(who); ok && v.isRunner(u) {
			name, through = u.name, true
		}
	}
	if !jobs && !through || v.session(p) || manager(p) || v.shippedService(p) {
		return "", ""
	}
	up := v.procs[p.PPID]
	switch {
	case through:
		return High, "it was started through sudo by " + quote(name) + ", the account of the jobs, and no runner is above it"
	case p.PPID <= 1:
		return High, "it runs as " + quote(name) + ", the account of the jobs, under process 1 and under no runner"
	case up != nil && manager(up):
		s := High
		if v.loggedIn(p.UID) { // his desktop is there too
			s = Medium
		}
		return s, "it runs as " + quote(name) + ", the account of the jobs, under that account's own systemd and under no runner"
	}
	return Medium, "it runs as " + quote(name) + ", the account of the jobs, under process " + strconv.Itoa(p.PPID) + " and under no runner"
}

// loggedIn reports whether a person has a session of that account now.
func (v *view) loggedIn(uid int) bool {
	for i := range v.s.Processes {
		if p := &v.s.Processes[i]; p.UID == uid && v.sessions[p.PID] {
			return true
		}
	}
	return false
}
