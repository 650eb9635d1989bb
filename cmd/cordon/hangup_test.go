package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
)

// seat is a cordon on a terminal of its own, which it controls, as after a login.
type seat struct {
	t    testing.TB
	cmd  *exec.Cmd
	ptm  *os.File
	done chan error

	mark int // in the text, behind what until found

	mu  sync.Mutex
	raw []byte
	new chan struct{}
	all chan struct{} // closed when all that was painted has been read
}

func (w *world) seat(args ...string) *seat {
	w.t.Helper()
	s := &seat{t: w.t, cmd: w.command(args...), done: make(chan error, 1), new: make(chan struct{}, 1), all: make(chan struct{})}
	s.cmd.Env = append(s.cmd.Env, "TERM=xterm-256color", "LC_ALL=C.UTF-8")
	ptm, err := pty.StartWithSize(s.cmd, &pty.Winsize{Cols: 80, Rows: 24})
	if err != nil {
		w.t.Fatal(err)
	}
	s.ptm = ptm
	go func() {
		defer close(s.all)
		b := make([]byte, 32<<10)
		for {
			n, err := ptm.Read(b)
			s.mu.Lock()
			s.raw = append(s.raw, b[:n]...)
			s.mu.Unlock()
			select {
			case s.new <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	go func() { s.done <- s.cmd.Wait() }()
	w.t.Cleanup(func() {
		_ = s.cmd.Process.Kill() // it has ended in a test that passes
		_ = ptm.Close()
	})
	return s
}

// until waits for text that was painted after what the last call found, and returns
// what was painted up to it.
func (s *seat) until(text string) string {
	s.t.Helper()
	most := time.After(60 * time.Second) // for a test that would hang, not a measurement
	for {
		got := s.rest()
		if i := strings.Index(got, text); i >= 0 {
			s.mark += i + len(text)
			return got[:i+len(text)]
		}
		select {
		case <-s.new:
		case <-most:
			s.t.Fatalf("never saw %q; seen was\n%s", text, got)
		}
	}
}

// untilBoth waits for two texts that may be painted in either order: of a line that did
// not change nothing is painted again.
func (s *seat) untilBoth(one, other string) {
	s.t.Helper()
	mark := s.mark
	s.until(one)
	seen := s.mark
	s.mark = mark
	s.until(other)
	s.mark = max(s.mark, seen)
}

func (s *seat) keys(k string) {
	s.t.Helper()
	if _, err := s.ptm.WriteString(k); err != nil {
		s.t.Fatal(err)
	}
}

// awake lets the time pass in which a dialog hears nothing.
func (s *seat) awake() {
	select {
	case <-time.After(400 * time.Millisecond):
	case <-s.t.Context().Done():
	}
}

// agree opens the confirmation of the plan on screen, gives a reason where one is
// asked for, and types what it asks for.
func (s *seat) agree() {
	s.t.Helper()
	s.keys("\r")
	d := s.until("esc does")
	if strings.Contains(d, "Why do it all the same?") {
		s.awake()
		s.keys("the link is bad tonight")
		s.until("the link is bad tonight")
		s.keys("\r")
		d = s.until("esc does not")
	}
	s.awake()
	if typed := typedWord.FindStringSubmatch(d); typed != nil {
		s.keys(typed[1])
		return
	}
	s.keys("y")
}

// rest is what has come in since.
func (s *seat) rest() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return ansi.Strip(string(s.raw))[s.mark:]
}

// hangUp is what a dropped login does. The program ends by itself, not well, and gives
// the terminal back.
func (s *seat) hangUp(at string) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		s.t.Fatal(err)
	}
	if code := s.end(); code <= 0 {
		s.t.Fatalf("after a hangup at %s it ended with %d", at, code)
	}
	<-s.all
	s.mu.Lock()
	defer s.mu.Unlock()
	if !strings.Contains(string(s.raw), "\x1b[?1049l") {
		s.t.Errorf("the terminal was not given back at %s", at)
	}
}

func (s *seat) end() int {
	s.t.Helper()
	select {
	case err := <-s.done:
		var x *exec.ExitError
		if err != nil && !errors.As(err, &x) {
			s.t.Fatal(err)
		}
		return s.cmd.ProcessState.ExitCode()
	case <-time.After(90 * time.Second): // for a test that would hang, not a measurement
		s.t.Fatalf("it does not end; it shows\n%s", s.rest())
		return 0
	}
}

// At every step the link drops, and a new login goes on where the old one stood. At
// the end each effect was made once.
func TestAHangupAtEveryStepLosesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.seat("contain", "gitlab-lab/runner/42")
	s.until(" pause  contain-42-")
	steps := []string{"pause", "rotate", "collect", "deregister", "confirm"}
	for i, at := range steps {
		s.hangUp(at)
		if show := w.cordon("case", "show", cases(t, w.state())[0]); show.code != 0 {
			t.Fatalf("after a hangup at %s: %s", at, show.err)
		}
		s = w.seat()
		s.until("open cases (1)")
		s.keys("\t")
		s.keys("\r")
		s.until(" " + at + "  contain-42-")
		s.until("opens the confirmation")
		s.agree()
		for plans := 0; i+1 < len(steps); plans++ {
			if strings.Contains(s.until("opens the confirmation"), " "+steps[i+1]+"  contain-42-") {
				break
			} else if plans > 5 {
				t.Fatalf("%s has more plans than it should", at)
			}
			s.agree()
		}
	}
	s.until("ending: contained (exit 0)")
	s.keys("q")
	if code := s.end(); code != 0 {
		t.Errorf("the end of it all is exit %d", code)
	}
	onceEach(t, w)
}

// The link drops in the moment of the confirmation: the call is let come back, or the
// case knows that nobody knows. Nothing is sent twice.
func TestAHangupWhileACallIsOnItsWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.seat("contain", "gitlab-lab/runner/42")
	s.until(" pause  contain-42-")
	s.until("opens the confirmation")
	s.agree()
	s.hangUp("the pause")
	id := cases(t, w.state())[0]
	got := w.cordon("case", "resume", id, "--yes", "--reason", "the link is bad tonight")
	if got.code != 0 || !strings.HasPrefix(ending(got.out), "contained") {
		t.Fatalf("exit %d, ending %q\n%s", got.code, ending(got.out), got.err)
	}
	onceEach(t, w)
}

// onceEach reads the lab's own ledger: every effect was made, and once.
func onceEach(t *testing.T, w *world) {
	t.Helper()
	made := map[string]int{}
	for _, e := range w.effects() {
		made[e.Effect]++
	}
	for _, must := range []string{"runner.pause", "runner.reset", "host.stop", "runner.delete"} {
		if made[must] != 1 {
			t.Errorf("%s was made %d times, want once; the ledger has %v", must, made[must], made)
		}
	}
}
