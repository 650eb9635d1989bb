package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"cordon/internal/untrusted"
)

// reapTime is how long a killed child may take to be gone: one that took other rights
// (sudo) cannot be killed by us, and ends when its pipes do.
const reapTime = 3 * time.Second

// child carries a script with a program on this machine: what a person configured
// (kubectl exec, docker exec), or a shell. No shell reads its arguments.
type child struct {
	argv      []string
	bare      bool // an empty environment, as sshd would not give ours either
	transport string
	shown     string
}

func (c child) open(ctx context.Context, g *guard, ex *Exchange) (*session, error) {
	ex.Transport, ex.Carrier = c.transport, untrusted.Clean(c.shown, 500)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	env := os.Environ()
	if c.bare {
		env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
	}
	p, err := spawn(c.argv, env)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	g.owns(p.kill)
	return &session{stdin: p.stdin, stdout: p.stdout, stderr: p.stderr, exit: p.status, reap: p.wait}, nil
}

// process is a started program with pipes, in a group of its own.
type process struct {
	cmd            *exec.Cmd
	stdin          *os.File
	stdout, stderr *os.File
	done, killed   chan struct{}
	err            error
	once           sync.Once
}

// spawn starts argv. ctx is not tied to it: its guard ends it.
func spawn(argv []string, env []string) (*process, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var files []*os.File
	pipe := func() (r, w *os.File, err error) {
		r, w, err = os.Pipe()
		files = append(files, r, w)
		return r, w, err
	}
	inR, inW, err1 := pipe()
	outR, outW, err2 := pipe()
	errR, errW, err3 := pipe()
	err := errors.Join(err1, err2, err3)
	if err == nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, errW
		err = cmd.Start()
	}
	if err != nil {
		for _, f := range files {
			if f != nil {
				f.Close()
			}
		}
		return nil, fmt.Errorf("start %s: %w; is it installed and in PATH?", untrusted.Clean(argv[0], 100), err)
	}
	inR.Close()
	outW.Close()
	errW.Close()
	p := &process{cmd: cmd, stdin: inW, stdout: outR, stderr: errR, done: make(chan struct{}), killed: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// kill ends the whole group and our ends of its pipes. It may be called twice.
func (p *process) kill() {
	p.once.Do(func() {
		close(p.killed)
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // gone already, or not ours to end
		p.stdin.Close()
		p.stdout.Close()
		p.stderr.Close()
	})
}

// wait waits for its end: as long as it runs, and for reapTime once it was killed.
func (p *process) wait() {
	select {
	case <-p.done:
		return
	case <-p.killed:
	}
	select {
	case <-p.done:
	case <-time.After(reapTime):
	}
}

// status is how it ended, -1 where it did not by itself.
func (p *process) status() int {
	p.wait()
	select {
	case <-p.done:
	default:
		return -1
	}
	var ee *exec.ExitError
	switch {
	case p.err == nil:
		return 0
	case errors.As(p.err, &ee) && ee.Exited():
		return ee.ExitCode()
	}
	return -1
}
