package check

import (
	"path"
	"slices"
	"strings"
)

// tempDirs are places anybody may write to.
var tempDirs = []string{"/tmp", "/var/tmp", "/dev/shm", "/run/shm", "/dev/mqueue"}

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

var plainDots = []string{
	".gitlab-runner", ".cargo", ".local", ".nvm", ".pyenv", ".rbenv", ".sdkman", ".docker", ".npm", ".runner",
	".asdf", ".rvm", ".rustup", ".volta", ".dotnet",
}

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
