package main

import (
	"testing"

	"cordon/internal/testenv"
)

// Without a shell above it the stop would be discarded and nobody would continue it:
// ctrl-z must not leave a dead screen behind.
func TestCtrlZWithoutAShellIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.seat()
	s.until("ready: the providers answered")
	s.keys("\x1a")
	s.until("no shell to go back to")
	s.keys("\r")
	s.until(" cordon  fleet")
	s.keys("q")
	if code := s.end(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

func TestCtrlZGoesBackToTheShellAndFgReturns(t *testing.T) {
	t.Parallel()
	bash := testenv.Need(t, "bash")
	w := newWorld(t)
	m := shellInTmux(t, 80, 24, bash)
	line := quote(program(t)) + " --lab " + quote(w.labDir()) + " --state-dir " + quote(w.state())
	m.text(line)
	m.keys("Enter")
	m.until("ready: the providers answered")
	m.keys("C-z")
	m.until("Stopped")
	m.text("fg")
	m.keys("Enter")
	m.until("ready: the providers answered")
	m.text("x")
	m.until("> x_")
	m.keys("C-c")
	m.until("$ ")
}
