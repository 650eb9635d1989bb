package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestCtrlCIsHeardAtAPrompt presses the key where a person most likely does: at a
// question, and at one whose answer is not shown.
func TestCtrlCIsHeardAtAPrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.seat("contain", "gitlab-lab/42", "--case", "C", "--plain")
	s.until(" | stop]: ")
	s.keys("\x03")
	s.until("go on with: cordon --lab " + w.labDir())
	if code := s.end(); code <= 0 {
		t.Errorf("interrupted at a question it ends with %d", code)
	}

	conf := filepath.Join(w.labDir(), "cordon.yaml")
	b, err := os.ReadFile(conf)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for l := range strings.Lines(string(b)) {
		if strings.HasPrefix(strings.TrimSpace(l), "act:") {
			l = strings.Repeat(" ", strings.Index(l, "act:")) + "act: {ask: true}\n"
		}
		lines = append(lines, l)
	}
	if err := os.WriteFile(conf, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	s = w.seat("case", "resume", "C", "--plain")
	s.until(" | stop]: ")
	s.keys("1\n")
	s.until("type y to go on: ")
	s.keys("y\n")
	s.until("act token of gitlab-lab: ")
	for end := time.Now().Add(time.Minute); echo(t, s); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("control: a secret is echoed")
		}
	}
	s.keys("\x03")
	s.until("go on with: cordon ")
	if code := s.end(); code <= 0 {
		t.Errorf("interrupted at a hidden question it ends with %d", code)
	}
	if !echo(t, s) {
		t.Error("the terminal does not echo any more")
	}
	if all := w.effects(); len(all) != 0 {
		t.Errorf("nothing was let through, these happened: %v", all)
	}
}

func echo(t *testing.T, s *seat) bool {
	t.Helper()
	c, err := s.ptm.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var m *unix.Termios
	var merr error
	if err := c.Control(func(fd uintptr) { m, merr = unix.IoctlGetTermios(int(fd), unix.TCGETS) }); err != nil || merr != nil {
		t.Fatal(err, merr)
	}
	return m.Lflag&unix.ECHO != 0
}
