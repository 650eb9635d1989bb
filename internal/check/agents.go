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
	Azure     = "azure-pipelines"
	Jenkins   = "jenkins"
)

var listenerDir = regexp.MustCompile(`/bin(\.[0-9][0-9.]*)?/(Runner|Agent)\.Listener$`)

// agentKind tells from the path of an executable which runner it is, "" for none.
func agentKind(exe string) string {
	switch base := path.Base(exe); {
	case base == "gitlab-runner" || base == "gitlab-ci-multi-runner":
		return GitLab
	case base == "Runner.Listener":
		return GitHub
	case base == "Agent.Listener":
		return Azure
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
		if kind == "" && jenkinsAgent(p) {
			kind = Jenkins
		}
		if kind == "" || !polls(kind, argsOf(p)) {
			continue
		}
		out[p.PID] = kind
	}
	return out
}

var jenkinsWord = regexp.MustCompile(`(^|/)(agent|slave|remoting|swarm-client)[^/]*\.jar$|^hudson\.remoting\.`)

// jenkinsAgent tells the agent of Jenkins from other programs of Java: by the archive
// that it runs and, where that has a common name, by an option of its own.
func jenkinsAgent(p *snapshot.Process) bool {
	exe, _ := exeOf(p)
	if path.Base(exe) != "java" && p.Comm != "java" {
		return false
	}
	args := argsOf(p)
	word := ""
	for _, a := range args {
		if jenkinsWord.MatchString(a) {
			word = path.Base(a)
			break
		}
	}
	if word != "agent.jar" {
		return word != ""
	}
	for _, a := range args {
		switch name, _, _ := strings.Cut(a, "="); name {
		case "-url", "-jnlpUrl", "-workDir", "-secret", "-webSocket", "-name":
			return true
		}
	}
	return false
}

// polls tells the agent from the other uses of its program: gitlab-runner is also the
// helper of a job, and a person runs "gitlab-runner verify".
func polls(kind string, args []string) bool {
	if len(args) == 0 {
		return true // a listener without arguments, or a table that shows none
	}
	want := map[string][]string{
		GitLab: {"run", "run-single"}, Gitea: {"daemon", "one-job"}, Buildkite: {"start"}, GitHub: {"run"}, Azure: {"run"},
	}[kind]
	if kind == Jenkins {
		return true
	}
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
	return plain == "" && (kind == GitHub || kind == Azure)
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
	case GitHub, Azure:
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
		if v.files[path.Join(string(p.Cwd), ".runner")] != nil {
			return string(p.Cwd)
		}
		if c := flagValue(args, "--config", "-c"); c != "" {
			return path.Dir(v.absolute(p, c))
		}
	case Buildkite:
		c := flagValue(args, "--config")
		if c == "" {
			c = p.Env["BUILDKITE_AGENT_CONFIG"]
		}
		if c != "" {
			return v.absolute(p, c)
		}
		home := p.Env["HOME"]
		if u, ok := v.byUID(p.UID); ok && home == "" {
			home = u.home
		}
		for _, d := range []string{path.Join(home, ".buildkite-agent"), "/usr/local/etc/buildkite-agent", "/etc/buildkite-agent"} {
			if c := path.Join(d, "buildkite-agent.cfg"); v.files[c] != nil {
				return c
			}
		}
	case Jenkins:
		if w := flagValue(args, "-workDir", "--workDir", "-fsroot"); w != "" {
			return v.absolute(p, w)
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
