package sshd

import (
	"strings"
	"testing"
)

// Whatever comes on standard input, what is accepted is a known script under a
// preamble of single harmless words.
func FuzzRead(f *testing.F) {
	o := Options{Scripts: []Script{{Name: "collector.sh", SHA256: digest(collector), Kind: Collect}}}
	f.Add([]byte(preamble("", "P=triage") + collector))
	f.Add([]byte(preamble("/a", "U=x.service") + collector))
	f.Add([]byte(preamble("$(id)", "P=triage") + collector))
	f.Add([]byte("N=\nR=\nP=\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := o.read(strings.NewReader(string(b)))
		if err != nil {
			return
		}
		if string(r.body) != collector || len(r.nonce) != 32 || (r.profile == "") == (r.unit == "") {
			t.Errorf("accepted %+v", r)
		}
		if strings.ContainsAny(r.nonce+r.profile+r.unit, " \t\n$`'\";&|()<>/\\") {
			t.Errorf("accepted %q %q %q", r.nonce, r.profile, r.unit)
		}
	})
}
