package check

import (
	"path"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

func unitsCheck() Check {
	return Check{
		ID:     "unit-dropins",
		Title:  "How the runner's service and others start",
		Why:    "A drop-in or a changed unit runs an intruder's code with the agent each time it starts, and survives a new token.",
		Reads:  "services, sockets, paths and drop-ins of the machine and of every account, systemd's own settings, the runner's environment file, generators; which of them a package brought (dpkg)",
		Root:   "units of other users' homes",
		Needs:  []string{snapshot.SectionUnits, snapshot.SectionOwned},
		Attack: []string{"T1543.002"},
		NIST:   []string{"CM-7", "SI-7"},
		look: func(v *view) []Finding {
			var out []Finding
			v.followed(func(p string, f *snapshot.File) {
				var hit Finding
				ok := false
				switch {
				case f.Type != "file":
				case f.Link != "" && isUnitPath(target(p, f)): // an alias of a unit that is judged where it lies
				case isManagerConf(p):
					hit, ok = judgeManagerConf(f)
				case isDropIn(p):
					hit, ok = v.judgeDropIn(p, f)
				case isUnitFile(p):
					hit, ok = v.judgeUnit(p, f)
				case isActivator(p):
					hit, ok = v.judgeActivator(p, f)
				case isEnvFile(p):
					hit, ok = judgeEnvFile(f)
				case isGenerator(p):
					hit, ok = judgeGenerator(p)
				}
				if ok {
					hit.Where, hit.Evidence = untrusted.Text(p), evidenceFile(f)
					out = append(out, hit)
				}
			})
			return out
		},
	}
}

// unitTypes are the kinds of units that have drop-ins in which a program can stand.
var unitTypes = []string{"service", "socket", "timer", "path", "mount", "swap", "target", "slice", "scope", "device", "automount"}

// isDropIn reports whether p is NAME.TYPE.d/*.conf or TYPE.d/*.conf.
func isDropIn(p string) bool {
	dir, isDir := strings.CutSuffix(path.Base(path.Dir(p)), ".d")
	return isDir && strings.HasSuffix(p, ".conf") && strings.Contains(p, "/systemd/") &&
		slices.Contains(unitTypes, dir[strings.LastIndexByte(dir, '.')+1:])
}

// envFiles are read by gitlab-runner's unit if they exist (kardianos/service).
var envFiles = []string{"/etc/sysconfig/gitlab-runner", "/etc/default/gitlab-runner"}

func isEnvFile(p string) bool { return slices.Contains(envFiles, p) }

// judgeDropIn reports drop-ins of runner units, and those that reach every service; of
// others what in them starts or loads something.
func (v *view) judgeDropIn(p string, f *snapshot.File) (Finding, bool) {
	owner := strings.TrimSuffix(path.Base(path.Dir(p)), ".d")
	all := owner == "service"
	if vendorUnit(p) && !v.foreign(p) || all && below(p, "/run") || !all && !v.startsRunner(p, owner) {
		return v.judgeOtherDropIn(p, owner, f)
	}
	u := parseUnit(string(f.Content))
	var why reasons
	why.add(Low, "it changes how %s starts", quote(owner))
	if f.Content == "" && f.Size > 0 {
		why.add(Medium, "its content could not be read")
	}
	startCommands(u, &why, true)
	startEnvironment(u, &why)
	for _, file := range u.all("Service", "EnvironmentFile") {
		why.add(High, "it loads variables from %s", quote(file))
	}
	if vendorUnit(p) {
		why.add(Medium, "no package brought it, and it lies among those of packages")
	}
	if who := u.last("Service", "User"); who != "" {
		why.add(High, "it runs the service as %s", quote(who))
	}
	title := "a drop-in changes the runner's service"
	if all {
		title = "a drop-in changes every service"
	}
	return Finding{Severity: why.worst, Title: title, Detail: text("%s.", why.text())}, true
}

// runnerUnits are the names of the units that start runners.
func (v *view) runnerUnits() []string {
	if v.starters == nil {
		v.starters = []string{}
		for _, at := range v.paths {
			if name := path.Base(at); isUnitFile(at) && parseUnit(v.content(at)).runner(name) {
				v.starters = append(v.starters, name)
			}
		}
	}
	return v.starters
}

// startsRunner reports whether the unit that a drop-in at p belongs to starts a runner.
// One of NAME-.service reaches every unit whose name begins so (systemd.unit(5)).
func (v *view) startsRunner(p, owner string) bool {
	if runnerUnitName(owner) {
		return true
	}
	if prefix, ok := strings.CutSuffix(owner, "-.service"); ok {
		return slices.ContainsFunc(v.runnerUnits(), func(name string) bool { return strings.HasPrefix(name, prefix+"-") })
	}
	for _, dir := range append(append([]string{path.Dir(path.Dir(p))}, adminUnitDirs...), vendorUnitDirs...) {
		if f := v.files[path.Join(dir, owner)]; f != nil && f.Content != "" && parseUnit(string(f.Content)).runner(owner) {
			return true
		}
	}
	return false
}

// judgeUnit reports what in a unit file is out of the ordinary.
func (v *view) judgeUnit(p string, f *snapshot.File) (Finding, bool) {
	u := parseUnit(string(f.Content))
	var why reasons
	if !u.runner(path.Base(p)) {
		return v.judgeOtherUnit(p, u, f)
	}
	v.judgeRunnerUnit(p, u, &why)
	if why.worst == "" {
		return Finding{}, false
	}
	return Finding{Severity: why.worst, Title: "the runner's unit is not as its installer writes it", Detail: text("%s.", why.text())}, true
}

func (v *view) judgeRunnerUnit(p string, u unit, why *reasons) {
	startCommands(u, why, false)
	startEnvironment(u, why)
	for _, file := range u.all("Service", "EnvironmentFile") {
		if plain := strings.TrimPrefix(file, "-"); !isEnvFile(plain) {
			why.add(Medium, "it loads variables from %s, which no installer writes", quote(file))
		}
	}
	root := u.last("Service", "WorkingDirectory")
	for _, e := range u.all("Service", "ExecStart") {
		words := splitCommand(e)
		if len(words) == 0 {
			continue
		}
		exe := execPath(words[0])
		switch {
		case oddPlace(exe) != "":
			why.add(High, "ExecStart %s %s", quote(exe), oddPlace(exe))
		case agentKind(exe) == "" && path.Base(exe) != "runsvc.sh":
			why.add(High, "ExecStart starts %s instead of the runner", quote(exe))
		case path.Base(exe) == "runsvc.sh" && root != "" && path.Dir(exe) != path.Clean(root):
			why.add(High, "ExecStart %s lies outside its root %s", quote(exe), quote(root))
		case agentKind(exe) == GitLab && !inSystem(exe):
			why.add(High, "ExecStart %s lies outside the directories of programs", quote(exe))
		}
	}
	github := strings.HasPrefix(path.Base(p), "actions.runner.")
	if who := u.last("Service", "User"); github && (who == "root" || who == "") || !github && who == "root" && len(u.all("Service", "ExecStart")) > 0 && agentKind(execPath(first(u))) != GitLab {
		why.add(Medium, "it runs jobs as root")
	}
	if flagValue(splitCommand(u.last("Service", "ExecStart")), "--user") == "root" {
		why.add(Medium, "it runs jobs as root")
	}
	if userUnitDir(p) {
		why.add(Low, "it is a unit of one account, not of the machine")
	}
	if below(p, "/usr/local/lib/systemd") || below(p, "/run/systemd/transient") {
		why.add(Medium, "no installer puts the unit there")
	}
}

func first(u unit) string {
	if words := splitCommand(u.last("Service", "ExecStart")); len(words) > 0 {
		return words[0]
	}
	return ""
}
