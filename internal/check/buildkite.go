package check

import (
	"path"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

var buildkitePlaces = []place{
	{func(p string) bool { return usualHooks(path.Dir(p)) }, []string{"T1546"}, "a hook of the agent runs around every job", judgeBuildkiteHook},
	{func(p string) bool { return path.Base(p) == "buildkite-agent.cfg" }, []string{"T1546"}, "the agent's settings start other programs", judgeBuildkite},
}

// usualHooks reports whether dir is where an agent looks for hooks by itself.
func usualHooks(dir string) bool {
	return dir == "/etc/buildkite-agent/hooks" || dir == "/usr/local/etc/buildkite-agent/hooks" || strings.HasSuffix(dir, "/.buildkite-agent/hooks")
}

// buildkiteHooks judges the hooks in directories that settings name.
func (v *view) buildkiteHooks() []Finding {
	dirs := map[string]bool{}
	v.each(func(p string, f *snapshot.File) {
		if v.named[p] != Buildkite && path.Base(p) != "buildkite-agent.cfg" {
			return
		}
		f = v.follow(p, f)
		dirs[path.Join(path.Dir(p), "hooks")] = true
		home := strings.TrimSuffix(path.Dir(p), "/.buildkite-agent")
		set := assignments(string(f.Content))
		for dir := range strings.SplitSeq(set["hooks-path"]+","+set["additional-hooks-paths"], ",") {
			dir = strings.TrimSpace(dir)
			for _, start := range []string{"$HOME/", "${HOME}/", "~/"} {
				if rest, ok := strings.CutPrefix(dir, start); ok {
					dir = path.Join(home, rest)
				}
			}
			if path.IsAbs(dir) && path.Clean(dir) != "/" {
				dirs[path.Clean(dir)] = true
			}
		}
	})
	return v.judged([]place{{
		func(p string) bool { return dirs[path.Dir(p)] && !usualHooks(path.Dir(p)) && hookNames[path.Base(p)] },
		[]string{"T1546"},
		"a hook of the agent runs around every job", judgeBuildkiteHook,
	}})
}

// hookNames are the hooks that the agent starts (buildkite/agent, facts/host.md §1.4).
var hookNames = map[string]bool{
	"agent-startup": true, "agent-shutdown": true, "pre-bootstrap": true, "environment": true, "pre-checkout": true, "checkout": true, "post-checkout": true,
	"pre-command": true, "command": true, "post-command": true, "pre-artifact": true, "post-artifact": true, "pre-exit": true,
}

// judgeBuildkiteHook: the package ships only samples, so that every other file is
// somebody's own.
func judgeBuildkiteHook(_ *view, p string, f *snapshot.File, why *reasons) {
	if f.Type != "file" || strings.HasSuffix(p, ".sample") {
		return
	}
	why.add(Medium, "%s is no sample: an administrator or an intruder made it", quote(path.Base(p)))
	if signs := suspicious(string(f.Content)); len(signs) > 0 {
		why.add(High, "it %s", strings.Join(signs, ", "))
	}
}

func judgeBuildkite(_ *view, _ string, f *snapshot.File, why *reasons) {
	for name, value := range inOrder(assignments(string(f.Content))) {
		switch name {
		case "bootstrap-script":
			if !strings.HasSuffix(value, "buildkite-agent bootstrap") {
				why.add(Medium, "bootstrap-script = %s takes the place of the whole job", quote(value))
			}
		case "additional-hooks-paths":
			why.add(Medium, "%s = %s", name, quote(value))
		case "hooks-path", "plugins-path":
			if !below(value, "/etc/buildkite-agent") && !strings.Contains(value, ".buildkite-agent/") {
				why.add(Medium, "%s = %s is not where the package puts them", name, quote(value))
			}
		}
		if odd := oddPlace(strings.ReplaceAll(value, "/.buildkite-agent", "")); odd != "" && strings.HasPrefix(value, "/") { // its own directory is no hiding
			why.add(High, "%s = %s: it %s", quote(name), quote(value), odd)
		}
	}
}

// flagFindings judges the command lines of Jenkins' agents, which have no file.
func (v *view) flagFindings() []Finding {
	var out []Finding
	for i := range v.s.Processes {
		p := &v.s.Processes[i]
		args := argsOf(p)
		if !slices.ContainsFunc(args, func(a string) bool {
			b := path.Base(a)
			return b == "agent.jar" || b == "remoting.jar" || b == "slave.jar"
		}) {
			continue
		}
		var why reasons
		for _, a := range args {
			switch a {
			case "-noCertificateCheck", "-disableHttpsCertValidation":
				why.add(Medium, "%s: it accepts any certificate of its controller", a)
			case "-tunnel":
				why.add(Medium, "-tunnel: it talks to its controller through another host")
			case "-secret", "-jnlpCredentials", "-credentials", "-proxyCredentials":
				if next := flagValue(args, a); !strings.HasPrefix(next, "@") {
					why.add(Low, "%s: the secret stands in the process table, where every account reads it", a)
				}
			}
		}
		if why.worst != "" {
			out = append(out, Finding{
				Severity: why.worst, Title: "how a Jenkins agent was started", Attack: []string{"T1557", "T1552.001"},
				Where: untrusted.Text(text("process %d (%s)", p.PID, quote(string(p.Comm)))), Detail: text("%s.", why.text()), Evidence: evidenceProc(p),
			})
		}
	}
	return out
}
