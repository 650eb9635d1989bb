package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/app"
	"cordon/internal/host"
)

func newCaseFetch(e env) *cobra.Command {
	var s app.FetchSpec
	var yes bool
	c := &cobra.Command{
		Use: "fetch CASE HOST PATH|proc:PID", Short: "Read exactly one file of a case's host, or the executable of a process", Args: exactly("CASE", "HOST", "PATH|proc:PID"),
		Long: `fetch reads the one file that a finding points at, with one fixed script and one
connection. proc:PID is the executable of a process, also where its file was deleted.
Looking is seen on the host; what it does there is shown and confirmed first.

Where the case was opened with recipients (evidence: {recipients: [age1…]} in the
configuration) the file is sealed to them as it is read; age -d -i IDENTITY opens the
item of the bundle. Otherwise it is described: size, mode, times, type, hash, whether it
looks secret-bearing. Its clear bytes are never on a disk here.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			s.Case, s.Host, s.What = args[0], args[1], args[2]
			if strings.TrimSpace(s.Reason) == "" {
				return usage(fmt.Errorf("--reason: the host is contacted, and why is kept with it"))
			}
			if cmd.Flags().Changed("max") && s.Max < 1 {
				return usage(fmt.Errorf("--max: at least 1 byte"))
			}
			a, err := e.open(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			plan, err := a.PlanFetch(s)
			if err != nil {
				return err
			}
			looks, err := a.LookAt(cmd.Context(), []string{s.Host})
			if err != nil {
				return err
			}
			if touches(looks) > 0 {
				app.Lines{W: e.err, Simulated: a.Simulated()}.Looking(looks)
			}
			if !yes {
				if !isTerminal(e.in) {
					return fmt.Errorf("fetch from %s: %w: %s; say --yes --reason", s.Host, app.ErrNeeds, seenOn(looks))
				}
				lines := e.lines(a)
				lines.FetchPlan(plan)
				p := &app.Person{Ctx: cmd.Context(), In: e.in, Out: lines}
				if err := p.ConfirmLooking(looks[0]); err != nil {
					return err
				}
			}
			ctx, end := e.reading(cmd.Context(), a.Simulated(), 1)
			defer end()
			f, err := a.Fetch(ctx, s, plan.Hash())
			if err != nil {
				return err
			}
			*e.code = f.Exit()
			if e.flags.json {
				return e.encode(f)
			}
			e.lines(a).Fetched(f)
			return nil
		},
	}
	f := c.Flags()
	f.BoolVar(&yes, "yes", false, "read it without asking")
	f.StringVar(&s.Reason, "reason", "", "why, kept in the case")
	f.Int64Var(&s.Max, "max", host.DefaultFetch, fmt.Sprintf("bytes that are read at most, up to %d", int64(host.MaxFetch)))
	f.BoolVar(&e.flags.json, "json", false, "as JSON")
	return c
}
