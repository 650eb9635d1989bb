package snapshot

import (
	"regexp"
	"strings"
)

// curlLine is an option of curl's own file (curl(1), --config): with or without hyphens,
// its value behind "=", ":" or a blank.
var curlLine = regexp.MustCompile(`^(\s*-{0,2})([A-Za-z][A-Za-z0-9.-]*)(\s*[=:]\s*|\s+)(.*)$`)

// shownCurl are the options that say whom curl talks to and whom it believes.
var shownCurl = map[string]bool{
	"proxy": true, "x": true, "preproxy": true, "socks4": true, "socks4a": true, "socks5": true, "socks5-hostname": true, "noproxy": true,
	"insecure": true, "k": true, "proxy-insecure": true, "cacert": true, "capath": true, "resolve": true, "connect-to": true,
	"doh-url": true, "url": true, "config": true, "K": true, "output": true, "o": true,
}

// curlrc replaces the value of every other option: of user, header and data above all.
func (p *parser) curlrc(s string) (string, int) {
	n := 0
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		t := strings.TrimSpace(l)
		if t == "" || t[0] == '#' {
			continue
		}
		m := curlLine.FindStringSubmatch(strings.TrimSuffix(l, "\r"))
		switch {
		case m != nil && shownCurl[m[2]], m == nil && shownCurl[strings.TrimLeft(t, "-")]:
		case m != nil && p.secret(strings.Trim(m[4], " \t\"'")):
			lines[i] = m[1] + m[2] + m[3] + p.hidden(strings.Trim(m[4], " \t\"'"))
			n++
		case m == nil && p.secret(t): // "-uNAME:WORD", or what nobody knows
			lines[i] = p.hidden(t)
			n++
		}
	}
	return strings.Join(lines, "\n"), n
}

// nsswitch looks for secrets behind the names of databases: "passwd:" there is none.
func (p *parser) nsswitch(s string) (string, int) {
	n := 0
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		name, list, ok := strings.Cut(l, ":")
		if !ok || name != "passwd" && name != "shadow" {
			list, name = l, ""
		} else {
			name += ":"
		}
		out, k := p.x.Marker.Text(list)
		lines[i], n = name+out, n+k
	}
	return strings.Join(lines, "\n"), n
}
