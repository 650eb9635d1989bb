package snapshot

import (
	"regexp"
	"strings"
)

// lineRule says how a file of NAME = VALUE lines is read for secrets. re has four groups:
// what stands before the name, the name, what separates it from the value, the value.
type lineRule struct {
	re      *regexp.Regexp
	shown   func(name string) bool // names whose values are kept
	indents bool                   // an indented line that sets nothing belongs to the value above
	around  string                 // what is put around a mark
	export  bool                   // "; export NAME" behind a value stays (at jobs)
}

var ourMark = regexp.MustCompile(`^\[redacted hmac:[0-9a-f]{16} len:[0-9]{1,9}\]$`)

// lines replaces the values of all names that are not shown. A value may go on in further
// lines, by a quote that is not closed or a backslash at the end. Programs that read such
// files line by line take a further line NAME=VALUE for a setting all the same, so it is
// treated as one wherever it stands: a quote that is never closed hides no hook.
func (p *parser) lines(s string, r lineRule) (string, int) {
	n, open, goesOn, hiding := 0, "", false, false
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		t := strings.TrimSuffix(l, "\r")
		inside := open != "" || goesOn
		m := r.re.FindStringSubmatch(t)
		if m == nil {
			if r.indents && hiding && strings.TrimLeft(t, " \t") != t {
				inside = true
			}
			if inside {
				if hiding && p.secret(strings.Trim(t, " \t\\\"'")) {
					lines[i] = p.hidden(strings.Trim(t, " \t\\\"'"))
					n++
				}
				open, goesOn = unclosed(open, t)
			} else if strings.TrimSpace(t) != "" {
				hiding = false
			}
			continue
		}
		v, tail := m[4], ""
		if !inside {
			hiding = !r.shown(m[2])
			open, goesOn = unclosed("", v)
		} else {
			open, goesOn = unclosed(open, t)
		}
		if at := strings.LastIndex(v, "; export "+m[2]); r.export && at >= 0 {
			v, tail = v[:at], v[at:]
		}
		if v = strings.Trim(v, " \t\"'"); r.shown(m[2]) || !p.secret(v) {
			continue
		}
		lines[i] = m[1] + m[2] + m[3] + r.around + p.hidden(v) + r.around + tail
		n++
	}
	return strings.Join(lines, "\n"), n
}

// secret reports whether there is anything in v to hide.
func (p *parser) secret(v string) bool {
	return strings.Trim(v, `"'\`) != "" && !ourMark.MatchString(v)
}

// unclosed reads s as a shell and TOML do, from inside the quote open (empty: none). It
// returns the quote that is open at its end, and whether the line ends in a backslash.
func unclosed(open, s string) (string, bool) {
	for i := 0; i < len(s); {
		rest := s[i:]
		end := strings.TrimPrefix(open, "$")
		switch {
		case rest[0] == '\\' && open != "'" && open != "'''":
			if len(rest) == 1 {
				return open, true
			}
			i += 2
		case open != "" && strings.HasPrefix(rest, end):
			open = ""
			i += len(end)
		case open == "" && quoteRE.MatchString(rest):
			open = quoteRE.FindString(rest)
			i += len(open)
		default:
			i++
		}
	}
	return open, false
}

var quoteRE = regexp.MustCompile(`^(?:"""|'''|\$'|"|')`)
