package check

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// tempDirs are places anybody may write to.
var tempDirs = []string{"/tmp", "/var/tmp", "/dev/shm", "/run/shm", "/dev/mqueue", "/run/user"}

func inTemp(p string) bool {
	return slices.ContainsFunc(tempDirs, func(d string) bool { return below(p, d) })
}

// hiddenPart returns the first part of p that hides from a plain listing; known
// dot directories of tools are not hiding.
func hiddenPart(p string) string {
	for part := range strings.SplitSeq(p, "/") {
		if len(part) > 1 && part[0] == '.' && part != ".." && !slices.Contains(plainDots, part) {
			return part
		}
	}
	return ""
}

var plainDots = []string{".gitlab-runner", ".cargo", ".local", ".nvm", ".pyenv", ".rbenv", ".sdkman", ".docker", ".npm", ".runner",
	".asdf", ".rvm", ".rustup", ".volta", ".dotnet"}

// systemDirs are where packages put programs.
var systemDirs = []string{
	"/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/usr/libexec", "/usr/local/bin",
	"/usr/local/sbin", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/usr/share", "/etc/cron.daily",
	"/etc/cron.hourly", "/etc/cron.weekly", "/etc/cron.monthly", "/etc/init.d", "/snap",
}

func inSystem(p string) bool {
	return slices.ContainsFunc(systemDirs, func(d string) bool { return below(p, d) })
}

// oddPlace says why an executable at p is out of place, or "".
func oddPlace(p string) string {
	switch {
	case p == "":
		return ""
	case strings.HasPrefix(p, "/memfd:"):
		return "runs from memory, never from a file"
	case inTemp(p):
		return "lies in a directory that anybody may write to"
	case hiddenPart(p) != "":
		return "lies under a hidden name (" + quote(hiddenPart(p)) + ")"
	}
	return ""
}

// signs are what commands of intruders have in common. Each is rare in the hooks,
// timers and profiles of an honest runner host.
var signs = []struct {
	re  *regexp.Regexp
	why string
}{
	{regexp.MustCompile(`/dev/(tcp|udp)/`), "opens a network connection from the shell"},
	{regexp.MustCompile(`(?i)\b(curl|wget)\b[^\n]*\|\s*(sudo\s+)?(ba|da|z|k)?sh\b`), "pipes a download into a shell"},
	{regexp.MustCompile(`(?i)\b(ba|da|z)?sh\s+-c\s+["']?\$\(\s*(curl|wget)\b`), "runs a download in a shell"},
	{regexp.MustCompile(`(?i)\b(curl|wget)\b`), "talks to a server"},
	{regexp.MustCompile(`(?i)base64\s+(-d|--decode|-D)\b`), "decodes hidden text"},
	{regexp.MustCompile(`(?i)\b(nc|ncat|netcat|socat)\b\s+-?\S`), "uses a raw network tool"},
	{regexp.MustCompile(`(?i)\b(python[0-9.]*|perl|ruby|php|node)\s+-[ecr]\b`), "runs a program given on the command line"},
	{regexp.MustCompile(`\b(nohup|setsid|disown)\b`), "detaches a process so that it outlives its job"},
	{regexp.MustCompile(`\bbash\s+-i\b`), "starts an interactive shell"},
	{regexp.MustCompile(`(^|[\s="'(:])(/tmp|/var/tmp|/dev/shm)/\S`), "uses files that anybody may write"},
	{regexp.MustCompile(`RUNNER_TRACKING_ID=`), "takes itself off the list of processes that are ended after a job"},
}

// suspicious lists the signs in a command or script.
func suspicious(text string) []string {
	if len(text) > 1<<20 {
		text = text[:1<<20]
	}
	var out []string
	for _, s := range signs {
		if s.re.MatchString(text) && !slices.Contains(out, s.why) {
			out = append(out, s.why)
		}
	}
	for _, p := range underDot.FindAllString(text, 64) {
		if hiddenPart(p) != "" {
			return append(out, "uses something under a hidden directory")
		}
	}
	return out
}

// underDot finds paths with a hidden directory in them.
var underDot = regexp.MustCompile(`(/[^\s"'()]*|~|\$HOME|\$\{HOME\})/\.[A-Za-z0-9_-]+/[^\s"'():;]+`)

// loaderVars make every program load foreign code, or every interpreter run it.
var loaderVars = []string{
	"LD_PRELOAD", "LD_AUDIT", "BASH_ENV", "ENV", "PROMPT_COMMAND", "NODE_OPTIONS", "PYTHONSTARTUP",
	"PERL5OPT", "RUBYOPT", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "GIT_SSH_COMMAND", "GIT_SSH",
	"GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_COUNT",
}

// softLoaderVars have honest uses: env.sh of the GitHub runner captures some of them.
var softLoaderVars = []string{"LD_LIBRARY_PATH", "PERL5LIB", "PYTHONPATH", "NODE_EXTRA_CA_CERTS"}

// loaderVar judges a variable of an agent's or job's environment.
func loaderVar(name string) (Severity, bool) {
	switch {
	case slices.Contains(loaderVars, name):
		return High, true
	case slices.Contains(softLoaderVars, name):
		return Low, true
	}
	return "", false
}

// impersonates says which well-known thing a file name pretends to be part of, or "".
func impersonates(name string) string {
	for _, prefix := range []string{
		"dbus-org.freedesktop", "org.freedesktop", "freedesktop", "systemd-", "dbus-", "udev", "kworker",
		"networkd", "polkit", "apt-daily", "dpkg-", "sshd-", "ssh-", "cron-", "kernel-", "gitlab-runner-update",
	} {
		if strings.HasPrefix(strings.ToLower(path.Base(name)), prefix) {
			return strings.TrimRight(prefix, "-.")
		}
	}
	return ""
}
