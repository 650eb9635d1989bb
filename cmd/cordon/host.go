package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/app"
	"cordon/internal/check"
)

func newHost(e env) *cobra.Command {
	return group("host", "Check runner hosts over SSH", newHostCheck(e))
}

func newHostCheck(e env) *cobra.Command {
	var yes bool
	var reason, failOn string
	c := &cobra.Command{
		Use: "check HOST", Short: "Read one host once and run every check on what it says", Args: exactly("HOST"),
		Long: `check logs in to HOST, reads it with one fixed script and runs the checks on the answer.
A login is seen on the host: it is in its logs, runs its login code, and may warn whoever
owns it. The read is kept as a case.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			least, err := check.ParseSeverity(failOn)
			if err != nil {
				return usage(fmt.Errorf("--fail-on: %w", err))
			}
			if yes && strings.TrimSpace(reason) == "" {
				return usage(fmt.Errorf("--yes needs --reason: a login is seen on the host, and why is kept with it"))
			}
			a, err := e.open(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			if err := a.KnowsHost(args[0]); err != nil {
				return err
			}
			lines := e.lines(a)
			if !yes {
				if !isTerminal(e.in) {
					return fmt.Errorf("check %s: %w: a login is visible on the host; say --yes --reason", args[0], app.ErrNeeds)
				}
				if err := (&app.Person{Ctx: cmd.Context(), In: e.in, Out: lines}).ConfirmLogin(args[0]); err != nil {
					return err
				}
			}
			r, err := a.CheckHost(cmd.Context(), args[0], reason)
			if err != nil {
				return err
			}
			if e.flags.json {
				err = json.NewEncoder(e.out).Encode(r)
			} else {
				lines.HostReport(r)
			}
			*e.code = r.Exit(least)
			return err
		},
	}
	f := c.Flags()
	f.BoolVar(&yes, "yes", false, "log in without asking")
	f.StringVar(&reason, "reason", "", "why, kept in the case")
	f.StringVar(&failOn, "fail-on", "high", "exit 3 at findings of this severity or above")
	f.BoolVar(&e.flags.json, "json", false, "as JSON")
	return c
}
