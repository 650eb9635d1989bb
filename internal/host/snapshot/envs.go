package snapshot

import (
	"regexp"
	"strings"
)

var (
	envsRE = regexp.MustCompile(`^(\s*)["']?envs["']?\s*:\s*(.*)$`)
	yamlRE = regexp.MustCompile(`^(\s*)["']?([A-Za-z_][A-Za-z0-9_.-]*)["']?(\s*:\s*)(.*)$`)
	keyEnd = regexp.MustCompile(`(?i)(^|[_-])key$`)
)

// envs replaces, in the configuration of an act_runner or forgejo-runner, the variables
// it gives to jobs (runner.envs), whatever their names, and what is called a key.
func (p *parser) envs(s string) (string, int) {
	n, deep, flow := 0, -1, false
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		t := strings.TrimSuffix(l, "\r")
		word := strings.TrimSpace(t)
		if word == "" || strings.HasPrefix(word, "#") && !flow {
			continue
		}
		indent := len(t) - len(strings.TrimLeft(t, " \t"))
		if flow || deep >= 0 && indent > deep {
			m := yamlRE.FindStringSubmatch(t)
			switch {
			case m == nil || flow:
				if !ourMark.MatchString(word) {
					lines[i] = t[:indent] + p.hidden(word)
					n++
				}
			case !shown(m[2]) && p.secret(m[4]):
				lines[i] = m[1] + m[2] + m[3] + p.hidden(strings.Trim(m[4], ` "'`))
				n++
			}
			flow = flow && !strings.Contains(word, "}")
			continue
		}
		deep = -1
		if m := envsRE.FindStringSubmatch(t); m != nil {
			deep = indent
			if rest := strings.TrimSpace(m[2]); strings.Trim(rest, "{} ") != "" && !strings.HasPrefix(rest, "#") {
				lines[i] = m[1] + "envs: " + p.hidden(rest)
				n++
			}
			flow = strings.Contains(m[2], "{") && !strings.Contains(m[2], "}")
		} else if m := yamlRE.FindStringSubmatch(t); m != nil && keyEnd.MatchString(m[2]) && p.secret(m[4]) {
			lines[i] = m[1] + m[2] + m[3] + p.hidden(strings.Trim(m[4], ` "'`))
			n++
		}
	}
	return strings.Join(lines, "\n"), n
}
