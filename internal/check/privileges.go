package check

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

func privilegesCheck() Check {
	return Check{
		ID:     "privileges",
		Title:  "Who can become root",
		Why:    "A job that can become root owns the machine, the runner's credential and every later job.",
		Reads:  "files with setuid and setgid bits, file capabilities (getcap), /etc/group, /etc/sudoers and sudoers.d, polkit's rules",
		Root:   "sudoers, polkit's rules, setuid files below other users' directories",
		Needs:  []string{snapshot.SectionPrivileged, snapshot.SectionSystem, snapshot.SectionKeys, snapshot.SectionOwned},
		Attack: []string{"T1548"},
		NIST:   []string{"AC-6", "SI-7"},
		look: func(v *view) []Finding {
			out := v.judged(privilegePlaces)
			return slices.Concat(out, v.capabilities(), v.groupFindings())
		},
		unseen: func(v *view) string { return both(v.noCapabilities(), v.unreadSudoers()) },
	}
}

// noCapabilities says why the capabilities of files are not known.
func (v *view) noCapabilities() string {
	if _, ok := v.s.Fact("caps"); ok || !v.s.Seen(snapshot.SectionPrivileged) {
		return ""
	}
	for _, g := range v.s.Gaps {
		if g.Name == "capabilities" {
			return g.Why
		}
	}
	return ""
}

var privilegePlaces = []place{
	{isSudoers, []string{"T1548.003"}, "sudo lets an account become root", judgeSudoers},
	{inDir("/etc/polkit-1/rules.d", "/usr/local/share/polkit-1/rules.d", "/usr/share/polkit-1/rules.d"), []string{"T1556"}, "polkit allows without asking", judgePolkit},
	{inDir("/etc/polkit-1/localauthority/*", "/var/lib/polkit-1/localauthority/*"), []string{"T1556"}, "polkit allows without asking", judgePolkit},
	{func(string) bool { return true }, []string{"T1548.001"}, "a program runs with the rights of its owner", judgeSetuid},
}

// starters run what they are told: with setuid or a capability they are a way to root.
var starters = regexp.MustCompile(`^(bash|dash|sh|zsh|ksh|ash|busybox|find|vim(\.\w+)?|vi|nano|less|more|env|cp|mv|tar|awk|gawk|mawk|sed|perl[0-9.]*|python[0-9.]*|ruby[0-9.]*|php[0-9.]*|node|nodejs|gdb|strace|tcpdump|nmap|docker|git|make|cat|tee|dd|install|rsync|socat|nc|ncat)$`)

// plainSetuid are what distributions ship so; used where no list of packages says it.
var plainSetuid = []string{
	"su", "sudo", "sudoedit", "passwd", "chsh", "chfn", "chage", "gpasswd", "newgrp", "sg", "expiry", "mount", "umount", "fusermount", "fusermount3", "pkexec",
	"polkit-agent-helper-1", "dbus-daemon-launch-helper", "ssh-keysign", "ssh-agent", "unix_chkpwd", "pam_timestamp_check", "at", "crontab", "wall", "write", "bsd-write",
	"newuidmap", "newgidmap", "snap-confine", "ping", "ping6", "pppd", "utempter", "dotlockfile", "mlocate", "plocate", "locate", "exim4", "postdrop", "postqueue",
	"ntfs-3g", "mount.nfs", "mount.cifs", "bwrap", "Xorg.wrap", "doas", "unix_update", "userhelper", "grub2-set-bootflag", "staprun", "netreport", "lockdev", "bbsuid", "procmail", "screen",
}

func judgeSetuid(v *view, p string, f *snapshot.File, why *reasons) {
	if f.Section != snapshot.SectionPrivileged || f.Type != "file" || f.Mode&0o6000 == 0 {
		return
	}
	base := path.Base(p)
	uid := f.Mode&0o4000 != 0
	switch {
	case uid && f.UID == 0 && starters.MatchString(base):
		why.add(High, "%s runs whatever it is told, as root (mode %04o)", quote(base), f.Mode)
	case uid && oddPlace(p) != "":
		why.add(High, "it %s (mode %04o)", oddPlace(p), f.Mode)
	case v.foreign(p) && uid && f.UID == 0:
		why.add(High, "no package brought it, and it runs as root (mode %04o)", f.Mode)
	case v.foreign(p):
		why.add(Medium, "no package brought it (mode %04o, owner %d)", f.Mode, f.UID)
	case v.packaged == nil && !slices.Contains(plainSetuid, base):
		why.add(Medium, "distributions do not ship it so (mode %04o)", f.Mode)
	case f.Mode&0o002 != 0:
		why.add(High, "anybody may write to it (mode %04o)", f.Mode)
	}
}

// strongCaps are as good as root (capabilities(7)).
var strongCaps = regexp.MustCompile(`cap_(setuid|setgid|dac_override|dac_read_search|sys_admin|sys_ptrace|sys_module|chown|fowner|setfcap|mknod|sys_rawio)|=ep|all`)

func (v *view) capabilities() []Finding {
	list, _ := v.s.Fact("caps")
	var out []Finding
	for line := range strings.Lines(list) {
		p, caps, ok := strings.Cut(strings.TrimSpace(line), " ")
		caps = strings.TrimPrefix(strings.TrimSpace(caps), "= ")
		if !ok || !strings.Contains(caps, "cap_") && !strings.Contains(caps, "=ep") {
			continue
		}
		base, s := path.Base(p), Severity("")
		switch {
		case strongCaps.MatchString(caps) && (starters.MatchString(base) || oddPlace(p) != ""):
			s = High
		case strongCaps.MatchString(caps) && !slices.Contains([]string{"newuidmap", "newgidmap", "snap-confine", "gst-ptp-helper", "cap_net_raw", "suexec"}, base):
			s = Medium
		default:
			continue
		}
		out = append(out, Finding{
			Severity: s, Title: "a program has a capability as good as root", Where: untrusted.Text(p), Evidence: []string{"facts:caps"},
			Detail: text("%s: whoever starts it has it. Neither its mode nor its time of change shows this.", quote(caps)),
		})
	}
	return out
}

var unconditional = regexp.MustCompile(`(?s)addRule\(function\([^)]*\)\s*\{\s*return\s+polkit\.Result\.YES`)

func judgePolkit(v *view, p string, f *snapshot.File, why *reasons) {
	content := string(f.Content)
	switch {
	case f.Type != "file":
	case strings.HasSuffix(p, ".pkla"):
		for line := range strings.Lines(content) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			if strings.HasPrefix(key, "Result") && value == "yes" && !(v.packaged != nil && !v.foreign(p)) {
				why.add(Medium, "%s", quote(line))
			}
		}
	case unconditional.MatchString(content):
		why.add(High, "it says yes to everything")
	case strings.Contains(content, "Result.YES") && (v.foreign(p) || v.packaged == nil && below(p, "/etc")):
		why.add(Medium, "it says yes to something without a password, and no package brought it")
	}
}

// dayOf turns days since 1970 into a date, "" where they are none.
func dayOf(days string) string {
	n, err := strconv.Atoi(days)
	if err != nil || n <= 0 || n > 40_000 {
		return ""
	}
	return time.Unix(int64(n)*86_400, 0).UTC().Format("2006-01-02")
}
