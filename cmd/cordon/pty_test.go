package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// TestVersionAsksTheTerminalNothing runs cordon version on a pseudo-terminal that never
// answers. Libraries for screens ask a terminal for its colours when they are merely
// linked, and wait for what never comes: over a slow link that is seconds of nothing.
func TestVersionAsksTheTerminalNothing(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"version"}, {"--help"}, {"contain", "--help"}, {"playbook", "list"}, {"no-such-command"}} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, program(t), args...)
		cmd.Env = append(account(t.TempDir()), "TERM=xterm-256color", "COLORTERM=truecolor")
		f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
		if err != nil {
			t.Fatal(err)
		}
		out, err := io.ReadAll(f)
		if err != nil && !errors.Is(err, syscall.EIO) { // how a pty says that the other side is gone
			t.Fatal(err)
		}
		_ = cmd.Wait() // a mistake in the call ends with 2
		f.Close()
		if ctx.Err() != nil {
			t.Errorf("%v waits for an answer; it wrote %q", args, out)
		}
		if len(out) == 0 || bytes.ContainsRune(out, '\x1b') {
			t.Errorf("%v writes escape sequences to a terminal, or nothing: %q", args, out)
		}
	}
}

// TestAPersonAtATerminalIsAsked is the other side of "no terminal": with one, a plan is
// confirmed by hand, and what was not confirmed is not done.
func TestAPersonAtATerminalIsAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cmd := w.command("contain", "gitlab-lab/42", "--case", "P", "--plain")
	cmd.Env = append(cmd.Env, "TERM=dumb")
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 200})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = f.WriteString("\napply\n9\n1\nno\n1\ny\n1\n\nstop\n")
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(f)
	if err != nil && !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the code is looked at below
	if code := cmd.ProcessState.ExitCode(); code != 6 {
		t.Errorf("stopped by hand it ends with %d, want 6\n%s", code, out)
	}
	for _, want := range []string{
		`not an answer here: "apply"`, "no plan 9 to apply here", "not confirmed; nothing was done", "pause/42/1.1: applied", "why go on all the same",
	} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("it does not say %q\n%s", want, out)
		}
	}
	if all := w.effects(); len(all) != 1 || all[0].Effect != "runner.pause" {
		t.Errorf("one plan was confirmed, these happened: %v", all)
	}
	if bytes.ContainsRune(out, '\x1b') {
		t.Errorf("escape sequences: %q", out)
	}
}
