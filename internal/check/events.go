package check

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
)

// eventPlaces are settings of services that start a program, or write files, as root.
var eventPlaces = []place{
	{inDir("/etc/tmpfiles.d"), []string{"T1546"}, "systemd writes files at every boot", judgeTmpfiles},
	{inDir("/etc/logrotate.d"), []string{"T1546"}, "a script runs when logs are rotated", judgeStarted(`^\s*(prerotate|postrotate|firstaction|lastaction|preremove)\b`)},
	{
		func(p string) bool { return p == "/etc/rsyslog.conf" || path.Dir(p) == "/etc/rsyslog.d" },
		[]string{"T1546"},
		"the log service starts a program", judgeStarted(`\bomprog\b|\bbinary\s*=|^[^#$]*\s\^/`),
	},
	{inDir("/etc/needrestart/conf.d", "/etc/needrestart/hook.d", "/etc/needrestart/notify.d", "/etc/needrestart/restart.d"), []string{"T1546.016"}, "a script runs after every installation", script},
	{func(p string) bool { return p == "/etc/nsswitch.conf" }, []string{"T1556"}, "programs load a module that no system ships", judgeNSS},
	{
		func(p string) bool { return p == "/etc/vim/vimrc.local" || path.Dir(p) == "/etc/bash_completion.d" },
		[]string{"T1546.004"},
		"every shell or editor reads it", judgeReadByShells,
	},
}

// kernelHooks run when a kernel is installed or removed.
var kernelHooks = inDir("/etc/kernel/postinst.d", "/etc/kernel/postrm.d", "/etc/kernel/preinst.d", "/etc/kernel/prerm.d", "/etc/kernel/install.d")

// tmpStarts are places where a file is enough to be started or believed.
var tmpStarts = regexp.MustCompile(`^/(etc/(cron|anacrontab|ld\.so|systemd|sudoers|profile|pam|ssh|init|rc|passwd|shadow|group|udev|bash)|usr/(local/)?s?bin|usr/lib|s?bin|lib|root|var/spool/cron|home/[^/]+/\.)`)

// judgeTmpfiles reads tmpfiles.d(5): type, path, mode, user, group, age, argument.
func judgeTmpfiles(v *view, p string, f *snapshot.File, why *reasons) {
	if f.Type != "file" {
		return
	}
	own := v.packaged == nil || v.foreign(p)
	if v.foreign(p) {
		why.add(Low, "no package brought %s", quote(path.Base(p)))
	}
	for line := range strings.Lines(string(f.Content)) {
		w := strings.Fields(line)
		if len(w) < 2 || strings.HasPrefix(w[0], "#") || !own {
			continue
		}
		switch mode := strings.TrimLeft(value(w, 2), "~:"); {
		case strings.ContainsAny(w[0][:1], "fFwLC") && tmpStarts.MatchString(path.Clean(w[1])):
			why.add(High, "it makes %s: %s", quote(w[1]), quote(line))
		case len(mode) > 3 && strings.ContainsAny(mode[len(mode)-4:len(mode)-3], "4567"):
			why.add(High, "it sets a setuid bit: %s", quote(line))
		}
	}
}

func value(w []string, i int) string {
	if i < len(w) {
		return w[i]
	}
	return ""
}

// judgeStarted judges settings in which a program is started by a line that fits.
func judgeStarted(pattern string) func(*view, string, *snapshot.File, *reasons) {
	starts := regexp.MustCompile(pattern)
	return func(v *view, p string, f *snapshot.File, why *reasons) {
		if f.Type != "file" {
			return
		}
		content := string(f.Content)
		if signs := clear(content); len(signs) > 0 {
			why.add(High, "it %s", strings.Join(signs, ", "))
		}
		if !v.foreign(p) {
			return
		}
		if signs := suspicious(content); len(signs) > 0 {
			why.add(High, "no package brought it, and it %s", strings.Join(signs, ", "))
		}
		for line := range strings.Lines(content) {
			if !strings.HasPrefix(strings.TrimSpace(line), "#") && starts.MatchString(line) {
				why.add(Medium, "no package brought %s, and it starts a program: %s", quote(path.Base(p)), quote(line))
			}
		}
	}
}

// judgeReadByShells: administrators put the completions of their tools there.
func judgeReadByShells(v *view, p string, f *snapshot.File, why *reasons) {
	if f.Type != "file" {
		return
	}
	content := string(f.Content)
	if signs := clear(content); len(signs) > 0 {
		why.add(High, "it %s", strings.Join(signs, ", "))
	}
	if v.foreign(p) {
		why.add(Low, "no package brought %s", quote(path.Base(p)))
		if signs := suspicious(content); len(signs) > 0 {
			why.add(Medium, "it %s", strings.Join(signs, ", "))
		}
	}
}

// nssModules are what glibc, systemd and the usual directories of accounts bring.
var nssModules = []string{
	"files", "compat", "db", "nis", "nisplus", "ldap", "sss", "systemd", "winbind", "wins", "extrausers", "altfiles", "hesiod", "dns", "cache", "mymachines",
	"myhostname", "resolve", "mdns", "mdns4", "mdns6", "mdns_minimal", "mdns4_minimal", "mdns6_minimal", "libvirt", "libvirt_guest", "gw_name",
	"oslogin", "cache_oslogin", "aad", "himmelblau", "kanidm", "authd", "role", "usrfiles", "sudo", "docker",
}

// judgeNSS reads nsswitch.conf(5): every program that looks up a name loads
// libnss_MODULE.so.2 for each word.
func judgeNSS(_ *view, _ string, f *snapshot.File, why *reasons) {
	for line := range strings.Lines(string(f.Content)) {
		line, _, _ = strings.Cut(line, "#")
		base, list, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		for w := range strings.FieldsSeq(regexp.MustCompile(`\[[^\]]*\]`).ReplaceAllString(list, " ")) {
			if !slices.Contains(nssModules, w) {
				why.add(Medium, "%s: %s, so that every program which looks up a name loads libnss_%s.so.2", quote(base), quote(w), quote(w))
			}
		}
	}
}

// aptUnsigned are sources whose packages nobody has to have signed: [trusted=yes] of a
// line, Trusted: yes of a paragraph (sources.list(5)).
var aptUnsigned = regexp.MustCompile(`(?i)^\s*deb(-src)?\s+\[[^\]]*\b(trusted|allow-insecure)=yes|^\s*(trusted|allow-insecure)\s*:\s*(yes|true|1|on)\b`)

func isAptSource(p string) bool {
	return p == "/etc/apt/sources.list" || path.Dir(p) == "/etc/apt/sources.list.d"
}

func judgeAptSource(_ *view, _ string, f *snapshot.File, why *reasons) {
	for line := range strings.Lines(string(f.Content)) {
		if aptUnsigned.MatchString(line) {
			why.add(Medium, "%s: whoever answers there puts programs on this host as root", quote(line))
		}
	}
}

var curlOption = regexp.MustCompile(`^\s*-{0,2}([A-Za-z][A-Za-z0-9-]*)(?:\s*[=:\s]\s*"?([^"]*))?$`)

// judgeCurl judges whom curl talks to and believes.
func judgeCurl(_ *view, _ string, f *snapshot.File, why *reasons) {
	for line := range strings.Lines(string(f.Content)) {
		m := curlOption.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		switch m[1] {
		case "insecure", "k", "proxy-insecure":
			why.add(Medium, "%s: it believes every server", quote(line))
		case "proxy", "x", "preproxy", "socks5", "socks5-hostname", "socks4", "socks4a", "connect-to", "resolve", "doh-url":
			s := Low
			if bareAddress.MatchString("//"+m[2]) || bareAddress.MatchString(m[2]) || m[1] == "connect-to" || m[1] == "resolve" {
				s = Medium
			}
			why.add(s, "%s: what it fetches comes through there", quote(line))
		}
	}
}
