package snapshot

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"cordon/internal/untrusted"
)

// What the collector reads of a command line and of an environment at most.
const (
	argsCap = 128 << 10
	envCap  = 32 << 10
)

// shownNames are the variables whose values tell how a process came to run what it
// runs, or which job it belongs to, and that are not credentials (facts/host.md §1.1).
// All others are kept as fingerprints.
var shownNames = map[string]bool{
	"PATH": true, "HOME": true, "USER": true, "LOGNAME": true, "SHELL": true, "PWD": true, "OLDPWD": true, "LANG": true, "LC_ALL": true,
	"TERM": true, "TZ": true, "TMPDIR": true, "ENV": true, "BASH_ENV": true, "PROMPT_COMMAND": true,
	"LD_PRELOAD": true, "LD_LIBRARY_PATH": true, "LD_AUDIT": true,
	"NODE_OPTIONS": true, "NODE_PATH": true, "NODE_EXTRA_CA_CERTS": true, "PYTHONSTARTUP": true, "PYTHONPATH": true, "PYTHONHOME": true,
	"PERL5OPT": true, "PERL5LIB": true, "RUBYOPT": true, "RUBYLIB": true, "JAVA_TOOL_OPTIONS": true, "JAVA_HOME": true, "_JAVA_OPTIONS": true,
	"GIT_SSH": true, "GIT_SSH_COMMAND": true, "GIT_CONFIG_GLOBAL": true, "GIT_CONFIG_SYSTEM": true, "GIT_CONFIG_COUNT": true, "GIT_EXEC_PATH": true,
	"RUNNER_TRACKING_ID": true, "RUNNER_ALLOW_RUNASROOT": true, "RUNNER_TOOL_CACHE": true, "AGENT_TOOLSDIRECTORY": true, "RUNNER_TEMP": true,
	"RUNNER_WORKSPACE": true, "RUNNER_NAME": true, "VSTS_PROCESS_LOOKUP_ID": true,
	"GITHUB_ACTIONS": true, "GITHUB_REPOSITORY": true, "GITHUB_RUN_ID": true, "GITHUB_JOB": true, "GITHUB_WORKFLOW": true, "GITHUB_ACTOR": true,
	"RUNNER_TOOLSDIRECTORY": true, "RUNNER_LOGRETENTION": true, "WORKER_LOGRETENTION": true, "VSTS_AGENT_HTTPTRACE": true,
	"ACTIONS_RUNNER_SYMLINK_CACHED_ACTIONS": true, "BUILDKITE_AGENT_CONFIG": true, "CONFIG_FILE": true,
	"GITHUB_ACTIONS_RUNNER_TLS_NO_VERIFY": true, "GITHUB_ACTIONS_RUNNER_HTTPTRACE": true, "ACTIONS_ALLOW_UNSECURE_COMMANDS": true,
	"ACTIONS_RUNNER_CONTAINER_HOOKS": true, "ACTIONS_RUNNER_ACTION_ARCHIVE_CACHE": true,
	"CI": true, "GITLAB_CI": true, "CI_JOB_ID": true, "CI_JOB_NAME": true, "CI_JOB_STAGE": true, "CI_PIPELINE_ID": true, "CI_PROJECT_ID": true,
	"CI_PROJECT_PATH": true, "CI_PROJECT_DIR": true, "CI_BUILDS_DIR": true, "CI_RUNNER_ID": true, "CI_SERVER_URL": true, "CI_COMMIT_REF_NAME": true,
	"http_proxy": true, "https_proxy": true, "HTTP_PROXY": true, "HTTPS_PROXY": true, "ALL_PROXY": true, "NO_PROXY": true, "no_proxy": true,
	"SUDO_USER": true, "SUDO_COMMAND": true, "INVOCATION_ID": true, "XDG_RUNTIME_DIR": true, "SSH_CONNECTION": true, "SSH_ORIGINAL_COMMAND": true,
	"GRUB_CMDLINE_LINUX": true, "GRUB_CMDLINE_LINUX_DEFAULT": true, "GRUB_DEFAULT": true,
	"DOCKER_HOST": true, "SYSTEMD_EXEC_PID": true,
}

func shown(name string) bool {
	return shownNames[name] || strings.HasPrefix(name, "ACTIONS_RUNNER_HOOK_") || strings.HasPrefix(name, "GIT_CONFIG_KEY_")
}

// variable gives what is kept of one value.
func (p *parser) variable(name, value string) string {
	if value == "" {
		return ""
	}
	if shown(name) {
		return string(p.text(value, maxPath))
	}
	return p.x.Marker.Print(value)
}

// environ reads /proc/<pid>/environ: NUL-separated NAME=VALUE as the process made it.
func (p *parser) environ(b []byte) map[string]string {
	words := bytes.Split(bytes.TrimRight(b, "\x00"), []byte{0})
	if len(b) >= envCap {
		words = words[:len(words)-1] // cut in the middle: not the value it was
		p.broken("an environment is larger than the cap")
	}
	env := map[string]string{}
	for _, w := range words {
		name, value, ok := strings.Cut(string(w), "=")
		if !ok || name == "" {
			continue
		}
		if len(env) >= maxNames {
			p.broken("an environment has more names than the cap")
			break
		}
		if key := p.clean(name, 128); env[key] == "" { // getenv(3) takes the first
			env[key] = p.variable(name, value)
		}
	}
	if len(env) == 0 {
		return nil
	}
	return env
}

// secretFlag names options whose value is a credential (facts/host.md §1.7).
var secretFlag = regexp.MustCompile(`(?i)^-{1,2}[a-z0-9_-]*(token|secret|passw(or)?d|passphrase|jitconfig|credentials?|api-?key|access-?key|private-?key|bearer|auth|authtoken|websocketheader|pat)$`)

// jenkinsWord tells the command line of a Jenkins agent, longHex what its secret looks
// like (jenkinsci/remoting, Launcher.java).
var (
	jenkinsWord = regexp.MustCompile(`(^|/)(agent|slave|remoting|swarm-client)[^/]*\.jar$|^hudson\.remoting\.`)
	longHex     = regexp.MustCompile(`^[0-9a-fA-F]{32,128}$`)
)

// args takes secrets out of a command line: the values of options that carry them,
// and whatever is known by its own shape. cut says that the last word may be half of one.
// That a compiler has many words hides no agent, whose name stands first: it is a gap
// among the details. Of a Java program the words tell what it is.
func (p *parser) args(comm untrusted.Text, words []string, cut bool) []untrusted.Text {
	hide := false
	java := slices.ContainsFunc(words, func(w string) bool { return jenkinsWord.MatchString(w) })
	if cut || len(words) == maxArgs {
		section := SectionDetail
		if comm == "java" && !java {
			section = SectionProc
		}
		p.spoiled(section, "a command line is longer than the cap")
	}
	register := len(words) > 1 && path.Base(words[0]) == "gitlab-runner" && words[1] == "register"
	kept := make([]string, len(words))
	for i, w := range words {
		name, value, joined := strings.Cut(w, "=")
		switch {
		case cut && i == len(words)-1:
			kept[i] = "[cut]" // what is left of it may be half a secret
		case hide && w != "" && w[0] != '@': // @file is a place, not a value
			kept[i] = p.hidden(w)
		case java && longHex.MatchString(w): // the secret of an inbound agent may stand without its option
			kept[i] = p.hidden(w)
		case joined && secretFlag.MatchString(name) && value != "":
			kept[i] = name + "=" + p.hidden(value)
		default:
			kept[i] = w
		}
		hide = !joined && (secretFlag.MatchString(w) || (register && (w == "-t" || w == "-r"))) ||
			((w == "-u" || w == "--user") && i+1 < len(words) && strings.Contains(words[i+1], ":"))
	}
	if len(kept) == 0 {
		return nil
	}
	joined, n := p.x.Marker.Text(strings.Join(kept, "\x00")) // a value may begin in one word and end in the next
	p.s.Redacted += n
	var out []untrusted.Text
	for _, w := range strings.Split(joined, "\x00") {
		out = append(out, untrusted.Text(cutTo(w, maxPath)))
	}
	return out
}

// hidden is the mark of a value that is secret because of where it stands, in the
// form that redact writes.
func (p *parser) hidden(v string) string {
	return fmt.Sprintf("[redacted %s len:%d]", p.x.Marker.Print(v), len(v))
}
