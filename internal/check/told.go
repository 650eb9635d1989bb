package check

import (
	"path"
	"strings"

	"cordon/internal/host/snapshot"
)

// told are places of which a section lists every entry, so that what is not in the
// snapshot was not there. "~" as a part stands for every account's home; the wildcards
// are the collector's, which leave out names that begin with a dot. It is not all that
// is read: of any other place the absence of a file says nothing.
var told = map[string][]string{
	snapshot.SectionUnits: {
		"/etc/systemd/system/*.service", "/etc/systemd/system/*.timer", "/etc/systemd/system/*.socket", "/etc/systemd/system/*.path",
		"/run/systemd/system/*.service", "/run/systemd/system/*.timer", "/usr/lib/systemd/system/*.service", "/usr/lib/systemd/system/*.timer",
		"/etc/systemd/user/*.service", "/etc/systemd/user/*.timer", "~/.config/systemd/user/*.service", "~/.config/systemd/user/*.timer",
	},
	snapshot.SectionCron: {
		"/etc/crontab", "/etc/anacrontab", "/etc/rc.local", "/etc/cron.d/*", "/etc/cron.hourly/*", "/etc/cron.daily/*", "/etc/cron.weekly/*",
		"/etc/cron.monthly/*", "/var/spool/cron/*", "/var/spool/cron/crontabs/*", "/var/spool/cron/atjobs/*", "/var/spool/at/*",
		"/var/spool/cron/tabs/*", "/etc/crontabs/*", "/etc/periodic/*/*",
	},
	snapshot.SectionKeys: {
		"/etc/passwd", "/etc/ssh/sshd_config", "/etc/ssh/sshd_config.d/*.conf", "/etc/ssh/sshrc",
		"~/.ssh/authorized_keys", "~/.ssh/authorized_keys2", "~/.ssh/rc", "~/.ssh/environment",
	},
	snapshot.SectionProfiles: {
		"/etc/profile", "/etc/bash.bashrc", "/etc/environment", "/etc/ld.so.preload", "/etc/profile.d/*",
		"~/.bashrc", "~/.bash_profile", "~/.bash_login", "~/.bash_logout", "~/.profile", "~/.zshenv", "~/.zshrc", "~/.zprofile", "~/.zlogin", "~/.gitconfig",
	},
	snapshot.SectionSystem: {
		"/etc/init.d/*", "/etc/update-motd.d/*", "/etc/pam.d/*", "/etc/sudoers", "/etc/sudoers.d/*", "/etc/modules-load.d/*", "/etc/modprobe.d/*",
		"/etc/udev/rules.d/*", "/etc/apt/apt.conf.d/*", "/etc/xdg/autostart/*", "/etc/ld.so.conf.d/*", "/etc/NetworkManager/dispatcher.d/*",
	},
	snapshot.SectionHomes: {"~/.npmrc", "~/.ssh/config", "~/.config/autostart/*", "~/.cargo/config.toml"},
}

// isTold reports whether the absence of want, a path or a pattern of paths, from the
// snapshot means that it was not on the host.
func (v *view) isTold(want string) bool {
	for section, places := range told {
		if !v.s.Seen(section) {
			continue
		}
		for _, p := range places {
			for _, at := range v.atHomes(p) {
				if subsumes(at, want) {
					return true
				}
			}
		}
	}
	return false
}

// atHomes is a place with "~" replaced. Every entry of /home is somebody's.
func (v *view) atHomes(p string) []string {
	rest, ok := strings.CutPrefix(p, "~/")
	if !ok {
		return []string{p}
	}
	out := []string{"/root/" + rest, "/home/~/" + rest}
	for _, u := range v.users {
		if strings.HasPrefix(u.home, "/") && u.home != "/" {
			out = append(out, path.Clean(u.home)+"/"+rest)
		}
	}
	return out
}

// subsumes reports whether everything that want can stand for is in place, part by part.
func subsumes(place, want string) bool {
	a, b := strings.Split(place, "/"), strings.Split(want, "/")
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		switch {
		case a[i] == b[i] && !strings.HasPrefix(b[i], "*"), a[i] == "~":
			continue
		case !strings.HasPrefix(a[i], "*") || strings.HasPrefix(b[i], ".") || strings.ContainsAny(b[i][:min(1, len(b[i]))], "*?["):
			return false // the collector's wildcards begin with *, and find no hidden names
		}
		end := a[i][1:]
		if !strings.HasSuffix(b[i], end) || end == "" && b[i] == "" {
			return false
		}
	}
	return true
}
