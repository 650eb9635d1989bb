package redact

import (
	"regexp"
	"strings"
)

var (
	// afterKeyRE: closing quote of the key, separator, blanks.
	afterKeyRE = regexp.MustCompile(`^(?:\\*["'])?[ \t]*(=>|:=|==?|:)[ \t]*`)
	// afterFlagRE: between a flag and its value; /proc/PID/cmdline has NULs.
	afterFlagRE = regexp.MustCompile(`^[ \t\x00]+`)
	schemeRE    = regexp.MustCompile(`^(?i:bearer|basic|token|digest|negotiate|apikey|glpat|ntlm)[ \t]+`)
	// referenceRE: a reference to a variable, blanks and all.
	referenceRE = regexp.MustCompile(`^(?:\$\{\{[^{}\n]*\}\}|\{\{[^{}\n]*\}\}|\$\{[^{}\n]*\}|\$\([^()\n]*\))`)
	blockRE     = regexp.MustCompile(`^[|>][+-]?[0-9]?[+-]?[ \t]*\r?\n`)
)

// pairs finds values by the name before them: KEY=value, key: value, "key":"value",
// --key value. It also takes over for headers, YAML block scalars and the lists
// that Go prints.
func pairs(s string) []span {
	var out []span
	end := 0
	for _, name := range names(s) {
		if name.from < end {
			continue
		}
		key := s[name.from:name.to]
		if !sensitive(key) {
			continue
		}
		rest := s[name.to:]
		if sudoWord(s[:name.from], key, rest) {
			continue
		}
		sp, ok := span{}, false
		if m := afterKeyRE.FindStringSubmatch(rest); m != nil {
			if m[1] == ":" && name.from > 0 && s[name.from-1] == '/' {
				continue // "/etc/passwd: permission denied" is about a file
			}
			from := name.to + len(m[0])
			sp, ok = value(s, from, key, startsLine(s[:name.from]) && (m[1] != "=" || strings.ContainsAny(m[0], " \t")))
		} else if strings.HasPrefix(key, "-") {
			if m := afterFlagRE.FindString(rest); m != "" && !strings.HasPrefix(rest[len(m):], "-") {
				sp, ok = value(s, name.to+len(m), key, false)
			}
		} else if m := afterFlagRE.FindString(rest); m != "" && strings.EqualFold(key, "bearer") {
			sp, ok = value(s, name.to+len(m), key, false)
			ok = ok && sp.to-sp.from >= 8 && (sp.to-sp.from >= 20 || strings.ContainsAny(s[sp.from:sp.to], "0123456789._"))
		}
		if ok {
			out = append(out, sp)
			end = sp.to
		}
	}
	return out
}

// startsLine reports whether before ends where a line's content begins, as it does
// before the keys of YAML, of unit files and of headers.
func startsLine(before string) bool {
	before = strings.TrimRight(before, " \t")
	before = strings.TrimRight(strings.TrimSuffix(before, "export"), " \t")
	before = strings.TrimRight(strings.TrimSuffix(before, "-"), " \t")
	return before == "" || strings.HasSuffix(before, "\n") || strings.HasSuffix(before, "\r")
}

// value finds the extent of the value that starts at from. whole says that the
// value, where it is not quoted, reaches to the end of its line.
func value(s string, from int, key string, whole bool) (span, bool) {
	rest := s[from:]
	to := 0
	for _, q := range []string{`"""`, "'''"} { // TOML
		if body, ok := strings.CutPrefix(rest, q); ok {
			if to = strings.Index(body, q); to < 0 {
				to = len(body)
			}
			v := strings.TrimSpace(body[:to])
			from += len(q) + strings.Index(body, v)
			return span{from, from + len(v)}, !plain(key, v)
		}
	}
	slashes := len(rest) - len(strings.TrimLeft(rest, `\`))
	if slashes < len(rest) && (rest[slashes] == '"' || rest[slashes] == '\'' || rest[slashes] == '`') {
		q := rest[:slashes+1]
		from += len(q)
		rest = rest[len(q):]
		to = closing(rest, q)
	} else if n := bracket(rest); plainWords[strings.ToLower(rest[:n])] && n > 0 {
		from += n // somebody else's mask, and what may stand behind it
		to = bare(rest[n:], key, false)
		rest = rest[n:]
	} else if n > 0 {
		from++
		rest = strings.TrimSuffix(rest[1:n], "]")
		to = len(rest)
	} else if m := blockRE.FindString(rest); m != "" && whole {
		return block(s, from, len(m))
	} else if strings.HasPrefix(rest, "{") && !strings.HasPrefix(rest, "{{") {
		return span{}, false // what is inside has names of its own
	} else {
		to = bare(rest, key, whole)
	}
	v := rest[:to]
	if m := schemeRE.FindString(v); m != "" {
		from += len(m)
		v = v[len(m):]
	}
	trimmed := strings.TrimLeft(v, " \t")
	from += len(v) - len(trimmed)
	v = strings.TrimRight(trimmed, " \t\r\n")
	if plain(key, v) {
		return span{}, false
	}
	return span{from, from + len(v)}, true
}

// closing is the index of the quote q in s, or of the end of the line.
func closing(s, q string) int {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\n', s[i] == 0:
			return i
		case strings.HasPrefix(s[i:], q):
			return i
		case len(q) == 1 && s[i] == '\\' && q != "'":
			i++
		}
	}
	return len(s)
}

// bracket is the length of the bracketed text at the start of s, on one line; 0
// where there is none.
func bracket(s string) int {
	if !strings.HasPrefix(s, "[") {
		return 0
	}
	for i := range len(s) {
		switch s[i] {
		case ']':
			return i + 1
		case '\n', 0:
			return i
		}
	}
	return len(s)
}

// bare is the length of an unquoted value. It looks no further than the value goes:
// a megabyte of "token=a,token=a" must not be read once for every one of them.
func bare(s, key string, whole bool) int {
	stop := " \t\r\n\x00\"'`<"
	k := strings.ToLower(key)
	header := strings.HasSuffix(k, "authorization") || strings.HasSuffix(k, "cookie")
	if header {
		stop = "\r\n\x00\"'`" // a header is several words
	} else if whole {
		stop = "\r\n\x00"
	}
	if m := referenceRE.FindString(s); m != "" {
		return len(m)
	}
	to := 0
	for to < len(s) && strings.IndexByte(stop, s[to]) < 0 && (whole || !nextBegins(s[to:])) {
		to++
	}
	if whole {
		if i := strings.Index(s[:to], " #"); i >= 0 {
			to = i
		}
		return len(strings.TrimRight(s[:to], " \t,;"))
	}
	return len(strings.TrimRight(s[:to], ")}],;&"))
}

// nextBegins reports whether s begins with a separator that another pair, a string
// or a list follows.
func nextBegins(s string) bool {
	if s[0] != ',' && s[0] != ';' && s[0] != '&' {
		return false
	}
	i := 1
	for i < len(s) && (s[i] == '_' || s[i] == '.' || s[i] == '-' || '0' <= s[i] && s[i] <= '9' || 'a' <= s[i]|0x20 && s[i]|0x20 <= 'z') {
		i++
	}
	if i == 1 {
		return len(s) > 1 && strings.IndexByte("\"'{[", s[1]) >= 0
	}
	return i < len(s) && (s[i] == '=' || s[i] == ':')
}

// block is the extent of a YAML block scalar: the following lines that are blank
// or indented.
func block(s string, from, head int) (span, bool) {
	start := from + head
	to := start
	for to < len(s) {
		nl := strings.IndexByte(s[to:], '\n')
		line := s[to:]
		if nl >= 0 {
			line = s[to : to+nl]
		}
		if strings.TrimSpace(line) != "" && line[0] != ' ' && line[0] != '\t' {
			break
		}
		if nl < 0 {
			to = len(s)
			break
		}
		to += nl + 1
	}
	text := strings.TrimRight(s[start:to], " \t\r\n")
	lead := len(text) - len(strings.TrimLeft(text, " \t\r\n"))
	return span{start + lead, start + len(text)}, len(text) > lead
}

// commandRE: secrets that are known only by the command they belong to.
var commandRE = regexp.MustCompile(strings.Join([]string{
	`gitlab-runner[^\n]*?[ \x00](?:-t|-r)[ =\x00]+([^\s\x00"']+)`,
	`\b(?:curl|wget)[^\n|;&]*?[ \x00](?:-u|--user|--proxy-user)[ =\x00]*["']?[^\s\x00:"'-][^\s\x00:"']*:([^\s\x00"']+)`,
	`\bsshpass[ \x00]+-p[ \x00]*([^\s\x00"']+)`,
	`(?i:\blogin\s+\S+\s+password\s+)(\S+)`,
	`\b(?:mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump|mariadb-admin)\b[^\n|;&]*?[ \x00]-p([^\s\x00"']+)`,
	`<(?i:[A-Z0-9_.:-]*(?:token|secret|passw|passphrase|credential|key)[A-Z0-9_.:-]*)>([^<>\s]+)</`,
}, "|"))

// commandWords: without one of them commandRE has nothing to find. It is slow, and
// most text has none.
var commandWords = []string{"gitlab-runner", "curl", "wget", "sshpass", "ogin", "OGIN", "</", "mysql", "mariadb"}

// looseRE: what is a secret only where it looks like one: the word behind a -p, which
// is a port or a path elsewhere, and what is said to be a password in a sentence.
var looseRE = regexp.MustCompile(`(?:^|[ \x00])-p[ \x00]+["']?([A-Za-z0-9!@#%^*+_~?]{8,})(?:["'\s\x00]|$)|` +
	`\b(?i:password|passwd|passphrase)\s+(?:is|was)\s*:?\s+["']?([^\s"'\x00]{6,})`)

func loose(s string) []span {
	if !strings.Contains(s, "-p") && !strings.Contains(s, "ass") && !strings.Contains(s, "ASS") {
		return nil
	}
	var out []span
	for _, loc := range looseRE.FindAllStringSubmatchIndex(s, -1) {
		for g := 2; g < len(loc); g += 2 {
			if loc[g] < 0 {
				continue
			}
			if v := s[loc[g]:loc[g+1]]; strings.ContainsAny(v, "0123456789") && strings.ContainsAny(strings.ToLower(v), "abcdefghijklmnopqrstuvwxyz") {
				out = append(out, span{loc[g], loc[g+1]})
			}
		}
	}
	return out
}

func commands(s string) []span {
	if !hasAny(s, commandWords) {
		return nil
	}
	var out []span
	for _, loc := range commandRE.FindAllStringSubmatchIndex(s, -1) {
		for g := 2; g < len(loc); g += 2 {
			if loc[g] >= 0 && !plain("token", s[loc[g]:loc[g+1]]) && !strings.HasPrefix(s[loc[g]:], "-") {
				out = append(out, span{loc[g], loc[g+1]})
			}
		}
	}
	return out
}
