package signing

import (
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"
	"time"
)

func rawKey(t *testing.T) *ed25519.PrivateKey {
	t.Helper()
	_, k, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &k
}

func TestWhyASignerIsNotAllowedIsSaid(t *testing.T) {
	s, _ := Ephemeral()
	o, _ := Ephemeral()
	armored, err := s.Sign(NamespaceBundle, message)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for line, why := range map[string]string{
		"a OTHER":                            "not in the list",
		`a namespaces="file" KEY`:            "other namespaces",
		`a valid-after="20270101Z" KEY`:      "only after 2027",
		`a valid-before="20260101Z" KEY`:     "only until 2026",
		`a cert-authority KEY`:               "only as cert-authority",
		"a OTHER\na cert-authority KEY\n":    "line 2",
		"\n\n# c\n a namespaces=\"git\" KEY": "line 4",
	} {
		allowed, err := ParseAllowed(strings.NewReader(strings.NewReplacer("KEY", s.PublicKey(), "OTHER", o.PublicKey()).Replace(line)))
		if err != nil {
			t.Fatal(line, err)
		}
		_, fp, err := Verify(NamespaceBundle, message, armored, allowed, at)
		if !errors.Is(err, ErrNotAllowed) || errors.Is(err, ErrBadSignature) || !strings.Contains(err.Error(), why) || fp != s.Fingerprint() {
			t.Errorf("%q: %v, want %q", line, err, why)
		}
	}
}

// A second line may allow what the first does not.
func TestEveryLineOfAKeyIsTried(t *testing.T) {
	s, _ := Ephemeral()
	armored, _ := s.Sign(NamespaceBundle, message)
	allowed, err := ParseAllowed(strings.NewReader(`a namespaces="file" ` + s.PublicKey() + "\nb@x " + s.PublicKey()))
	if err != nil {
		t.Fatal(err)
	}
	if who, _, err := Verify(NamespaceBundle, message, armored, allowed, time.Time{}); who != "b@x" || err != nil {
		t.Error(who, err)
	}
}

func TestALineThatCannotBeReadIsAnErrorWithItsNumber(t *testing.T) {
	s, _ := Ephemeral()
	for _, line := range []string{"x", "x y", `"x KEY`, `x option KEY`, `x valid-after="no" KEY`, `x cert-authority`, `x namespaces="a KEY`, "x ssh-rsa " + strings.Fields(s.PublicKey())[1]} {
		_, err := ParseAllowed(strings.NewReader("# ok\n" + strings.ReplaceAll(line, "KEY", s.PublicKey())))
		if !errors.Is(err, ErrAllowed) || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: %v", line, err)
		}
	}
	if _, err := ParseAllowed(strings.NewReader("x " + strings.Repeat("y", maxAllowedLine))); !errors.Is(err, ErrAllowed) {
		t.Error(err)
	}
}

func TestAnEmptyListIsStillAList(t *testing.T) {
	if allowed, err := ParseAllowed(strings.NewReader("# nobody\n")); err != nil || allowed == nil {
		t.Error("a list of nobody reads as no list", err)
	}
}

func TestAllowedLineTakesOnlyPlainPrincipals(t *testing.T) {
	s, _ := Ephemeral()
	for _, p := range []string{"", "a b", "*", "a,b", "!a", `a"`, "a\n", "ä", "a;b", "$(a)", "-a"} {
		if line, err := AllowedLine(p, s); err == nil {
			t.Errorf("%q: %s", p, line)
		}
	}
}

func TestArmorIsReadStrictly(t *testing.T) {
	s, _ := Ephemeral()
	good, _ := s.Sign(NamespaceBundle, message)
	for _, bad := range []string{"", "x", "text\n" + string(good), string(good) + "more\n", string(good) + string(good), string(good[:len(good)/2]), strings.Replace(string(good), "U", "V", 1), strings.Repeat("x", maxSignature+1)} {
		if _, err := Check(NamespaceBundle, message, []byte(bad)); !errors.Is(err, ErrBadSignature) {
			t.Errorf("%.40q: %v", bad, err)
		}
	}
	if _, err := s.Sign("", message); err == nil {
		t.Error("signed without a namespace")
	}
}

func FuzzParseAllowed(f *testing.F) {
	s, _ := Ephemeral()
	f.Add("a " + s.PublicKey())
	f.Add(`"a b",c namespaces="x,!y",valid-after="20260101Z",cert-authority ` + s.PublicKey() + " c\n")
	f.Fuzz(func(t *testing.T, text string) {
		allowed, err := ParseAllowed(strings.NewReader(text))
		if err != nil && !errors.Is(err, ErrAllowed) {
			t.Fatal(err)
		}
		for _, a := range allowed {
			if a.Key == nil || a.Principals == "" || err != nil {
				t.Fatalf("%+v %v", a, err)
			}
			a.Matches("alice@example.org")
		}
	})
}

func FuzzCheck(f *testing.F) {
	s, _ := Ephemeral()
	good, _ := s.Sign(NamespaceBundle, message)
	f.Add(good)
	f.Fuzz(func(t *testing.T, armored []byte) {
		if key, err := Check(NamespaceBundle, []byte("what nobody signed"), armored); err == nil {
			t.Fatalf("accepted from %s", key)
		}
	})
}
