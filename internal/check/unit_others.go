package check

import (
	"path"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
)

func vendorUnit(p string) bool {
	return slices.ContainsFunc(vendorUnitDirs, func(d string) bool { return below(p, d) })
}

// generated reports whether a generator made p at boot out of what is judged itself.
func generated(p string) bool { return strings.HasPrefix(p, "/run/systemd/generator") }

// judgeOtherUnit judges a service that starts no runner. What a package brought is
// reported where it shows a clear sign of an intruder; what was made on this host at
// least to be known. Those that go with a timer are left to cron-timers, those of the
// account of the jobs to runner-account, strangers among the vendor's to boot-hooks.
func (v *view) judgeOtherUnit(p string, u unit, f *snapshot.File) (Finding, bool) {
	if v.hasTimer(p) {
		return Finding{}, false
	}
	title := "a service that was made on this host"
	var why reasons
	for _, e := range execLines(u) {
		if signs := strongSigns(e.value); len(signs) > 0 {
			why.add(High, "%s=%s: %s", e.key, quote(e.value), strings.Join(signs, ", "))
			title = "a service that looks planted"
		}
	}
	v.madeHere(p, f, &why)
	if why.worst != "" {
		for _, e := range execLines(u) {
			why.add(Low, "%s=%s", e.key, quote(e.value))
			v.programsOf(strings.TrimLeft(e.value, "-@:+!"), &why)
		}
		startEnvironment(u, &why)
	}
	if why.worst == "" || why.worst == Low && ofSnap(p, u) {
		return Finding{}, false
	}
	return Finding{Severity: why.worst, Title: title, Detail: text("%s.", why.text())}, true
}

// madeHere says of a unit that no package brought what its place and name tell.
func (v *view) madeHere(p string, f *snapshot.File, why *reasons) {
	base := path.Base(p)
	u, home := v.homeOwner(p)
	switch {
	case v.packaged != nil && !v.foreign(p), vendorUnit(p), generated(p):
		return
	case userUnitDir(p) && home && v.isRunner(u):
		return
	case below(p, "/usr/local/lib/systemd"):
		why.add(Medium, "no distribution puts units into /usr/local/lib")
	case userUnitDir(p) && home && u.uid != 0 && !u.system():
		why.add(Low, "it is a unit of the account %s", quote(u.name))
	case userUnitDir(p):
		why.add(Medium, "it is a unit of one account, which is none of a person")
	case below(p, "/run/systemd/transient") || below(p, "/run/user"):
		why.add(Low, "somebody made it by hand with systemd-run; it is gone after a restart")
	default:
		why.add(Low, "made on this host")
	}
	if f.Content == "" && f.Size > 0 {
		why.add(Medium, "its content could not be read")
	}
	for _, dir := range vendorUnitDirs {
		if v.files[path.Join(dir, base)] != nil && !below(p, dir) && !userUnitDir(p) {
			why.add(Medium, "it takes the place of the unit of the same name that a package brought")
			return
		}
	}
	switch who := impersonates(base); who {
	case "":
	case "ssh", "cron", "kernel": // words that honest names hold too
		why.add(Medium, "its name sounds like part of the system")
	default:
		why.add(High, "its name pretends to be part of %s", who)
	}
}

// ofSnap reports whether snapd made the unit for a program of a snap.
func ofSnap(p string, u unit) bool {
	lines := execLines(u)
	return strings.HasPrefix(path.Base(p), "snap.") && len(lines) > 0 && !slices.ContainsFunc(lines, func(e unitLine) bool { return !strings.HasPrefix(e.value, "/usr/bin/snap run ") })
}

// isActivator reports whether p is a unit that starts another one at an event.
func isActivator(p string) bool {
	ext := path.Ext(p)
	return (ext == ".path" || ext == ".socket") && strings.Contains(p, "/systemd/") && !strings.Contains(p, ".wants/") && !strings.Contains(p, ".requires/")
}

// judgeActivator reports sockets and watched paths that were made on this host.
func (v *view) judgeActivator(p string, f *snapshot.File) (Finding, bool) {
	var why reasons
	v.madeHere(p, f, &why)
	u := parseUnit(string(f.Content))
	for _, e := range execLines(u) {
		if signs := strongSigns(e.value); len(signs) > 0 {
			why.add(High, "%s=%s: %s", e.key, quote(e.value), strings.Join(signs, ", "))
		}
	}
	if why.worst == "" {
		return Finding{}, false
	}
	starts := strings.TrimSuffix(path.Base(p), path.Ext(p)) + ".service"
	if other := u.last("Path", "Unit") + u.last("Socket", "Service"); other != "" {
		starts = other
	}
	for _, l := range u.lines {
		switch {
		case l.value == "":
		case l.section == "Path" && (strings.HasPrefix(l.key, "Path") || l.key == "DirectoryNotEmpty"):
			why.add(Medium, "it starts %s by %s=%s", quote(starts), quote(l.key), quote(l.value))
		case l.section == "Socket" && strings.HasPrefix(l.key, "Listen"):
			s := Medium
			if strings.HasPrefix(l.value, "/") || strings.HasPrefix(l.value, "127.") || strings.HasPrefix(l.value, "@") || strings.HasPrefix(l.value, "[::1]") {
				s = Low
			}
			why.add(s, "it starts %s at a connection to %s", quote(starts), quote(l.value))
		}
	}
	return Finding{Severity: why.worst, Title: "a program starts at an event, by a unit that was made on this host", Detail: text("%s.", why.text())}, true
}

// judgeOtherDropIn reports what a drop-in of any other unit starts or loads; settings
// that do neither, such as limits, are an administrator's.
func (v *view) judgeOtherDropIn(p, owner string, f *snapshot.File) (Finding, bool) {
	u := parseUnit(string(f.Content))
	brought := v.packaged != nil && !v.foreign(p) || v.packaged == nil && vendorUnit(p)
	var why reasons
	for _, e := range execLines(u) {
		signs := strongSigns(e.value)
		if !brought {
			signs = suspicious(e.value)
			why.add(Low, "%s=%s", e.key, quote(e.value))
			v.programsOf(strings.TrimLeft(e.value, "-@:+!"), &why)
		}
		if len(signs) > 0 {
			why.add(High, "%s=%s: %s", e.key, quote(e.value), strings.Join(signs, ", "))
		}
	}
	if !brought {
		startEnvironment(u, &why)
		for _, section := range execSections {
			for _, file := range u.all(section, "EnvironmentFile") {
				if plain := strings.TrimPrefix(file, "-"); oddPlace(plain) != "" {
					why.add(High, "it loads variables from %s, which %s", quote(plain), oddPlace(plain))
				} else if !below(plain, "/etc") && !below(plain, "/run") && !below(plain, "/usr") {
					why.add(Medium, "it loads variables from %s", quote(plain))
				}
			}
		}
		if vendorUnit(p) || below(p, "/usr/local/lib/systemd") {
			why.add(Medium, "no package brought it, and only packages put drop-ins there")
		}
		if f.Content == "" && f.Size > 0 {
			why.add(Medium, "its content could not be read")
		}
	}
	if why.worst == "" {
		return Finding{}, false
	}
	return Finding{Severity: why.worst, Title: "a drop-in changes what a service starts or loads", Detail: text("It reaches %s: %s.", quote(owner), why.text())}, true
}

// isManagerConf reports whether p holds the settings of systemd itself
// (systemd-system.conf(5)).
func isManagerConf(p string) bool {
	if !strings.Contains(p, "/systemd/") {
		return false
	}
	base, dir := path.Base(p), path.Base(path.Dir(p))
	return dir == "systemd" && (base == "system.conf" || base == "user.conf") ||
		strings.HasSuffix(base, ".conf") && (dir == "system.conf.d" || dir == "user.conf.d")
}

// judgeManagerConf reports variables that every service is started with.
func judgeManagerConf(f *snapshot.File) (Finding, bool) {
	u, env := parseUnit(string(f.Content)), map[string]string{}
	for _, key := range []string{"DefaultEnvironment", "ManagerEnvironment"} {
		u.assigned("Manager", key, env)
	}
	var why reasons
	for name, value := range inOrder(env) {
		why.add(Low, "it sets %s for every service", quote(name))
		if s, ok := loaderVar(name, value); ok {
			why.add(s, "it sets %s=%s, which makes programs load foreign code", quote(name), quote(value))
		}
	}
	if why.worst == "" {
		return Finding{}, false
	}
	return Finding{
		Severity: why.worst, Title: "systemd starts every service with variables of its own", Attack: []string{"T1574.006", "T1543.002"},
		Detail: text("%s.", why.text()),
	}, true
}
