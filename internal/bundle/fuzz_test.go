package bundle

import (
	"bytes"
	"errors"
	"testing"

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
		if err != nil && !errors.Is(err, ErrIntegrity) || len(rep.Checks) != 14 || (err == nil) != rep.OK() {
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
