package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// CommandTimeout is how long a token command may take: a person may have to touch
// a key or type a passphrase.
const CommandTimeout = time.Minute

// limited keeps the first bytes and counts the others.
type limited struct {
	keep int
	buf  bytes.Buffer
	all  int
}

func (l *limited) Write(p []byte) (int, error) {
	l.all += len(p)
	l.buf.Write(p[:min(len(p), max(0, l.keep-l.buf.Len()))])
	return len(p), nil
}

// output runs argv and returns what it printed. Nothing of its error output is
// shown: a password manager that fails may print what it found.
func output(ctx context.Context, argv []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, CommandTimeout)
	defer cancel()
	out, errs := &limited{keep: maxToken + 2}, &limited{}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = out, errs
	// A group of its own, so that what it started ends with it; and a bound on how
	// long a child that left the group can hold the pipe.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("it did not end in time: %w", ctx.Err())
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("there is no such program in PATH")
	case errors.As(err, &exit):
		return "", fmt.Errorf("it ended with exit code %d and %d bytes of error output, not shown here; run it yourself to see them", exit.ExitCode(), errs.all)
	case err != nil:
		return "", fmt.Errorf("it could not be run: %w", unpath(err))
	case out.all > out.keep:
		return "", fmt.Errorf("longer than %d KiB: not a token", maxToken>>10)
	}
	return out.buf.String(), nil
}

// openNow opens for reading and does not wait for the other end of a pipe.
func openNow(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}
