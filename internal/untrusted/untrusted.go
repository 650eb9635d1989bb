// Package untrusted makes foreign text safe to show.
//
// Every name, label, log line and error text from a provider or a host is foreign.
// Display and export go through Text or Clean: control characters, escape sequences,
// bidirectional and invisible characters become visible escapes (Trojan Source,
// CVE-2021-42574; kubectl CVE-2021-25743). Standard library only.
package untrusted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxShown is how many runes Text shows before it cuts.
const MaxShown = 512

// Text is a foreign string. Printing it with any verb shows the cleaned form; its
// JSON keeps the value but escapes every character that a terminal could act on.
type Text string

// String returns the cleaned form on one line, cut at MaxShown runes.
func (t Text) String() string { return Clean(string(t), MaxShown) }

// Format implements fmt.Formatter so that %q, %s and %v are all safe.
func (t Text) Format(f fmt.State, verb rune) {
	if verb == 'q' {
		fmt.Fprintf(f, "\"%s\"", t.String())
		return
	}
	_, _ = f.Write([]byte(t.String()))
}

// MarshalJSON keeps the value exactly (invalid UTF-8 is replaced) with every
// unprintable character as a \u escape.
func (t Text) MarshalJSON() ([]byte, error) {
	b, err := json.Marshal(string(t))
	if err != nil {
		return nil, err
	}
	return EscapeJSON(b), nil
}

// EscapeJSON rewrites unprintable characters inside already valid JSON as \u
// escapes; the meaning of the document does not change.
func EscapeJSON(b []byte) []byte {
	var out bytes.Buffer
	for _, r := range string(b) {
		switch {
		case r == '\n' || r == '\t' || printable(r):
			out.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.Bytes()
}

// Clean returns s on one line with everything a terminal, a spreadsheet or a reader
// could be misled by written as a visible escape, cut after max runes of output
// (max <= 0: not cut). Invalid bytes become \xNN.
func Clean(s string, max int) string {
	var b strings.Builder
	n, marks := 0, 0
	for i := 0; i < len(s); {
		r, w := utf8.DecodeRuneInString(s[i:])
		var piece string
		switch {
		case r == utf8.RuneError && w == 1:
			piece = fmt.Sprintf(`\x%02x`, s[i])
		case unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r):
			if marks++; marks > 2 { // a pile of combining marks climbs over other rows
				piece = fmt.Sprintf(`\u{%x}`, r)
			} else {
				piece = string(r)
			}
		case printable(r):
			marks, piece = 0, string(r)
		case r == '\n':
			piece = `\n`
		case r == '\r':
			piece = `\r`
		case r == '\t':
			piece = ` `
		case r < 0x100:
			piece = fmt.Sprintf(`\x%02x`, r)
		default:
			piece = fmt.Sprintf(`\u{%x}`, r)
		}
		i += w
		if n += utf8.RuneCountInString(piece); max > 0 && n > max {
			b.WriteString("...")
			break
		}
		b.WriteString(piece)
	}
	return b.String()
}

// printable reports whether r may reach a terminal as it is.
func printable(r rune) bool {
	switch {
	case r == ' ':
		return true
	case r < 0x20, r >= 0x7f && r < 0xa0, r == 0x00ad:
		return false
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0x061c, r == 0xfeff:
		return false
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0000 && r <= 0xe0fff:
		return false
	}
	return unicode.IsPrint(r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r)
}
