package check

import (
	"path"
	"regexp"
	"strings"

	"cordon/internal/host/snapshot"
)

// isSudoers reports whether p is one of the files that sudo reads by itself.
func isSudoers(p string) bool { return p == "/etc/sudoers" || path.Dir(p) == "/etc/sudoers.d" }

var includes = regexp.MustCompile(`^[@#]include(?:dir)?\s+(.+)$`)

// sudoersInclude is the file or directory from which a line of p takes more rules
// (sudoers(5), where "#" begins no comment in such a line); "" where it takes none.
func sudoersInclude(p, line string) string {
	m := includes.FindStringSubmatch(strings.TrimSpace(line))
	if m == nil {
		return ""
	}
	more := strings.ReplaceAll(strings.Trim(strings.TrimSpace(m[1]), `"`), `\ `, " ")
	if !path.IsAbs(more) {
		more = path.Join(path.Dir(p), more)
	}
	return path.Clean(more)
}

var nopasswd = regexp.MustCompile(`NOPASSWD\s*:\s*(.*)$`)

func judgeSudoers(v *view, p string, f *snapshot.File, why *reasons) {
	if f.Type == "file" && path.Base(p) != "README" {
		v.judgeRules(p, string(f.Content), true, why)
	}
}

// judgeRules judges the lines of one file of rules, and with more those of files that it
// takes in, a step deep: what lies further is told as not read.
func (v *view) judgeRules(p, content string, more bool, why *reasons) {
	for line := range strings.Lines(strings.ReplaceAll(content, "\\\n", " ")) {
		line = strings.TrimSpace(line)
		if in := sudoersInclude(p, line); in != "" {
			switch {
			case isSudoers(in) || in == "/etc/sudoers.d":
			case more && wasRead(v.files[in]):
				v.judgeRules(in, string(v.files[in].Content), false, why)
			default:
				why.add(Medium, "its rules go on in %s, which was not read", quote(in))
			}
			continue
		}
		if line == "" || line[0] == '#' {
			continue
		}
		who := strings.Fields(line)[0]
		switch m := nopasswd.FindStringSubmatch(line); {
		case strings.HasPrefix(line, "Defaults") && strings.Contains(line, "env_keep") && strings.Contains(line, "LD_"):
			why.add(High, "%s: who may use sudo loads his own code into root's programs", quote(line))
		case strings.HasPrefix(line, "Defaults") && (strings.Contains(line, "!authenticate") || strings.Contains(line, "!env_reset")):
			why.add(Medium, "%s", quote(line))
		case m == nil:
		case v.runners[who].name != "":
			why.add(Medium, "%s, the account of the jobs, may run %s as root without a password: every job is root here", quote(who), quote(m[1]))
		case v.meant[who] != "":
			why.add(Medium, "%s, the account of the jobs, is meant by %s and may run %s as root without a password: every job is root here", quote(v.meant[who]), quote(who), quote(m[1]))
		case path.Base(p) == "90-cloud-init-users" || path.Base(p) == "google_sudoers" || path.Base(p) == "waagent":
			why.add(Low, "%s: the cloud's own file", quote(line))
		case strings.Contains(m[1], "ALL") || strings.HasPrefix(m[1], "[redacted"): // what was taken for a secret may be ALL
			why.add(Medium, "%s: root without a password", quote(line))
		default:
			why.add(Low, "%s", quote(line))
		}
	}
}

// unreadSudoers names the places of rules that were not read.
func (v *view) unreadSudoers() string {
	var names []string
	v.followed(func(p string, f *snapshot.File) {
		if !isSudoers(p) || f.Type != "file" {
			return
		}
		for line := range strings.Lines(string(f.Content)) {
			more := sudoersInclude(p, line)
			if more != "" && !isSudoers(more) && more != "/etc/sudoers.d" && !wasRead(v.files[more]) {
				names = append(names, more)
			}
		}
	})
	return notRead("rules of sudo that lie elsewhere", names)
}
