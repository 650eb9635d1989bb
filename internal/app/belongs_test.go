package app

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A runner's number at another GitLab of the same name is another runner: gone on with
// there, the case would end with a verdict about nothing.
func TestACaseIsNotGoneOnWithAtAnotherSystemOfTheSameName(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	s, err := a.NewCase(t.Context(), "gl/runner/42", CaseSpec{ID: "INC-1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	other := newWorld(t)
	other.state = w.state
	if _, err := other.open().Resume(t.Context(), "INC-1"); !errors.Is(err, ErrUsage) || ExitCode(err) != ExitUsage ||
		!strings.Contains(err.Error(), w.srv.URL) || !strings.Contains(err.Error(), other.srv.URL) {
		t.Errorf("at another GitLab: %v", err)
	}
	if v, err := a.View("INC-1"); err != nil || v.Lines[len(v.Lines)-1].Kind == "resume" {
		t.Errorf("the refused resume was written down, or: %v", err)
	}

	b, err := os.ReadFile(filepath.Join(w.dir, "cordon.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	w.write("cordon.yaml", strings.Replace(string(b), w.srv.URL, w.srv.URL+"/", 1)) // the same place in another spelling
	s, err = w.open().Resume(t.Context(), "INC-1")
	if err != nil {
		t.Fatalf("control: at the GitLab it was opened on: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAPlaceHasOneSpelling(t *testing.T) {
	for _, s := range []string{"https://git.example.org", "https://GIT.example.org/", "HTTPS://git.example.org:443", "https://u:p@git.example.org/"} {
		if got := place(s); got != "https://git.example.org" {
			t.Errorf("%s is %s", s, got)
		}
	}
	for _, s := range []string{"http://git.example.org", "https://git.example.org/gitlab", "https://git.example.org:8443"} {
		if got := place(s); got == "https://git.example.org" {
			t.Errorf("%s is another place", s)
		}
	}
}
