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

func loginCheck() Check {
	return Check{
		ID:     "logins",
		Title:  "Accounts, and what runs when one logs in",
		Why:    "A second root, an account of the system with a password or a line in PAM lets somebody in as often as he likes; PAM sees the passwords, and your login too.",
		Reads:  "/etc/passwd, /etc/shells, of /etc/shadow who has a password and since when, /etc/pam.d, PAM modules, /etc/update-motd.d, desktop autostart",
		Root:   "passwords of accounts",
		Needs:  []string{snapshot.SectionKeys, snapshot.SectionSystem, snapshot.SectionHomes, snapshot.SectionOwned},
		Attack: []string{"T1098", "T1136.001"},
		NIST:   []string{"AC-2", "IA-5", "SI-7"},
		look: func(v *view) []Finding {
			out := v.judged(loginPlaces)
			out = append(out, v.accountFindings()...)
			return append(out, v.passwords()...)
		},
	}
}

var loginPlaces = []place{
	{inDir("/etc/update-motd.d"), []string{"T1037"}, "a script runs at every login, as root", script},
	{inDir("/etc/pam.d"), []string{"T1556.003"}, "PAM starts a program at logins", judgePAM},
	{inDir("/usr/lib/security", "/usr/lib/*/security", "/lib/*/security", "/lib/security"), []string{"T1556.003"}, "a PAM module that is not as it came", judgePAMModule},
	{
		func(p string) bool {
			return path.Dir(p) == "/etc/xdg/autostart" || strings.HasSuffix(path.Dir(p), "/.config/autostart")
		},
		[]string{"T1547.013"},
		"a program starts with a desktop session", judgeAutostart,
	},
	{func(p string) bool { return p == "/etc/shells" }, []string{"T1098.004"}, "the list of login shells was extended", judgeShells},
}

var (
	pamPrograms = regexp.MustCompile(`\bpam_(exec|python|script)\.so\b`)
	// pamElsewhere is a module or more rules by an absolute path (pam.conf(5)).
	pamElsewhere = regexp.MustCompile(`^(?:-?(?:auth|account|password|session)\s+(?:\[[^\]]*\]|\S+)|@include)\s+(/\S+)`)
	pamDirs      = regexp.MustCompile(`^/(usr/)?(lib(32|64)?(/[^/]+)?/security|etc/pam\.d|usr/lib/pam\.d)/[^/]+$`)
)

func judgePAM(v *view, p string, f *snapshot.File, why *reasons) {
	if f.Type != "file" {
		return
	}
	for line := range strings.Lines(string(f.Content)) {
		line = strings.TrimSpace(line)
		if more := pamElsewhere.FindStringSubmatch(line); more != nil && !pamDirs.MatchString(more[1]) {
			why.add(High, "%s: %s is no place of a package's", quote(line), quote(more[1]))
			continue
		}
		if strings.HasPrefix(line, "#") || !pamPrograms.MatchString(line) {
			continue
		}
		s := Medium
		if strings.Contains(line, "expose_authtok") || len(suspicious(line)) > 0 || strings.Contains(line, "pam_exec") && slices.Contains([]string{"sshd", "common-auth", "su", "sudo", "login", "system-auth", "password-auth"}, path.Base(p)) {
			s = High
		}
		why.add(s, "%s. It runs when you log in, too", quote(line))
	}
	if strings.HasSuffix(p, ".bak") && v.foreign(p) {
		why.add(Medium, "a copy that tools leave which change PAM")
	}
}

// modulesTogether are PAM modules of one package: packed at one time.
var modulesTogether = []string{"pam_deny.so", "pam_permit.so", "pam_env.so", "pam_unix.so"}

func judgePAMModule(v *view, p string, f *snapshot.File, why *reasons) {
	base := path.Base(p)
	switch {
	case strings.HasSuffix(base, ".bak") || strings.HasSuffix(base, ".orig") || strings.HasSuffix(base, ".original"):
		why.add(High, "a copy that is left where the module was replaced")
	case f.Type == "file" && strings.HasSuffix(base, ".so") && v.foreign(p):
		why.add(Medium, "no package brought it")
	case base == "pam_unix.so":
		for _, other := range modulesTogether {
			o := v.files[path.Join(path.Dir(p), other)]
			if o != nil && !o.Mtime.IsZero() && f.Mtime.Sub(o.Mtime).Abs().Hours() > 48 {
				why.add(High, "it is from %s and %s of the same package from %s", f.Mtime.Format("2006-01-02"), other, o.Mtime.Format("2006-01-02"))
				return
			}
		}
	}
	if pamModule(base) && why.worst == "" {
		if middle, late := v.changedLater(p, f, pamModule); late {
			why.add(High, "it changed at %s, and the other modules of its package at %s%s", f.Ctime.Format(time.DateTime), middle.Format(time.DateTime), setBack(f))
		}
	}
}

func judgeAutostart(v *view, p string, f *snapshot.File, why *reasons) {
	if f.Type != "file" || !strings.HasSuffix(p, ".desktop") {
		return
	}
	u, home := v.homeOwner(p)
	if !home && !v.foreign(p) && v.packaged != nil {
		return
	}
	exec := ""
	for line := range strings.Lines(string(f.Content)) {
		if x, ok := strings.CutPrefix(strings.TrimSpace(line), "Exec="); ok {
			exec = x
		}
	}
	switch {
	case home && v.isRunner(u):
		why.add(High, "%s is the account of the jobs and has no desktop: %s", quote(u.name), quote(exec))
	case home && below(p, u.home):
		why.add(Medium, "on a machine without a desktop nobody needs it: %s", quote(exec))
	case v.packaged != nil:
		why.add(Medium, "no package brought it: %s", quote(exec))
	}
	if signs := suspicious(exec); len(signs) > 0 {
		why.add(High, "it %s", strings.Join(signs, ", "))
	}
}

var plainShells = regexp.MustCompile(`^(/usr)?/s?bin/(sh|bash|rbash|dash|zsh|ksh|ksh93|mksh|ash|fish|tmux|screen|tcsh|csh|nologin|false|sync|shutdown|halt|git-shell|busybox|pwsh|systemd-home-fallback-shell)$`)

func judgeShells(_ *view, _ string, f *snapshot.File, why *reasons) {
	for line := range strings.Lines(string(f.Content)) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case line == "" || line[0] == '#':
		case strings.TrimSpace(line) != line:
			why.add(High, "%q looks like a shell and has a blank at its end", quoteRaw(line))
		case strings.HasSuffix(line, "/nologin") || strings.HasSuffix(line, "/false"):
			why.add(Medium, "%s counts as a login shell", quote(line))
		case !plainShells.MatchString(line) && (oddPlace(line) != "" || !inSystem(line)):
			why.add(High, "%s is no shell of a package", quote(line))
		}
	}
}

// quoteRaw keeps blanks at the ends, which are the point.
func quoteRaw(s string) string { return untrusted.Clean(s, 200) }

// accountFindings judges /etc/passwd itself.
func (v *view) accountFindings() []Finding {
	f := v.files["/etc/passwd"]
	if f == nil {
		return nil
	}
	var out []Finding
	add := func(s Severity, attack, title, format string, args ...any) {
		out = append(out, Finding{Severity: s, Title: title, Where: "/etc/passwd", Attack: []string{attack}, Detail: text(format, args...), Evidence: evidenceFile(f)})
	}
	for line := range strings.Lines(string(f.Content)) {
		if f := strings.Split(strings.TrimRight(line, "\r\n"), ":"); len(f) >= 7 && strings.Trim(f[1], "x*!") != "" {
			add(High, "T1098", "a password stands in /etc/passwd", "The account %s has one there, where no system has kept them for thirty years.", quote(f[0]))
		}
	}
	var people []string
	for _, u := range v.users {
		shell := strings.TrimRight(u.shell, "\r\n")
		switch {
		case u.uid == 0 && u.name != "root":
			add(Critical, "T1098", "a second account is root", "%s has the number 0: whoever has its password or key is root.", quote(u.name))
		case strings.TrimSpace(shell) != shell:
			add(High, "T1098.004", "an account has a shell with a blank in its name", "%s has %q, which looks like another program.", quote(u.name), quoteRaw(shell))
		case shell != "" && !plainShells.MatchString(shell) && (oddPlace(shell) != "" || !inSystem(shell)):
			add(High, "T1098", "an account has a shell that no package brought", "%s has %s.", quote(u.name), quote(shell))
		case u.uid >= 1000 && u.uid < 65000 && !strings.HasSuffix(shell, "nologin") && !strings.HasSuffix(shell, "false"):
			people = append(people, quote(u.name))
		}
	}
	if len(people) > 0 {
		add(Info, "T1136.001", "accounts of people", "%s. Compare with who should have one.", strings.Join(people[:min(len(people), 30)], ", "))
	}
	return out
}

// passwords judges who can log in with a password: "name hash|none|open day".
func (v *view) passwords() []Finding {
	list, _ := v.s.Fact("shadow")
	var out []Finding
	add := func(s Severity, title, format string, args ...any) {
		out = append(out, Finding{Severity: s, Title: title, Where: "/etc/shadow", Detail: text(format, args...), Evidence: []string{"facts:shadow"}})
	}
	var have []string
	for line := range strings.Lines(list) {
		part := strings.Fields(line)
		if len(part) < 2 {
			continue
		}
		u, known := v.byName(part[0])
		switch {
		case part[1] == "open":
			add(High, "an account needs no password", "%s has an empty one.", quote(part[0]))
		case part[1] == "hash" && known && u.system():
			add(Medium, "an account of the system has a password", "%s is for a service, and a password opens it%s.", quote(part[0]), changed(part))
		case part[1] == "hash":
			have = append(have, quote(part[0])+changed(part))
		}
	}
	if len(have) > 0 {
		add(Info, "accounts with a password", "%s. A day that nobody remembers is a change that somebody else made.", strings.Join(have[:min(len(have), 30)], "; "))
	}
	return out
}

// changed says on which day the password was changed (shadow(5): days since 1970).
func changed(part []string) string {
	if len(part) < 3 {
		return ""
	}
	day := dayOf(part[2])
	if day == "" {
		return ""
	}
	return ", set on " + day
}
