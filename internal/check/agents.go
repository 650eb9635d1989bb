package check

import (
	"path"
	"regexp"
	"strings"

	"cordon/internal/host/snapshot"
)

// Kinds of installation.
const (
	GitLab    = "gitlab-runner"
	GitHub    = "github"
	Gitea     = "gitea"
	Buildkite = "buildkite"
)

var listenerDir = regexp.MustCompile(`/bin(\.[0-9][0-9.]*)?/(Runner|Agent)\.Listener$`)

// agentKind tells from the path of an executable which runner it is, "" for none.
func agentKind(exe string) string {
	switch base := path.Base(exe); {
	case base == "gitlab-runner" || base == "gitlab-ci-multi-runner":
		return GitLab
	case base == "Runner.Listener" || base == "Agent.Listener":
		return GitHub
	case base == "act_runner" || base == "act-runner" || base == "forgejo-runner" || base == "gitea-runner":
		return Gitea
	case base == "buildkite-agent":
		return Buildkite
	}
	return ""
}

// agentsOf finds the processes that poll for jobs. The executable decides; where its
// link could not be read, the command line does.
func agentsOf(s *snapshot.Snapshot) map[int]string {
	out := map[int]string{}
	for i := range s.Processes {
		p := &s.Processes[i]
		exe, _ := exeOf(p)
		if exe == "" && len(p.Args) > 0 {
			exe = string(p.Args[0])
		}
		kind := agentKind(exe)
		if kind == "" || !polls(kind, argsOf(p)) {
			continue
		}
		out[p.PID] = kind
	}
	return out
}

// polls tells the agent from the other uses of its program: gitlab-runner is also the
// helper of a job, and a person runs "gitlab-runner verify".
func polls(kind string, args []string) bool {
	if len(args) == 0 {
		return true // a listener without arguments, or a table that shows none
	}
	want := map[string][]string{
		GitLab: {"run", "run-single"}, Gitea: {"daemon", "one-job"}, Buildkite: {"start"}, GitHub: {"run"},
	}[kind]
	plain := ""
	for _, a := range args[1:] {
		if !strings.HasPrefix(a, "-") {
			plain = a
			break
		}
	}
	for _, w := range want {
		if plain == w {
			return true
		}
	}
	return plain == "" && kind == GitHub
}

// agentRoot is the directory or file that an agent process uses, as far as the
// process shows it; "" where it does not.
func (v *view) agentRoot(p *snapshot.Process, kind string) string {
	exe, _ := exeOf(p)
	if exe == "" && len(p.Args) > 0 {
		exe = string(p.Args[0])
	}
	args := argsOf(p)
	switch kind {
	case GitHub:
		if at := listenerDir.FindStringIndex(exe); at != nil {
			return path.Clean(exe[:at[0]] + "/")
		}
		return string(p.Cwd)
	case GitLab:
		if c := flagValue(args, "--config", "-c"); c != "" {
			return v.absolute(p, c)
		}
		if c := p.Env["CONFIG_FILE"]; strings.HasPrefix(c, "/") {
			return path.Clean(c)
		}
		if p.UID == 0 {
			return "/etc/gitlab-runner/config.toml"
		}
		if u, ok := v.byUID(p.UID); ok {
			return path.Join(u.home, ".gitlab-runner/config.toml")
		}
	case Gitea:
		if c := flagValue(args, "--config", "-c"); c != "" {
			return path.Dir(v.absolute(p, c))
		}
	}
	return string(p.Cwd)
}

func (v *view) absolute(p *snapshot.Process, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join("/", string(p.Cwd), name)
}
