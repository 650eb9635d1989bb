package check

import (
	"path"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
)

// judgeTimer judges a timer or a link that starts one at boot. Timers in the
// vendor's directories are the distribution's and are not findings.
func (v *view) judgeTimer(p string, f *snapshot.File) (Finding, bool) {
	vendor := slices.ContainsFunc(vendorUnitDirs, func(d string) bool { return below(p, d) })
	if vendor || strings.HasPrefix(p, "/run/systemd/generator") {
		return Finding{}, false
	}
	name := strings.TrimSuffix(path.Base(p), ".timer")
	var why reasons
	if f.Type == "link" {
		to := string(f.Link)
		if !path.IsAbs(to) {
			to = path.Join(path.Dir(p), to)
		}
		to = path.Clean(to)
		switch {
		case to == "/dev/null", slices.ContainsFunc(vendorUnitDirs, func(d string) bool { return below(to, d) }):
			return Finding{}, false // masked, or the usual way to enable what a package brought
		case v.files[to] != nil:
			return Finding{}, false // the file it leads to is judged itself
		}
		why.add(Medium, "it starts %s, which was not seen", quote(to))
	} else {
		v.timerFile(p, name, &why)
	}
	return Finding{Severity: why.worst, Title: "a timer that no package of the distribution brought", Attack: []string{"T1053.006"}, Detail: text("%s.", why.text())}, true
}

// timerFile says why a timer outside the vendor's directories matters; at the least
// an administrator made it.
func (v *view) timerFile(p, name string, why *reasons) {
	why.add(Low, "made on this host")
	if who := impersonates(name); who != "" {
		why.add(High, "its name pretends to be part of %s", who)
	}
	if below(p, "/usr/local/lib/systemd") {
		why.add(Medium, "no distribution puts units into /usr/local/lib")
	}
	if below(p, "/run/systemd/transient") || below(p, "/run/user") {
		why.add(Medium, "somebody made it by hand with systemd-run; it is gone after a restart")
	}
	if userUnitDir(p) {
		if u, ok := v.homeOwner(p); ok && v.isRunner(u) {
			why.add(High, "it belongs to %s, the account of the jobs", quote(u.name))
		} else {
			why.add(Medium, "it belongs to one account")
		}
	}
	service, at := v.timed(p, name)
	if service == nil {
		return
	}
	for _, e := range execLines(parseUnit(string(service.Content))) {
		signs := suspicious(e.value)
		if len(signs) > 0 {
			why.add(High, "%s in %s: %s", quote(e.value), quote(at), strings.Join(signs, ", "))
		} else {
			why.add(Low, "it starts %s", quote(e.value))
		}
	}
}

// timed finds the service that a timer starts: Unit= or the same name.
func (v *view) timed(p, name string) (*snapshot.File, string) {
	unit := name + ".service"
	if u := parseUnit(v.content(p)).last("Timer", "Unit"); u != "" {
		unit = path.Base(u)
	}
	dirs := append([]string{path.Dir(p), "/usr/local/lib/systemd/system"}, adminUnitDirs...)
	for _, dir := range append(dirs, vendorUnitDirs...) {
		if at := path.Join(dir, unit); v.files[at] != nil {
			return v.files[at], at
		}
	}
	return nil, ""
}

// judgeLinger reports accounts of jobs whose units start at boot without a login.
func (v *view) judgeLinger(name string) (Finding, bool) {
	if v.runners[name].name == "" {
		return Finding{}, false
	}
	return Finding{
		Severity: Medium, Title: "units of the jobs' account start at boot", Attack: []string{"T1543.002"},
		Detail: text("Lingering is on for %s: what a job puts into its user units runs from boot on, without a login.", quote(name)),
	}, true
}
