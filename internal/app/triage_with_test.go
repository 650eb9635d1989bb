package app

import (
	"crypto/rand"
	"slices"
	"testing"

	"cordon/internal/target"
)

// A case finds its hosts by the addresses that a provider gives. Where it gives none, the
// proposed command names them, or the case that it opens is about no host.
func TestTheProposedCaseNamesTheHostsThatItsProviderDoesNot(t *testing.T) {
	for _, c := range []struct {
		name, asked, from string // address that the runner's machine came from
		installed         bool   // the last check of build-07 found it
		want              string
	}{
		{"the provider says where it is", "build-07", "127.0.0.77", true, "cordon contain gl/runner/42"},
		{"the alert names the host", "build-07", "", false, "cordon contain gl/runner/42 --host build-07"},
		{"the alert names the host's address", "127.0.0.77", "", true, "cordon contain gl/runner/42 --host build-07"},
		{"its installation is known there", "gl/runner/42", "", true, "cordon contain gl/runner/42 --host build-07"},
		{"an installation behind another address", "gl/runner/42", "127.0.0.99", true, "cordon contain gl/runner/42 --host build-07"},
		{"nothing leads to a host", "gl/runner/42", "", false, "cordon contain gl/runner/42"},
		{"the alert names a host, and the provider another address", "build-07", "127.0.0.99", false, "cordon contain gl/runner/42"},
	} {
		w := newWorld(t)
		w.ips[42] = c.from
		a := w.open()
		if c.installed {
			w.keep(a, "check-1", "build-07", "glrt-t3_"+rand.Text(), w.srv.URL)
		}
		card := w.triage(a, c.asked)
		if len(card.Next) == 0 || card.Next[0].Command != c.want {
			t.Errorf("%s: %+v, want %q", c.name, card.Next, c.want)
			continue
		}
		one := card.Only()
		s, err := a.subject(t.Context(), one.Ref.String(), CaseSpec{Hosts: one.With}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.ContainsFunc(s.all, func(r target.Ref) bool { return r.ID == "build-07" })
		if want := c.name != "nothing leads to a host" && c.from != "127.0.0.99" || c.installed; got != want {
			t.Errorf("%s: the case is about %v", c.name, s.all)
		}
	}
}
