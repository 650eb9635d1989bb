package sshd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
)

// collect runs a known collector, or what fetches one file, over the tree: no environment but a path, the root
// forced, in a process group of its own that ends with the connection.
func (o Options) collect(ctx context.Context, r request, ch ssh.Channel) (int, error) {
	if err := o.Before(); err != nil {
		return refusal, fmt.Errorf("make the tree ready: %w", err)
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-s")
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
	cmd.Dir = o.Root
	cmd.Stdin = bytes.NewReader(fmt.Appendf(nil, "N=%s\nR=%s\n%s\n%s", r.nonce, o.Root, r.third, r.body))
	cmd.Stdout, cmd.Stderr = ch, ch.Stderr()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() >= 0 {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return refusal, fmt.Errorf("run %s: %w", r.script.Name, err)
	}
	return 0, nil
}
