package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/app"
	"cordon/internal/check"
	"cordon/internal/host"
)

func newHost(e env) *cobra.Command {
	return group("host", "Check runner hosts, however they can be reached", newHostCheck(e), newHostScript(e), newHostIngest(e), newHostAccept(e))
}

// hostCheck are the options of host check.
type hostCheck struct {
	yes            bool
	reason, failOn string
	root           string
	parallel       int
	least          check.Severity
}

func newHostCheck(e env) *cobra.Command {
	var o hostCheck
	c := &cobra.Command{
		Use: "check HOST...", Short: "Read hosts once each and run every check on what they say",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(fmt.Errorf("cordon host check takes at least one HOST; see cordon host check --help"))
			}
			if n, twice := app.Twice(args); twice {
				return usage(fmt.Errorf("%s is named twice", n))
			}
			return nil
		},
		Long: `check reads each HOST with one fixed script over whatever its configuration names
(SSH, exec, local) and runs the checks on the answer: one connection and one session a
host, a second session where reread is configured. A login is seen on the host: it is in
its logs, runs its login code, and may warn whoever owns it; what looking does is told
before anything is contacted. Every read is kept as a case.

With --root DIR the mounted disk image of HOST is read instead: nothing of it runs, HOST
need not be configured, and what only a running machine has is not asked for. Nobody can
notice it, so that --yes needs no --reason.`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.least, err = check.ParseSeverity(o.failOn); err != nil {
				return usage(fmt.Errorf("--fail-on: %w", err))
			}
			if o.yes && o.root == "" && strings.TrimSpace(o.reason) == "" { // a disk has no login that anybody could see
				return usage(fmt.Errorf("--yes needs --reason: a login is seen on the host, and why is kept with it"))
			}
			if o.parallel < 1 || o.parallel > app.MaxParallel {
				return usage(fmt.Errorf("--parallel: 1 to %d", app.MaxParallel))
			}
			if o.root != "" && len(args) > 1 {
				return usage(fmt.Errorf("--root is the disk of one HOST"))
			}
			a, err := e.open(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			if o.root != "" {
				r, err := a.CheckImage(cmd.Context(), args[0], o.root, o.reason)
				return e.report(a, r, err, o.least)
			}
			if err := e.declare(cmd, a, args, &o); err != nil {
				return err
			}
			ctx, end := e.reading(cmd.Context(), a.Simulated(), len(args))
			defer end()
			cmd.SetContext(ctx)
			if len(args) == 1 {
				r, err := a.CheckHost(cmd.Context(), args[0], o.reason)
				return e.report(a, r, err, o.least)
			}
			return e.checkAll(cmd, a, args, o)
		},
	}
	f := c.Flags()
	f.BoolVar(&o.yes, "yes", false, "read them without asking")
	f.StringVar(&o.reason, "reason", "", "why, kept in the case")
	f.StringVar(&o.failOn, "fail-on", "high", "exit 3 at findings of this severity or above")
	f.StringVar(&o.root, "root", "", "read the disk image mounted here instead of the host")
	f.IntVar(&o.parallel, "parallel", 8, "how many hosts are read at the same time")
	f.BoolVar(&e.flags.json, "json", false, "as JSON")
	return c
}

// declare tells what looking would do, and has a person confirm it. Hosts whose keys
// wait for a finger are read one after the other.
func (e env) declare(cmd *cobra.Command, a *app.App, names []string, o *hostCheck) error {
	for _, n := range names {
		if err := a.KnowsHost(n); err != nil {
			return err
		}
	}
	looks, err := a.LookAt(cmd.Context(), names)
	if err != nil {
		return err
	}
	if !o.yes && !isTerminal(e.in) {
		return fmt.Errorf("check %s: %w: %s; say --yes --reason", strings.Join(names, " "), app.ErrNeeds, seenOn(looks))
	}
	lines := app.Lines{W: e.err, Simulated: a.Simulated()}
	if !o.yes {
		lines = e.lines(a)
	}
	if !o.yes || touches(looks) > 0 || len(names) > 1 {
		lines.Looking(looks)
	}
	if touches(looks) > 0 {
		o.parallel = 1
	}
	if o.yes {
		return nil
	}
	p := &app.Person{Ctx: cmd.Context(), In: e.in, Out: lines}
	if len(names) == 1 {
		return p.ConfirmLooking(looks[0])
	}
	return p.Typed("check "+strings.Join(names, " "), fmt.Sprintf("%d hosts", len(names)), seenOn(looks))
}

// seenOn is who can notice that the hosts are read, each way once.
func seenOn(all []host.Looking) string {
	var out []string
	for _, l := range all {
		if s := app.ReachOf(l).Seen; !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return strings.Join(out, "; ")
}

func touches(all []host.Looking) (n int) {
	for _, l := range all {
		n += l.Touches
	}
	return n
}

// report writes what one host said.
func (e env) report(a *app.App, r app.HostReport, err error, least check.Severity) error {
	if err != nil {
		return err
	}
	if e.flags.json {
		err = e.encode(r)
	} else {
		e.lines(a).HostReport(r)
	}
	*e.code = r.Exit(least)
	return err
}

// checkAll reads several hosts.
func (e env) checkAll(cmd *cobra.Command, a *app.App, names []string, o hostCheck) error {
	r, err := a.CheckHosts(cmd.Context(), names, o.reason, o.least, o.parallel, e.progress(a.Simulated()))
	if r.Summary.Asked == 0 && err != nil {
		return err
	}
	if code := r.Exit(); code != app.ExitDone && errors.Is(err, context.Canceled) { // cut short is no failure: findings, or cannot tell
		err = coded{err, code}
	}
	*e.code = r.Exit()
	if e.flags.json {
		if jerr := e.encode(r); jerr != nil {
			return jerr
		}
	} else {
		e.lines(a).HostsReport(r)
	}
	return err
}
