package check

import (
	"path"
	"strings"
)

// unit is a systemd unit file or drop-in: section, key, values in their order.
type unit struct{ lines []unitLine }

type unitLine struct{ section, key, value string }

// parseUnit reads systemd.syntax(7): comments, continued lines, repeated keys. It
// never fails; what is no assignment is skipped, as systemd does.
func parseUnit(text string) unit {
	var u unit
	section, carry := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if carry == "" && (line == "" || line[0] == '#' || line[0] == ';') {
			continue
		}
		if head, more := strings.CutSuffix(line, `\`); more {
			carry += head + " "
			continue
		}
		line, carry = carry+line, ""
		if name, ok := strings.CutPrefix(line, "["); ok {
			section = strings.TrimSuffix(name, "]")
			continue
		}
		if key, value, ok := strings.Cut(line, "="); ok {
			u.lines = append(u.lines, unitLine{section, strings.TrimSpace(key), strings.TrimSpace(value)})
		}
	}
	return u
}

// all returns the values of a key; an empty assignment resets the list (systemd.service(5)).
func (u unit) all(section, key string) []string {
	var out []string
	for _, l := range u.lines {
		if l.section == section && l.key == key {
			if l.value == "" {
				out = nil
				continue
			}
			out = append(out, l.value)
		}
	}
	return out
}

func (u unit) last(section, key string) string {
	if v := u.all(section, key); len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}

// environment returns the assignments of Environment=, quotes removed.
func (u unit) environment() map[string]string {
	out := map[string]string{}
	for _, section := range execSections {
		u.assigned(section, "Environment", out)
	}
	return out
}

// assigned puts the variables that a key sets into out.
func (u unit) assigned(section, key string, out map[string]string) {
	for _, l := range u.all(section, key) {
		for _, word := range splitCommand(l) {
			if k, v, ok := strings.Cut(word, "="); ok {
				out[k] = v
			}
		}
	}
}

// execSections are the sections of units that start programs (systemd.exec(5)).
var execSections = []string{"Service", "Socket", "Mount", "Swap"}

// runner reports whether the unit called name starts a CI runner.
func (u unit) runner(name string) bool {
	if runnerUnitName(name) {
		return true
	}
	for _, e := range u.all("Service", "ExecStart") {
		words := splitCommand(e)
		if len(words) == 0 {
			continue
		}
		exe := execPath(words[0])
		if agentKind(exe) != "" || path.Base(exe) == "runsvc.sh" {
			return true
		}
	}
	return false
}

// runnerUnitName knows the names that installers give.
func runnerUnitName(name string) bool {
	name = strings.TrimSuffix(name, ".service")
	name, _, _ = strings.Cut(name, "@")
	switch name {
	case "gitlab-runner", "act_runner", "act-runner", "gitea-runner", "forgejo-runner", "buildkite-agent":
		return true
	}
	return strings.HasPrefix(name, "actions.runner.") || strings.HasPrefix(name, "vsts.agent.")
}

// execPath removes systemd's prefixes (-, @, :, +, !) from the program of an Exec line.
func execPath(word string) string { return strings.TrimLeft(word, "-@:+!") }

// unitDirs are the directories systemd reads units from, vendor's first.
var (
	vendorUnitDirs = []string{"/usr/lib/systemd/system", "/lib/systemd/system", "/usr/lib/systemd/user", "/lib/systemd/user", "/usr/share/systemd/user"}
	adminUnitDirs  = []string{"/etc/systemd/system", "/etc/systemd/user"}
)

// userUnitDir reports whether p is a unit of one account (systemd.unit(5), user search path).
func userUnitDir(p string) bool {
	return strings.Contains(p, "/.config/systemd/user") || strings.Contains(p, "/.local/share/systemd/user")
}

// isUnitFile reports whether p is a service unit in a directory systemd reads.
func isUnitFile(p string) bool {
	return strings.HasSuffix(p, ".service") && strings.Contains(p, "/systemd/") && !strings.Contains(p, ".d/") &&
		!strings.Contains(p, ".wants/") && !strings.Contains(p, ".requires/")
}

// splitCommand splits as systemd and the shell do for the plain cases: blanks, quotes
// and backslashes. It expands nothing.
func splitCommand(line string) []string {
	var out []string
	var word strings.Builder
	var quoted byte
	open := false
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\\' && quoted != '\'' && i+1 < len(line):
			i++
			word.WriteByte(line[i])
			open = true
		case quoted != 0:
			if c == quoted {
				quoted = 0
			} else {
				word.WriteByte(c)
			}
		case c == '"' || c == '\'':
			quoted, open = c, true
		case c == ' ' || c == '\t':
			if open {
				out = append(out, word.String())
				word.Reset()
				open = false
			}
		default:
			word.WriteByte(c)
			open = true
		}
	}
	if open {
		out = append(out, word.String())
	}
	return out
}

// flagValue returns the value of the first of names in args: "--user x" or "--user=x".
func flagValue(args []string, names ...string) string {
	for i, a := range args {
		for _, n := range names {
			if a == n && i+1 < len(args) {
				return args[i+1]
			}
			if v, ok := strings.CutPrefix(a, n+"="); ok {
				return v
			}
		}
	}
	return ""
}
