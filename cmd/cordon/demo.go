package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"cordon/internal/app"
	"cordon/internal/lab"
)

// demoScale makes the 65 minutes of silence that a GitLab runner needs pass in 20 seconds.
const demoScale = 200

// labLife and tourLife end a demo's lab that lost its cordon; a person takes longer.
const (
	labLife  = 15 * time.Minute
	tourLife = 2 * time.Hour
)

// demoReason stands where a responder would write why a guard is set aside.
const demoReason = "demo: active compromise, provider snapshot taken, the token is in use by others"

// demoTitle is the title of a demo's case.
const demoTitle = "demo: somebody else uses this runner"

func newDemo(e env) *cobra.Command {
	var headless bool
	var dir string
	var p play
	c := &cobra.Command{
		Use: "demo", Short: "Contain the planted runner of a lab, from list to verified bundle", Args: exactly(),
		Long: `demo starts a lab of its own, contains the planted runner in it step by step, exports the
evidence bundle and verifies it. Everything is SIMULATED and on loopback; nothing of
this machine is read or changed outside one new directory.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := knownFault(p.scenario, p.fault); err != nil {
				return err
			}
			if dir == "" {
				d, err := os.MkdirTemp("", "cordon-demo-*")
				if err != nil {
					return err
				}
				dir = d
			}
			if !headless && e.onScreen() {
				return e.tour(cmd.Context(), dir, p)
			}
			code, err := e.demo(cmd.Context(), dir, p)
			*e.code = code
			return err
		},
	}
	f := c.Flags()
	f.BoolVar(&headless, "headless", false, "without a screen, as where there is no terminal")
	f.StringVar(&p.scenario, "scenario", "", scenarioHelp())
	f.StringVar(&p.fault, "fault", "", "what goes wrong in the lab: one of lab serve --fault")
	f.StringVar(&dir, "dir", "", "directory for the lab and the case (default: a new temporary one)")
	f.Uint64Var(&p.seed, "seed", 1, "seed of everything the lab generates")
	return c
}

// play is which world a demo is played in.
type play struct {
	scenario, fault string
	seed            uint64
}

// hosts are those that the alert of the demo names. A GitLab says where its agents come
// from, so nobody has to; a GitHub does not.
func (p play) hosts(a *app.App) []string {
	if p.scenario == "" || p.scenario == lab.DefaultScenario {
		return nil
	}
	return []string{a.PlantedHost()}
}

// demo runs lab, containment, export and verification and returns the exit code of
// the containment's ending.
func (e env) demo(ctx context.Context, dir string, p play) (int, error) {
	labDir := filepath.Join(dir, "lab")
	stop, err := startLab(ctx, labDir, p, labLife)
	if err != nil {
		return app.ExitFailed, err
	}
	defer stop()
	a, err := e.openLab(ctx, dir)
	if err != nil {
		return app.ExitFailed, err
	}
	defer a.Close()
	out := app.Lines{W: e.out, Simulated: true}
	out.Printf("lab at %s, time runs %dx; every fact below is made up", labDir, demoScale)
	f, err := a.Fleet(ctx)
	if err != nil {
		return app.ExitFailed, err
	}
	out.Fleet(f)
	s, err := a.NewCase(ctx, a.Planted(), app.CaseSpec{Title: demoTitle, Dry: e.flags.readOnly, Hosts: p.hosts(a)})
	if err != nil {
		return app.ExitFailed, err
	}
	defer s.Close()
	out.Printf("case %s: %s, hosts: %s (%s)", s.ID(), s.Runner(), orNone(s.HostNames()), s.How())
	end, err := s.Walk(ctx, out, app.Standing{Reason: demoReason, Dry: e.flags.readOnly}.Decide)
	if err != nil {
		return app.ExitFailed, err
	}
	if e.flags.readOnly {
		return end.Exit, nil
	}
	return end.Exit, e.handOver(ctx, a, s, out, dir)
}

// openLab opens the app on the lab in dir, with a state directory beside it.
func (e env) openLab(ctx context.Context, dir string) (*app.App, error) {
	return app.Open(ctx, app.Options{
		Lab: filepath.Join(dir, "lab"), State: filepath.Join(dir, "state"), Version: version(),
		ReadOnly: e.flags.readOnly, Ask: e.asker.Ask, FS: stateFS,
	})
}

// handOver exports the case, verifies the bundle as a stranger would, and prints its
// path last.
func (e env) handOver(ctx context.Context, a *app.App, s *app.Session, out app.Lines, dir string) error {
	if err := s.Close(); err != nil {
		return err
	}
	h, err := a.HandOver(ctx, s.ID(), dir)
	if err != nil {
		return err
	}
	out.Printf("bundle verified: %d checks, %d files, sha256 %s", len(h.Report.Checks), h.Files, h.SHA256)
	out.Printf("signed by %s; allowed signers in %s", h.Signer, h.Signers)
	_, err = fmt.Fprintln(e.out, h.Path)
	return err
}

// startLab starts this program as a lab in a session of its own, so that a killed or
// interrupted cordon takes no provider with it, and waits for its ready line.
func startLab(ctx context.Context, dir string, p play, life time.Duration) (stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start lab: %w", err)
	}
	cmd := exec.Command(self, "lab", "serve", "--dir", dir, "--scale", strconv.Itoa(demoScale),
		"--seed", strconv.FormatUint(p.seed, 10), "--scenario", p.scenario, "--fault", p.fault, "--for", life.String())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	logf := dir + ".log"
	if err := os.MkdirAll(filepath.Dir(logf), 0o700); err != nil {
		return nil, fmt.Errorf("start lab: %w", err)
	}
	errs, err := os.OpenFile(logf, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start lab: %w", err)
	}
	defer errs.Close()
	cmd.Stderr = errs
	ready, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start lab: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start lab: %w", err)
	}
	done := make(chan struct{})
	stop = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may be gone already
		<-done
	}
	first := make(chan error, 1)
	go func() {
		defer close(done)
		line, err := bufio.NewReaderSize(ready, 1<<20).ReadBytes('\n')
		if err == nil && !json.Valid(line) {
			err = errors.New("it did not say that it is ready")
		}
		first <- err
		_, _ = io.Copy(io.Discard, ready) // nothing more is expected
		_ = cmd.Wait()                    // how it ended does not matter after the ready line
	}()
	select {
	case err = <-first:
	case <-ctx.Done():
		err = ctx.Err()
	case <-time.After(60 * time.Second):
		err = errors.New("no ready line within a minute")
	}
	if err != nil {
		stop()
		said, _ := os.ReadFile(logf)
		return nil, fmt.Errorf("start lab: %w: %.300s", err, said)
	}
	return stop, nil
}
