package tui

import (
	"path/filepath"
	"testing"

	"cordon/internal/app"
)

// Whoever sat at a case that somebody else took over is told where he sits, before he
// presses the key that would have decided.
func TestWhoLosesTheCaseIsToldWithoutPressingAKey(t *testing.T) {
	w := newLabWorld(t, "none")
	p := w.sit(80, 24, Options{})
	p.find("build-07")
	id := p.m.top().(*stepper).about.ID
	bob, err := app.Open(t.Context(), app.Options{Lab: filepath.Join(w.dir, "lab"), State: filepath.Join(w.dir, "state"), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := bob.TakeOver(t.Context(), id, "her link is gone")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p.until("another process has taken the case")
	p.until("her link is gone")
}
