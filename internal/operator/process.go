package operator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"cordon/internal/evidence"
	"cordon/internal/transport"
	"cordon/internal/untrusted"
)

const (
	maxOutput = 64 << 10        // of both streams together, in bytes
	hangOn    = 2 * time.Second // how long a child that left the group may hold the output
	minSecret = 4               // values of passed variables from this length are taken out of the output
)

// ended is how one process ended.
type ended struct {
	started bool
	exit    int   // -1: no exit code
	err     error // why there is no exit code
	kept    error // its output could not be kept
}

// capture keeps the first bytes of an output and counts the others.
type capture struct {
	buf bytes.Buffer
	all int
}

// Write never fails: a program must not die of its own output.
func (c *capture) Write(p []byte) (int, error) {
	c.all += len(p)
	c.buf.Write(p[:min(len(p), max(0, maxOutput-c.buf.Len()))])
	return len(p), nil
}

// run starts argv once, in a process group of its own, with nothing in its environment
// but the listed variables and nothing to read, and waits for its end or its time. What
// it printed goes into the case with secrets taken out. word is do, verify or undo.
func (s *System) run(ctx context.Context, x Action, name, word string, argv []string) ended {
	at := s.o.Clock.Now()
	tctx, cancel := context.WithTimeout(ctx, x.Timeout)
	defer cancel()
	out := &capture{}
	cmd := exec.CommandContext(tctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = "/", []string{}
	for _, n := range x.Env {
		if v, ok := s.o.Getenv(n); ok {
			cmd.Env = append(cmd.Env, n+"="+v)
		}
	}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = attributes()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = hangOn

	e := ended{exit: -1}
	var err error
	e.started, err = startAndWait(cmd)
	var code *exec.ExitError
	switch {
	case ctx.Err() != nil:
		e.err = fmt.Errorf("interrupted: %w", ctx.Err())
	case tctx.Err() != nil:
		e.err = fmt.Errorf("it did not end within %s", x.Timeout)
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		e.exit = cmd.ProcessState.ExitCode()
	case errors.As(err, &code) && code.Exited():
		e.exit = code.ExitCode()
	default:
		e.err = fmt.Errorf("run %s: %w", argv[0], err)
	}
	s.keep(ctx, &e, x, name, word, out)
	rec := transport.Exchange{
		System: Name, At: at, Method: "RUN", Path: "/" + name + "/" + word, Status: max(e.exit, 0),
		Bytes: int64(out.all), Changing: word != "verify",
	}
	if e.err != nil {
		rec.Err = untrusted.Clean(e.err.Error(), 300)
	}
	transport.Record(ctx, rec)
	return e
}

// keep puts the output into the case, redacted. It is kept also when the run was
// interrupted: what was printed until then may be all that anybody knows.
func (s *System) keep(ctx context.Context, e *ended, x Action, name, word string, out *capture) {
	to := evidence.SinkFrom(ctx)
	if to == nil || !e.started {
		return
	}
	text, n := s.clean(x, out)
	_, e.kept = to.Put(context.WithoutCancel(ctx), evidence.Item{
		Name: "operator/" + name + "/" + word + ".txt", Source: fmt.Sprintf("operator://%s/%s, exit code %d", name, word, e.exit),
		Media: "text/plain", At: s.o.Clock.Now(), Truncated: out.all > out.buf.Len(), Redacted: n,
	}, strings.NewReader(text))
}

// clean makes an output safe to keep: valid text, no control characters but line ends,
// no secret. The values of the variables that were passed are known, and are taken out
// whatever their shape.
func (s *System) clean(x Action, out *capture) (string, int) {
	text := out.buf.String()
	if out.all > len(text) { // a secret that was cut in two would not be known any more
		for len(text) > 0 && !utf8.RuneStart(text[len(text)-1]) {
			text = text[:len(text)-1]
		}
		text = text[:max(0, strings.LastIndexAny(text, " \t\n"))]
	}
	n := 0
	for _, name := range x.Env {
		if v, ok := s.o.Getenv(name); ok && len(v) >= minSecret {
			n += strings.Count(text, v)
			text = strings.ReplaceAll(text, v, "["+name+" "+s.o.Marker.Print(v)+"]")
		}
	}
	text, more := s.o.Marker.Text(text)
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(untrusted.Clean(strings.TrimRight(line, "\r\n"), 0) + "\n")
	}
	return b.String(), n + more
}
