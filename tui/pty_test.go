package tui

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
)

// terminal is a real one, with a person's hands on the keyboard and his eyes on what
// was written last.
type terminal struct {
	t        testing.TB
	ptm, tty *os.File
	cancel   context.CancelCauseFunc
	left     chan Left
	errs     chan error

	mu   sync.Mutex
	seen []byte
	grew chan struct{}
}

// sitAt runs the screen on a terminal of its own.
func (w *labWorld) sitAt(cols, rows uint16, o Options) *terminal {
	w.t.Helper()
	ptm, tty, err := pty.Open()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := pty.Setsize(ptm, &pty.Winsize{Cols: cols, Rows: rows}); err != nil {
		w.t.Fatal(err)
	}
	if err := syscall.SetNonblock(int(ptm.Fd()), true); err != nil { // a reader in the kernel would keep it open
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	x := &terminal{
		t: w.t, ptm: ptm, tty: tty, cancel: cancel,
		left: make(chan Left, 1), errs: make(chan error, 1), grew: make(chan struct{}, 1),
	}
	go x.watch()
	go func() {
		o.In, o.Out = tty, tty
		l, err := Run(ctx, w.app, o)
		x.left <- l
		x.errs <- err
	}()
	w.t.Cleanup(func() {
		cancel(errors.New("the test is over"))
		if x.left != nil {
			<-x.left
		}
		_, _ = tty.Close(), ptm.Close()
	})
	return x
}

func (x *terminal) watch() {
	b := make([]byte, 32<<10)
	for {
		n, err := x.ptm.Read(b)
		x.mu.Lock()
		x.seen = append(x.seen, b[:n]...)
		x.mu.Unlock()
		select {
		case x.grew <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// hangUp closes the other end and sends no signal.
func (x *terminal) hangUp() {
	x.t.Helper()
	if err := x.ptm.Close(); err != nil {
		x.t.Fatal(err)
	}
}

// until waits for text that was painted since the last call.
func (x *terminal) until(text string) string {
	x.t.Helper()
	most := time.After(60 * time.Second) // for a test that would hang, not a measurement
	for {
		x.mu.Lock()
		got := ansi.Strip(string(x.seen))
		if i := strings.Index(got, text); i >= 0 {
			x.seen = nil
			x.mu.Unlock()
			return got
		}
		x.mu.Unlock()
		select {
		case <-x.grew:
		case l := <-x.left:
			x.t.Fatalf("the screen was left (%+v) before %q was seen; it showed\n%s", l, text, got)
		case <-most:
			x.t.Fatalf("never saw %q; seen was\n%s", text, got)
		}
	}
}

func (x *terminal) keys(s string) {
	x.t.Helper()
	if _, err := x.ptm.WriteString(s); err != nil {
		x.t.Fatal(err)
	}
}

// gone waits until the screen is left.
func (x *terminal) gone() (Left, error) {
	x.t.Helper()
	select {
	case l := <-x.left:
		x.left = nil
		return l, <-x.errs
	case <-time.After(60 * time.Second): // for a test that would hang, not a measurement
		x.t.Fatal("the screen is still there")
		return Left{}, nil
	}
}

// toThePause goes to the page that asks whether to pause.
func (x *terminal) toThePause() {
	x.t.Helper()
	x.until("pause runner 42")
}

// changes are the calls that the lab's GitLab took from a person.
func (w *labWorld) changes() int {
	w.t.Helper()
	n := 0
	for route, c := range w.counters().Requests {
		if strings.HasPrefix(route, "PUT /api/v4/runners/") && strings.Count(route, " ") == 1 {
			n += c
		}
	}
	return n
}

func containing(w *labWorld) Options { return Options{Contain: w.app.Planted()} }

func TestHeldKeysMoveAsOftenAsTheyCame(t *testing.T) {
	w := newLabWorld(t, "none")
	x := w.sitAt(80, 24, containing(w))
	x.toThePause()
	before := more(t, x.lastMore())
	x.keys("jjj")
	if after := more(t, x.until("more lines below")); after != before-3 {
		t.Errorf("three j in one read moved from %d to %d lines below", before, after)
	}
}

func (x *terminal) lastMore() string {
	x.keys("j")
	return x.until("more lines below")
}

// more is the number in "N more lines below".
func more(t *testing.T, screen string) int {
	t.Helper()
	i := strings.LastIndex(screen, " more lines below")
	n, mul := 0, 1
	for i--; i >= 0 && screen[i] >= '0' && screen[i] <= '9'; i-- {
		n, mul = n+mul*int(screen[i]-'0'), mul*10
	}
	if mul == 1 {
		t.Fatalf("no number of lines in %q", screen)
	}
	return n
}

// What arrives at a confirmation without a person having meant it does nothing.
func TestNothingButTheKeyConfirms(t *testing.T) {
	w := newLabWorld(t, "none")
	x := w.sitAt(80, 24, containing(w))
	x.toThePause()
	for name, keys := range map[string][]string{
		"a held enter":         {"\r\r\r\r\r\r", "\r\r\r", "\r"},
		"a held y":             {"yyyyyyyy"},
		"a bracketed paste":    {"\x1b[200~y\x1b[201~"},
		"an unbracketed paste": {"Dy\ny"},
		"a late answer":        {"\x1b]11;rgb:0000/0000/0000\x1b\\"},
	} {
		x.keys("\r")
		x.until("Do it?")
		for _, k := range keys {
			x.keys(k)
		}
		x.keys("\x1b") // closes the dialog, or goes on to the key below
		x.until("confirmation, whose default is no")
		if n := w.changes(); n != 0 {
			t.Fatalf("%s made %d changes", name, n)
		}
	}
	// A split escape closes the dialog and throws nothing away.
	x.keys("\r")
	x.until("Do it?")
	x.keys("\x1b")
	x.until("confirmation, whose default is no")
	x.keys("[B")
	x.keys("\r")
	x.until("Do it?")
	for w.changes() == 0 { // as often as a person would press it: the dialog is deaf at first
		x.keys("y")
		pause(t)
	}
	x.until("3/6")
	if n := w.changes(); n != 1 {
		t.Errorf("%d changes, want the one that was confirmed", n)
	}
}

// pause lets a moment go by without asserting anything about it.
func pause(t testing.TB) {
	select {
	case <-time.After(50 * time.Millisecond):
	case <-t.Context().Done():
	}
}

func TestASmallTerminalSaysSoAndTheRunGoesOn(t *testing.T) {
	w := newLabWorld(t, "none")
	x := w.sitAt(80, 24, containing(w))
	x.toThePause()
	resize := func(cols, rows uint16) {
		t.Helper()
		if err := pty.Setsize(x.ptm, &pty.Winsize{Cols: cols, Rows: rows}); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil { // it is not this process's terminal
			t.Fatal(err)
		}
	}
	resize(60, 15)
	x.until("pause runner 42")
	resize(40, 10)
	x.until("needs 60x15")
	resize(80, 24)
	x.until("pause runner 42")
}

// The link is gone: with a signal (the command's context ends) or without one (the pty
// is closed). Either way the case is closed in order and can be gone on with.
func TestALostTerminalLeavesTheCaseInOrder(t *testing.T) {
	for name, lose := range map[string]func(*terminal){
		"a signal":                      func(x *terminal) { x.cancel(errors.New("hangup")) },
		"a closed pty without a signal": func(x *terminal) { x.hangUp() },
	} {
		t.Run(name, func(t *testing.T) {
			w := newLabWorld(t, "none")
			x := w.sitAt(80, 24, containing(w))
			x.toThePause()
			lose(x)
			left, err := x.gone()
			if err != nil || left.Lost == nil || left.Case == "" || !left.Kept {
				t.Fatalf("left %+v, error %v", left, err)
			}
			y := w.sitAt(80, 24, Options{})
			y.until("open cases (1)")
			y.keys("\t\r")
			y.until("2/6 Give it no more jobs")
			y.keys("q")
			if left, err := y.gone(); err != nil || left.Lost != nil || !left.Kept {
				t.Errorf("left %+v, error %v", left, err)
			}
			if w.changes() != 0 {
				t.Error("leaving and coming back changed something")
			}
		})
	}
}

// A screen that only shows is quiet: no clock ticks, no spinner turns.
func TestAStillScreenSendsNothing(t *testing.T) {
	w := newLabWorld(t, "none")
	x := w.sitAt(80, 24, containing(w))
	x.toThePause()
	x.keys("?")
	x.until("everywhere")
	pause(t)
	x.mu.Lock()
	x.seen = nil
	x.mu.Unlock()
	for range 10 {
		pause(t)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.seen) > 0 {
		t.Errorf("%d bytes while nothing happened: %q", len(x.seen), x.seen)
	}
}
