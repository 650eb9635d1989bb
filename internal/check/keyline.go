package check

import (
	"strings"

	"cordon/internal/untrusted"
)

// keyLine is one line of authorized_keys(5).
type keyLine struct {
	options       []string
	kind, comment string
	tail          string // the last characters of the key: enough to tell two apart
}

// String names a key for a person: its type, its last characters, its comment.
func (k keyLine) String() string {
	s := untrusted.Clean(k.kind, 60)
	if k.tail != "" {
		s += " …" + untrusted.Clean(k.tail, 12)
	}
	if k.comment != "" {
		s += " (" + quote(k.comment) + ")"
	}
	return s
}

// keyLines reads the format of sshd(8): options with quoted commas, type, key, comment.
func keyLines(content string) []keyLine {
	var out []keyLine
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		var k keyLine
		first, rest := field(line)
		if !keyType(first) {
			k.options = splitOptions(first)
			first, rest = field(rest)
		}
		k.kind = first
		blob, comment := field(rest)
		k.comment = strings.TrimSpace(comment)
		k.tail = blob[max(0, len(blob)-8):]
		out = append(out, k)
	}
	return out
}

func keyType(s string) bool {
	return strings.HasPrefix(s, "ssh-") || strings.HasPrefix(s, "ecdsa-") || strings.HasPrefix(s, "sk-")
}

// field cuts at the first blank outside quotes.
func field(s string) (first, rest string) {
	s = strings.TrimLeft(s, " \t")
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quoted:
			i++
		case s[i] == '"':
			quoted = !quoted
		case !quoted && (s[i] == ' ' || s[i] == '\t'):
			return s[:i], strings.TrimLeft(s[i:], " \t")
		}
	}
	return s, ""
}

func splitOptions(s string) []string {
	var out []string
	var one strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == ',' && !quoted:
			out = append(out, one.String())
			one.Reset()
			continue
		case s[i] == '\\' && quoted && i+1 < len(s):
			one.WriteByte(s[i])
			i++
		case s[i] == '"':
			quoted = !quoted
		}
		one.WriteByte(s[i])
	}
	return append(out, one.String())
}
