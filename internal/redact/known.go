package redact

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"regexp"
	"sort"
	"strings"
	"unicode/utf8"

	"cordon/internal/secret"
)

const (
	minKnown = 4   // bytes; shorter values would match everywhere
	maxExact = 512 // bytes; longer values are searched line by line
)

// Replacer takes known secrets out of text. It is immutable and safe for
// concurrent use; it holds the values, so it is never printed or kept.
type Replacer struct{ re *regexp.Regexp }

// Known returns a Replacer for exact values. It finds each one as it is, with any
// of its characters URL-encoded or JSON-escaped (also twice), in hex, and in base64
// of both alphabets, also inside a longer encoded text such as basic
// authentication. It is for panic traces and error texts, where a library may have
// printed what it was given. Values under 4 bytes are ignored; forms encoded twice
// in different ways are not found.
func Known(secrets []secret.Secret) Replacer {
	var forms []string
	seen := map[string]bool{}
	add := func(v string) {
		if len(v) < minKnown || seen[v] {
			return
		}
		seen[v] = true
		forms = append(forms, escapedForms(v))
		forms = append(forms, "(?i:"+hex.EncodeToString([]byte(v))+")")
		forms = append(forms, base64Forms(v)...)
	}
	for _, s := range secrets {
		v := s.Reveal()
		if len(v) <= maxExact {
			add(v)
			continue
		}
		for _, line := range strings.FieldsFunc(v, func(r rune) bool { return r == '\n' || r == '\r' }) {
			for len(line) > maxExact {
				add(line[:maxExact])
				line = line[maxExact:]
			}
			if len(line) >= 16 { // the last few characters of a long value alone are no use to anyone
				add(line)
			}
		}
	}
	if len(forms) == 0 {
		return Replacer{}
	}
	sort.SliceStable(forms, func(i, j int) bool { return len(forms[i]) > len(forms[j]) })
	re, err := regexp.Compile(strings.Join(forms, "|"))
	if err != nil { // every form is built from quoted pieces
		panic("redact: a known value does not compile") // without err: it would print the value
	}
	return Replacer{re: re}
}

// Text returns s with every known value replaced by secret.Placeholder, and how many were.
func (r Replacer) Text(s string) (string, int) {
	if r.re == nil {
		return s, 0
	}
	n := 0
	out := r.re.ReplaceAllStringFunc(s, func(string) string { n++; return secret.Placeholder })
	return out, n
}

// escapedForms matches the value with each character plain, percent-encoded or escaped.
func escapedForms(v string) string {
	var b strings.Builder
	for i := 0; i < len(v); {
		r, w := utf8.DecodeRuneInString(v[i:])
		raw := v[i : i+w]
		i += w
		if r == utf8.RuneError && w == 1 {
			// Not text: Go matches such a byte as U+FFFD, printers write it so or as \xNN.
			fmt.Fprintf(&b, `(?:\x{fffd}|(?i:%%%02x|\\+x%02x|\\+ufffd))`, raw[0], raw[0])
			continue
		}
		b.WriteString("(?:")
		switch {
		case r == '\\':
			b.WriteString(`\\+`)
		case strings.ContainsRune("\"'/`", r):
			b.WriteString(`\\*` + regexp.QuoteMeta(raw))
		case r == '\n':
			b.WriteString(`\n|\\+n`)
		case r == '\r':
			b.WriteString(`\r|\\+r`)
		case r == '\t':
			b.WriteString(`\t|\\+t`)
		case r == ' ':
			b.WriteString(` |\+|%(?:25)*2[bB]`)
		default:
			b.WriteString(regexp.QuoteMeta(raw))
		}
		b.WriteString("|(?i:")
		for j := range len(raw) {
			fmt.Fprintf(&b, "%%(?:25)*%02x", raw[j])
		}
		if r < 0x10000 {
			fmt.Fprintf(&b, `|\\+u%04x`, r)
		} else {
			fmt.Fprintf(&b, `|\\+u%04x\\+u%04x`, 0xd800+((r-0x10000)>>10), 0xdc00+((r-0x10000)&0x3ff))
		}
		b.WriteString("))")
	}
	return b.String()
}

// base64Forms matches the value at each of the three places it can have in a
// base64 text; the few characters at the edges that also hold neighbours are taken along.
func base64Forms(v string) []string {
	var out []string
	for shift := range 3 {
		enc := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x00", shift) + v))
		enc = strings.TrimRight(enc, "=")
		lead := []int{0, 2, 3}[shift]            // characters that hold bits of what is before
		tail := []int{0, 1, 1}[(shift+len(v))%3] // and of what follows
		if len(enc)-tail-lead < 5 {
			continue // too short to mean anything
		}
		core := enc[lead : len(enc)-tail] // bits of this value only
		var b strings.Builder
		if lead > 0 {
			b.WriteString(`[A-Za-z0-9+/_-]`)
		}
		for _, c := range core {
			switch c {
			case '+':
				b.WriteString(`(?:[+-]|%2[bB])`)
			case '/':
				b.WriteString(`(?:[/_]|%2[fF]|\\+/)`)
			default:
				b.WriteRune(c)
			}
		}
		if tail > 0 {
			b.WriteString(`[A-Za-z0-9+/_-]?`)
		}
		b.WriteString(`={0,2}`)
		out = append(out, b.String())
	}
	return out
}
