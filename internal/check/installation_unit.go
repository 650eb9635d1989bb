package check

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// start is one ExecStart of a unit: what starts an installation.
// named is the configuration that it names, config the one that it then uses.
type start struct{ unit, exe, named, config, dir string }

// starts lists them once; units are many.
func (v *view) starts() []start {
	var out []start
	v.each(func(p string, f *snapshot.File) {
		name := path.Base(p)
		if isDropIn(p) {
			name = strings.TrimSuffix(path.Base(path.Dir(p)), ".d")
		} else if !isUnitFile(p) {
			return
		}
		if f.Content == "" {
			return
		}
		u := parseUnit(string(f.Content))
		env := u.environment()
		for _, e := range u.all("Service", "ExecStart") {
			words := splitCommand(e)
			if len(words) > 2 && shells.MatchString(path.Base(execPath(words[0]))) && words[1] == "-c" {
				words = splitCommand(strings.TrimPrefix(strings.TrimSpace(words[2]), "exec "))
			}
			if len(words) == 0 {
				continue
			}
			st := start{unit: untrusted.Clean(name, 120), exe: execPath(words[0]), dir: u.last("Service", "WorkingDirectory")}
			st.named = flagValue(words, "--config", "-c")
			for _, from := range configVars {
				if st.named == "" {
					st.named = env[from]
				}
			}
			if st.named != "" && !path.IsAbs(st.named) && path.IsAbs(st.dir) {
				st.named = path.Join(st.dir, st.named)
			}
			if st.config = st.named; st.config == "" {
				st.config = "/etc/gitlab-runner/config.toml"
			}
			script := path.Base(st.exe) == "runsvc.sh" || path.Base(st.exe) == "run.sh"
			if agentKind(st.exe) != "" || script {
				out = append(out, st)
			}
		}
	})
	return out
}

// unitOf names the unit whose ExecStart starts the installation; where no unit file
// says so, the one that its process runs in.
func (v *view) unitOf(in Installation, starts []start) string {
	for _, s := range starts {
		if in.Kind == GitLab && agentKind(s.exe) == GitLab && s.config == string(in.Config) ||
			(in.Kind == GitHub || in.Kind == Azure) && below(s.exe, string(in.Root)) ||
			in.Kind == Gitea && agentKind(s.exe) == Gitea && s.dir == string(in.Root) {
			return s.unit
		}
	}
	if in.Kind != Buildkite && in.Kind != Jenkins {
		return ""
	}
	for _, pid := range in.PIDs {
		if u := serviceOf(v.procs[pid]); u != "" {
			return u
		}
	}
	return ""
}

// serviceOf is the unit of the system that a process runs in, "" for a session, a
// scope or a user's own manager.
func serviceOf(p *snapshot.Process) string {
	if u := path.Base(string(p.Cgroup)); strings.HasSuffix(u, ".service") && !strings.HasPrefix(u, "user@") {
		return untrusted.Clean(u, 120)
	}
	return ""
}

// contested is when the agent's log last says that another session uses its identity.
// A second start within minutes, after a crash for one, says it too, and then works
// (facts/github.md §2.2): only what no answer followed counts.
func (v *view) contested(in Installation) time.Time {
	var at time.Time
	for _, l := range v.s.Log {
		if !v.logOf(in, l) {
			continue
		}
		switch c := l.Contact(); {
		case c.Conflict:
			at = l.At
		case c.Answered:
			at = time.Time{}
		}
	}
	return at
}

var (
	binVersion = regexp.MustCompile(`(?:^|/)bin\.([0-9]{1,4}(?:\.[0-9]{1,6}){1,3})(?:/|$)`)
	logVersion = regexp.MustCompile(`(?:Version: |version=|buildkite-agent v|runner version )v?([0-9]{1,4}(?:\.[0-9]{1,6}){1,3})\b`)
)

// version is what the update's directory, the executable's path or the log says.
func (v *view) version(in Installation) string {
	for _, pid := range in.PIDs {
		if m := binVersion.FindStringSubmatch(string(v.procs[pid].Exe)); m != nil {
			return m[1]
		}
	}
	if f := v.files[path.Join(string(in.Root), "bin")]; f != nil {
		if m := binVersion.FindStringSubmatch(string(f.Link)); m != nil {
			return m[1]
		}
	}
	for _, l := range slices.Backward(v.s.Log) {
		if m := logVersion.FindStringSubmatch(string(l.Text)); m != nil && v.logOf(in, l) {
			return m[1]
		}
	}
	return ""
}
