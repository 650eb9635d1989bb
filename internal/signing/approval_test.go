package signing

import (
	"errors"
	"strings"
	"testing"
	"time"
)

const request = NamespaceApproval + `
case K SIMULATED
step remove: Deregister: for good
task remove/3/gl/runner/42
target gl/runner/42
plan 0123 deregister/only: remove 42
asked by alice (on call) (key none), counts until 2026-11-30T12:00:00Z
binds sha256:BINDS
`

// agreed is a right approval of a request.
func agreed(t *testing.T) Agreed {
	t.Helper()
	s, err := Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	binds := Bind("remove", "remove/3/gl/runner/42", "0123", "gl/runner/42")
	g := Agreed{Text: strings.Replace(request, "BINDS", binds, 1), Person: "bob", Key: s.Fingerprint(), Binds: binds, Plan: "0123", Line: "bob " + s.PublicKey()}
	sig, err := s.Sign(NamespaceApproval, []byte(g.Text))
	if err != nil {
		t.Fatal(err)
	}
	g.Sig = string(sig)
	return g
}

func TestARequestIsReadAsItWasWritten(t *testing.T) {
	a, err := ParseApproval(strings.Replace(request, "BINDS", "ab", 1))
	want := Approval{"K", true, "remove", "remove/3/gl/runner/42", "0123", "alice (on call)", "", time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), "ab"}
	if err != nil || a != want {
		t.Errorf("%v\n%+v\n%+v", err, a, want)
	}
	for _, bad := range []string{"", request + "more\n", strings.Replace(request, "task ", "tusk ", 1), strings.Replace(request, "T12:00", " noon", 1), strings.Replace(request, "(on call)", "\x1b[2J", 1)} {
		if _, err := ParseApproval(bad); !errors.Is(err, ErrRequest) {
			t.Errorf("%.40q is read: %v", bad, err)
		}
	}
}

// What stands beside the signature is held against what was signed.
func TestAnApprovalOnRecordIsNoBetterThanItsSignature(t *testing.T) {
	if _, err := agreed(t).Check("K", true, "remove", "gl/runner/42"); err != nil {
		t.Fatal(err)
	}
	other := agreed(t)
	for name, spoil := range map[string]func(*Agreed){
		"no signature":        func(g *Agreed) { g.Sig = armorBegin + "nothing\n" + armorEnd },
		"another's signature": func(g *Agreed) { g.Sig = other.Sig },
		"another key is said": func(g *Agreed) { g.Key = other.Key },
		"another plan":        func(g *Agreed) { g.Plan = "4567" },
		"bound to another":    func(g *Agreed) { g.Binds = Bind("remove", "remove/3/gl/runner/43", "0123", "gl/runner/42") },
		"the text is longer":  func(g *Agreed) { g.Text = strings.Replace(g.Text, "T12:00", "T13:00", 1) },
		"another line":        func(g *Agreed) { g.Line = other.Line },
		"no line at all":      func(g *Agreed) { g.Line = "bob" },
	} {
		g := agreed(t)
		spoil(&g)
		if _, err := g.Check("K", true, "remove", "gl/runner/42"); !errors.Is(err, ErrBadSignature) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, at := range map[string][3]string{
		"another case": {"L", "remove", "gl/runner/42"}, "another step": {"K", "stop", "gl/runner/42"}, "another target": {"K", "remove", "gl/runner/43"},
	} {
		if _, err := agreed(t).Check(at[0], true, at[1], at[2]); !errors.Is(err, ErrBadSignature) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := agreed(t).Check("K", false, "remove", "gl/runner/42"); !errors.Is(err, ErrBadSignature) {
		t.Errorf("signed in a lab, counts for real: %v", err)
	}
}

func TestALineIsWrittenAsItIsRead(t *testing.T) {
	s, err := Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"bob@example.org " + s.PublicKey(),
		`"bob, robert" namespaces="a,b",valid-after="20260101000000Z",valid-before="20270101000000Z" ` + s.PublicKey(),
		"*@example.org cert-authority " + s.PublicKey(),
	} {
		l, err := ParseAllowed(strings.NewReader(line))
		if err != nil || len(l) != 1 || l[0].String() != line {
			t.Errorf("%v\n%s\n%s", err, line, l[0])
		}
	}
}
