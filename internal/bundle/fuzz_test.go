package bundle

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"cordon/internal/signing"
)

// Whatever comes, Verify ends in rows, and only what its author signed is trusted.
func FuzzVerify(f *testing.F) {
	m := newCase(f, nil)
	m.keep(f, "a.json", `{"id":42}`)
	m.sign(f)
	good := m.export(f)
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add([]byte("<html>"))
	f.Add(resealed(f, entries(f, good), signer(f), signing.NamespaceBundle))
	f.Add(packed(f, []one{file1(journalName, "{}\n"), file1(manifestName, "x"), file1(infoName, ": \n")}))
	allowed := m.allowed(f)
	signed := unpacked(f, good)
	f.Fuzz(func(t *testing.T, b []byte) {
		rep, err := Verify(bytes.NewReader(b), VerifyOptions{Allowed: allowed, Limits: Limits{Entries: 200, Entry: 1 << 20, Total: 1 << 22}})
		if err != nil && !errors.Is(err, ErrIntegrity) || len(rep.Checks) != 15 || (err == nil) != rep.OK() {
			t.Fatalf("%v %+v", err, rep)
		}
		if rep.Trusted() {
			// The frame may differ (times, modes, order); the files may not.
			for name, body := range unpacked(t, b) {
				if signed[name] != body {
					t.Fatalf("%s is not what was signed", name)
				}
			}
		}
	})
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte("0000000000000000000000000000000000000000000000000000000000000000  data/a\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parseManifest(b)
		if err != nil {
			return
		}
		for name := range m {
			if !cleanName(name) {
				t.Fatalf("%q", name)
			}
		}
		if n := bytes.Count(b, []byte("\n")); n != len(m) {
			t.Fatalf("%d lines, %d names", n, len(m))
		}
	})
}

// What somebody pasted is a head with a time, or one line that says how to write it. What
// is taken is hex of the length that Verify looks for, and never reaches further than
// the minute that was written down.
func FuzzParseSeen(f *testing.F) {
	for _, s := range []string{
		"0123456789ab@2026-11-30T12:05:00Z", "0123456789AB…@2026-11-30T12:05Z", "0123456789abcdef@2026-11-30 13:05+01:00",
		"0123456789ab@2026-11-30T12:05:00.25Z", "@", "0123456789ab@", "0123456789ab....@2026-11-30T12:05Z", "0123456789ab@9999-12-31T23:59Z",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, err := ParseSeen(s)
		if err != nil {
			if h != (SeenHead{}) || strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Fatalf("%+v %q", h, err)
			}
			return
		}
		if !seenForm.MatchString(h.Prefix) || h.At.Location() != time.UTC {
			t.Fatalf("%q is %+v", s, h)
		}
		again, err := ParseSeen(h.Prefix + "@" + h.At.Format("2006-01-02T15:04:05.000000000Z07:00"))
		if h.At.Year() >= 0 && h.At.Year() <= 9999 && (err != nil || again != h) {
			t.Fatalf("%q is %+v, written out it is %+v, %v", s, h, again, err)
		}
	})
}
