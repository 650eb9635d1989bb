package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/change"
	"cordon/internal/config"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
	"cordon/providers"
)

// maxUntold is how many notices may wait; a program that is slower than that misses some,
// and the journal says how many.
const maxUntold = 64

// notice is what the program reads: words of ours, references and the head of the
// journal, nothing that a host or a provider wrote.
type notice struct {
	Schema    string    `json:"schema"`
	Simulated bool      `json:"simulated,omitempty"`
	Case      string    `json:"case"`
	Kind      string    `json:"kind"` // one of config.NotifyEvents
	Word      string    `json:"word"`
	Target    string    `json:"target,omitempty"`
	Step      string    `json:"step,omitempty"`
	At        time.Time `json:"at"`
	Head      seqHead   `json:"head"` // keep it: bundle verify --head SUM@TIME
}

type seqHead struct {
	Seq int    `json:"seq"`
	Sum string `json:"sum"` // its first 16 hex digits
}

// happened is what a line says that is worth telling: event and word.
func happened(l casefile.Line) (out [][2]string) {
	switch l.Kind {
	case "result", "settle":
		var d struct {
			Verb    string         `json:"verb"`
			Outcome change.Outcome `json:"outcome"`
		}
		if json.Unmarshal(l.Data, &d) != nil {
			return nil
		}
		switch s := d.Outcome.State; {
		case s == change.Unknown:
			out = append(out, [2]string{"unknown", d.Verb})
		case d.Verb == providers.Pause && (s == change.Applied || s == change.Already):
			out = append(out, [2]string{"paused", s})
		}
	case "verdict":
		var d struct {
			Final    bool              `json:"final"`
			Verdicts []witness.Verdict `json:"verdicts"`
		}
		if json.Unmarshal(l.Data, &d) != nil || len(d.Verdicts) == 0 {
			return nil
		}
		if d.Verdicts[0].State == witness.Resurrected {
			out = append(out, [2]string{"resurrection", witness.Resurrected})
		}
		if d.Final {
			out = append(out, [2]string{"verdict", d.Verdicts[0].State})
		}
	case "approval-wanted":
		out = append(out, [2]string{"approval-wanted", "wanted"})
	}
	return out
}

// teller runs the program, one notice after the other. What goes wrong with it is a
// notify line in the journal and nothing else.
type teller struct {
	cfg    *config.Notify
	c      *casefile.Case
	queue  chan notice
	missed atomic.Int64
	done   chan struct{}
	ctx    context.Context
	cancel context.CancelFunc
}

func newTeller(cfg *config.Notify, c *casefile.Case, simulated bool) *teller {
	t := &teller{cfg: cfg, c: c, queue: make(chan notice, maxUntold), done: make(chan struct{})}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	go t.run()
	c.Observe(func(l casefile.Line) {
		for _, h := range happened(l) {
			if !cfg.Wants(h[0]) {
				continue
			}
			n := notice{
				Schema: "cordon.notify/1", Simulated: simulated, Case: l.Case, Kind: h[0], Word: untrusted.Clean(h[1], 40),
				Step: untrusted.Clean(l.Step, 80), At: l.T, Head: seqHead{l.Seq, l.Sum()[:16]},
			}
			if !l.Target.IsZero() {
				n.Target = l.Target.String()
			}
			select {
			case t.queue <- n:
			default:
				t.missed.Add(1)
			}
		}
	})
	return t
}

func (t *teller) run() {
	defer close(t.done)
	for n := range t.queue {
		if err := t.one(n); err != nil {
			t.failed(fmt.Sprintf("%s of line %d was not told: %v", n.Kind, n.Head.Seq, err))
		}
	}
	if n := t.missed.Load(); n > 0 {
		t.failed(fmt.Sprintf("%d events were not told: the program was too slow", n))
	}
}

// failed records it; that the case may be somebody else's by now is no reason to stop.
func (t *teller) failed(msg string) {
	_, _ = t.c.Append(casefile.Event{Kind: "notify", Msg: msg})
}

func (t *teller) one(n notice) error {
	b, err := json.Marshal(n)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(t.ctx, t.cfg.Wait())
	defer cancel()
	cmd := exec.CommandContext(ctx, t.cfg.Command[0], t.cfg.Command[1:]...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")} // no tokens that stand in ours
	cmd.Stdin = bytes.NewReader(append(b, '\n'))
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // ctrl-c is for us; and what it started ends with it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	var x *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s did not end within %s", t.cfg.Command[0], t.cfg.Wait())
	case errors.As(err, &x):
		return fmt.Errorf("%s ended with %d", t.cfg.Command[0], x.ExitCode())
	}
	return err
}

// end lets what is queued be told, for twice the time that one may take.
func (t *teller) end() {
	t.c.Observe(nil)
	close(t.queue)
	last := time.NewTimer(2 * t.cfg.Wait())
	defer last.Stop()
	select {
	case <-t.done:
	case <-last.C:
		t.cancel()
		<-t.done
	}
	t.cancel()
}
