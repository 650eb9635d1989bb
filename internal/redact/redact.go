// Package redact replaces secrets by fingerprints before anything is kept or shown.
//
// A fingerprint is an HMAC under a key that stays on the machine: the same secret
// found in two places can be matched, and nobody without the key can test guesses
// (a bare hash of a short password can be reversed). Text works by the shape of a
// value and by the name of its key; JSON keeps only what is asked for by name;
// Known knows the exact values and also finds them encoded. All three err towards
// replacing too much. It may import the standard library and internal/secret.
package redact

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// maxPasses bounds how often Text looks again at what it wrote; two passes are
// the rule, more happen only for text made to be awkward.
const maxPasses = 16

// mark is what Text writes; text that already has it is left alone.
var mark = regexp.MustCompile(`\[redacted hmac:[0-9a-f]{16} len:[0-9]{1,9}\]`)

// Marker makes fingerprints under one key. Values are immutable and safe for
// concurrent use. The zero Marker uses a random key that lives as long as the
// process: its fingerprints compare within one run and nowhere else.
type Marker struct{ key []byte }

var processKey = sync.OnceValue(func() []byte {
	k := make([]byte, 32)
	_, _ = rand.Read(k) // never fails since Go 1.24
	return k
})

// NewMarker returns a Marker under the given HMAC-SHA256 key, 32 random bytes by
// convention. An empty key gives the zero Marker, never a guessable one.
func NewMarker(key []byte) Marker { return Marker{key: append([]byte(nil), key...)} }

// Derive returns a Marker under a key of its own, so that the fingerprints of a
// case that is handed over do not match those of the fleet it came from.
func (m Marker) Derive(label string) Marker {
	return Marker{key: m.sum("cordon-redact-derive\x00" + label)}
}

// Print is the fingerprint of a value: "hmac:" and 16 hex digits (64 bits).
func (m Marker) Print(value string) string {
	return "hmac:" + hex.EncodeToString(m.sum(value)[:8])
}

func (m Marker) sum(s string) []byte {
	key := m.key
	if len(key) == 0 {
		key = processKey()
	}
	h := hmac.New(sha256.New, key)
	h.Write([]byte(s))
	return h.Sum(nil)
}

func (m Marker) replacement(value string) string {
	return fmt.Sprintf("[redacted %s len:%d]", m.Print(value), len(value))
}

// span is the half-open byte range of one secret.
type span struct{ from, to int }

// A rule finds secrets in a piece of text that holds no marks; its spans are in
// order and do not overlap.
type rule func(s string) []span

// The rules in the order in which they run: what spans lines first, then what is
// known by the name before it, then what is known by its own shape.
var rules = []rule{privateKeys, pairs, commands, loose, userinfo, shapes}

// Text replaces every secret it recognises by "[redacted hmac:… len:N]", N being
// the length in bytes, and says how many. What is around stays byte for byte.
// Redacting a redacted text changes nothing. It never fails: text that is not
// UTF-8 is searched all the same.
func (m Marker) Text(s string) (out string, n int) {
	for range maxPasses {
		before := n
		for _, r := range rules {
			var k int
			s, k = m.apply(s, r)
			n += k
		}
		if n == before {
			break
		}
	}
	return s, n
}

// Keys replaces private keys alone: what has to go before text is taken apart by lines.
func (m Marker) Keys(s string) (out string, n int) { return m.apply(s, privateKeys) }

// apply runs one rule over the pieces between existing marks.
func (m Marker) apply(s string, r rule) (string, int) {
	var b strings.Builder
	n, at := 0, 0
	piece := func(p string) {
		last := 0
		for _, sp := range r(p) {
			if sp.from < last || sp.to <= sp.from {
				continue
			}
			b.WriteString(p[last:sp.from])
			b.WriteString(m.replacement(p[sp.from:sp.to]))
			last, n = sp.to, n+1
		}
		b.WriteString(p[last:])
	}
	for _, loc := range mark.FindAllStringIndex(s, -1) {
		piece(s[at:loc[0]])
		b.WriteString(s[loc[0]:loc[1]])
		at = loc[1]
	}
	piece(s[at:])
	if n == 0 {
		return s, 0
	}
	return b.String(), n
}
