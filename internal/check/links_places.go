package check

import (
	"path"
	"slices"
	"strings"
)

// linkPlaces are, by check, the places whose files it judges by what is in them: a link
// there keeps its content from the check, and withLinks tells it.
var linkPlaces = map[string]func(v *view, p string) bool{
	"installations": func(v *view, p string) bool { return isRegistration(p) || v.named[p] != "" },
	"job-hooks": func(v *view, p string) bool {
		return v.roots[path.Dir(p)] && slices.Contains([]string{".env", ".path", "runsvc.sh", "run.sh", "run-helper.sh", "run-helper.sh.template", "svc.sh"}, path.Base(p)) ||
			isRegistration(p) || v.named[p] != "" || isEnvFile(p)
	},
	"unit-dropins": func(_ *view, p string) bool {
		return strings.Contains(p, "/systemd/") && (startingUnit(p) || isDropIn(p)) || isManagerConf(p) || isEnvFile(p) || isGenerator(p)
	},
	"runner-account": func(_ *view, p string) bool { return userUnitDir(p) && startingUnit(p) },
	"cron-timers": func(_ *view, p string) bool {
		return scheduled(p) != "" || strings.Contains(p, "/systemd/") && strings.HasSuffix(p, ".timer")
	},
	"authorized-keys": func(_ *view, p string) bool { return isKeyPlace(p) || p == "/etc/passwd" },
	"shell-profiles":  func(_ *view, p string) bool { return isProfile(p) },
	"runner-files": func(v *view, p string) bool {
		if dir := path.Dir(p); inPlaces(buildkitePlaces)(v, p) || (dir == "/usr/local/bin" || dir == "/usr/local/sbin") && coreNames[path.Base(p)] {
			return true
		}
		for _, name := range []string{"safe_sleep.sh", "config.sh", "env.sh", "svc.sh", "runsvc.sh", ".env", ".runner", "bin/runsvc.sh", "bin/run-helper.sh.template", "config.yaml", "config.yml"} {
			if root, ok := strings.CutSuffix(p, "/"+name); ok && v.roots[root] {
				return true
			}
		}
		base, dir := path.Base(p), path.Dir(p) // programs: in the archive of their makers they are files
		return path.Base(dir) == "bin" && v.roots[path.Dir(dir)] && (strings.HasPrefix(base, "Runner.") || strings.HasPrefix(base, "Agent.") || strings.HasSuffix(base, ".js"))
	},
	"boot-hooks": inPlaces(bootPlaces),
	"logins":     func(v *view, p string) bool { return inPlaces(loginPlaces)(v, p) || p == "/etc/passwd" },
	"privileges": func(v *view, p string) bool { // the last place takes every path for its mode
		return inPlaces(privilegePlaces[:len(privilegePlaces)-1])(v, p) || p == "/etc/group"
	},
	"package-hooks":   inPlaces(packagePlaces),
	"event-hooks":     inPlaces(slices.Concat(servicePlaces, eventPlaces)),
	"developer-tools": inPlaces(slices.Concat(toolPlaces, sourcePlaces)),
	"containers":      inPlaces(containerPlaces[:len(containerPlaces)-1]), // the last judges the mode of sockets
}

func inPlaces(places []place) func(*view, string) bool {
	return func(_ *view, p string) bool {
		return slices.ContainsFunc(places, func(pl place) bool { return pl.match(p) })
	}
}

// isRegistration reports whether p is what says which runner an installation is.
func isRegistration(p string) bool {
	switch base, dir := path.Base(p), path.Base(path.Dir(p)); base {
	case ".runner", ".agent", "buildkite-agent.cfg":
		return true
	case "config.toml":
		return dir == "gitlab-runner" || dir == ".gitlab-runner"
	}
	return false
}

// startingUnit reports whether p is a unit with which a program starts, or the link that
// starts one with another.
func startingUnit(p string) bool {
	return slices.Contains([]string{".service", ".socket", ".path"}, path.Ext(p))
}
