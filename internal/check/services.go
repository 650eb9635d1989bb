package check

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
)

func servicesCheck() Check {
	return Check{
		ID:     "event-hooks",
		Title:  "What the bus, a device or the loader starts",
		Why:    "These places start a program, as root, at an event an intruder can cause, and stand in no list of services.",
		Reads:  "D-Bus services and policies, udev's rules, binfmt_misc, /etc/ld.so.conf and its directory; tmpfiles.d, logrotate.d, rsyslog, needrestart and bash_completion.d below /etc, nsswitch.conf, vimrc.local",
		Needs:  []string{snapshot.SectionSystem, snapshot.SectionKernel, snapshot.SectionOwned},
		Attack: []string{"T1546", "T1543"},
		NIST:   []string{"CM-7", "SI-7"},
		look:   func(v *view) []Finding { return v.judged(slices.Concat(servicePlaces, eventPlaces)) },
	}
}

var servicePlaces = []place{
	{inDir("/usr/share/dbus-1/system-services", "/usr/local/share/dbus-1/system-services"), []string{"T1543"}, "the bus starts a program on request", judgeBusService},
	{inDir("/etc/dbus-1/system.d"), []string{"T1543"}, "anybody may take a name on the system bus", judgeBusPolicy},
	{
		inDir("/etc/udev/rules.d", "/run/udev/rules.d", "/usr/local/lib/udev/rules.d", "/usr/lib/udev/rules.d", "/lib/udev/rules.d"),
		[]string{"T1546.017"},
		"a program starts with a device", judgeUdev,
	},
	{inDir("/proc/sys/fs/binfmt_misc"), []string{"T1546"}, "a kind of file is run by another program", judgeBinfmt},
	{
		func(p string) bool { return p == "/etc/ld.so.conf" || path.Dir(p) == "/etc/ld.so.conf.d" },
		[]string{"T1574.006"},
		"programs look for libraries in another place", judgeLoaderPath,
	},
}

func judgeBusService(v *view, p string, f *snapshot.File, why *reasons) {
	exec := ""
	for line := range strings.Lines(string(f.Content)) {
		if x, ok := strings.CutPrefix(strings.TrimSpace(line), "Exec="); ok {
			exec = x
		}
	}
	if f.Type != "file" || exec == "" {
		return
	}
	if v.foreign(p) {
		why.add(Medium, "no package brought it; it starts %s", quote(exec))
	}
	if signs := strongSigns(exec); len(signs) > 0 || v.packaged == nil && below(execPath(exec), "/usr/local") {
		why.add(High, "it starts %s: %s", quote(exec), strings.Join(signs, ", "))
	}
}

// busComment and busPolicy read a policy of the bus (dbus-daemon(1)): what stands in
// "default" or "mandatory" is for everybody.
var (
	busComment = regexp.MustCompile(`(?s)<!--.*?-->`)
	busPolicy  = regexp.MustCompile(`(?s)<policy\b[^>]*\bcontext\s*=\s*["'](?:default|mandatory)["'][^>]*>(.*?)</policy\s*>`)
	busOwn     = regexp.MustCompile(`(?s)<allow\b[^>]*\bown(?:_prefix)?\s*=`)
)

// ownsByDefault reports whether anybody may take a name on the bus by that policy.
func ownsByDefault(policy string) bool {
	for _, m := range busPolicy.FindAllStringSubmatch(busComment.ReplaceAllString(policy, ""), -1) {
		if busOwn.MatchString(m[1]) {
			return true
		}
	}
	return false
}

func judgeBusPolicy(v *view, p string, f *snapshot.File, why *reasons) {
	switch {
	case f.Type != "file":
	case ownsByDefault(string(f.Content)):
		why.add(Medium, "its default policy has allow own")
	case v.foreign(p):
		why.add(Low, "no package brought it")
	}
}

var udevStarts = regexp.MustCompile(`\b(RUN(\{\w+\})?\s*\+?=|PROGRAM\s*[=!]?=|IMPORT\{program\}\s*=)\s*"([^"]*)"`)

func judgeUdev(v *view, p string, f *snapshot.File, why *reasons) {
	if f.Type != "file" {
		return
	}
	if f.Content == "" && f.Size > 0 && v.foreign(p) { // the vendor's directories are listed, not read
		why.add(Medium, "no package brought it, among the rules of packages")
	}
	for line := range strings.Lines(string(f.Content)) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for _, m := range udevStarts.FindAllStringSubmatch(line, 8) {
			builtin := strings.HasPrefix(m[2], "{builtin}")
			switch signs := suspicious(m[3]); {
			case builtin:
			case len(signs) > 0 && !(v.packaged != nil && !v.foreign(p)):
				why.add(High, "%s: it %s", quote(m[3]), strings.Join(signs, ", "))
			case v.foreign(p) || v.packaged == nil && !below(p, "/usr/lib") && !below(p, "/lib"):
				why.add(Medium, "it starts %s, and no package brought the rule", quote(m[3]))
			}
		}
	}
}

// judgeBinfmt reads an entry as the kernel shows it: "interpreter PATH", "flags: F".
func judgeBinfmt(_ *view, p string, f *snapshot.File, why *reasons) {
	base := path.Base(p)
	if base == "register" || base == "status" || f.Type != "file" {
		return
	}
	for line := range strings.Lines(string(f.Content)) {
		exe, ok := strings.CutPrefix(strings.TrimSpace(line), "interpreter ")
		if !ok {
			continue
		}
		name := path.Base(exe)
		switch {
		case oddPlace(exe) != "":
			why.add(High, "%s: the program %s", quote(exe), oddPlace(exe))
		case !inSystem(exe) || below(exe, "/usr/local"):
			why.add(Medium, "%s lies outside the directories of packages", quote(exe))
		case strings.HasPrefix(name, "qemu-") || slices.Contains([]string{"python3", "jexec", "mono", "wine", "box64", "llvm", "lli"}, strings.TrimRight(name, "0123456789.")):
			why.add(Info, "%s", quote(exe))
		default:
			why.add(Low, "%s", quote(exe))
		}
	}
}

func judgeLoaderPath(v *view, p string, f *snapshot.File, why *reasons) {
	for line := range strings.Lines(string(f.Content)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if more, ok := strings.CutPrefix(line, "include "); ok {
			if more = strings.TrimSpace(more); path.Dir(path.Join("/etc", more)) != "/etc/ld.so.conf.d" && path.Dir(more) != "/etc/ld.so.conf.d" {
				why.add(Medium, "its list goes on in %s, which was not read", quote(more))
			}
			continue
		}
		switch {
		case oddPlace(line) != "" || below(line, "/home") || below(line, "/root"):
			why.add(High, "%s: whoever writes there gives every program its libraries", quote(line))
		case v.foreign(p) && !below(line, "/opt") && !below(line, "/usr/local") && !below(line, "/usr/lib"):
			why.add(Medium, "%s, and no package brought the file", quote(line))
		case v.foreign(p):
			why.add(Low, "%s", quote(line))
		}
	}
}
