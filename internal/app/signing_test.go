package app

import (
	"os"
	"path/filepath"
	"testing"
)

// A case that one process begins and another ends is one author's: without a configured
// key its bundle verifies whole, against the one line that the export gave.
func TestAnInterruptedCaseIsSignedByOneKey(t *testing.T) {
	w := newWorld(t)
	session := func(a *App, s *Session, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		signer, err := a.sign()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.c.SignHead(signer); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	a := w.open()
	s, err := a.NewCase(t.Context(), "gl/runner/42", CaseSpec{ID: "INC-1"})
	session(a, s, err)
	a = w.open() // another process
	s, err = a.Resume(t.Context(), "INC-1")
	session(a, s, err)

	a = w.open()
	x, err := a.Export(t.Context(), "INC-1", filepath.Join(w.dir, "out.tar"))
	if err != nil {
		t.Fatal(err)
	}
	w.write("allowed", x.Allowed+"\n")
	if r, err := Verify(x.Path, filepath.Join(w.dir, "allowed")); err != nil || !r.Trusted() {
		t.Errorf("%v\n%+v", err, r.Checks)
	}
	if st, err := os.Stat(filepath.Join(w.state, "signing.key")); err != nil || st.Mode() != 0o600 {
		t.Errorf("the key: %v, %v", st, err)
	}
}

func TestAReadOnlyProcessKeepsNoKey(t *testing.T) {
	w := newWorld(t)
	if _, err := w.open(readOnly).sign(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(w.state, "signing.key")); !os.IsNotExist(err) {
		t.Errorf("it was made: %v", err)
	}
	kept, err := w.open().sign()
	if err != nil {
		t.Fatal(err)
	}
	if s, err := w.open(readOnly).sign(); err != nil || s.Fingerprint() != kept.Fingerprint() {
		t.Errorf("one that is there is used: %v", err)
	}
}
