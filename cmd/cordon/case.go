package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"cordon/internal/app"
	"cordon/internal/bundle"
	"cordon/internal/casefile"
	"cordon/tui"
)

func newCase(e env) *cobra.Command {
	subs := []*cobra.Command{newCaseList(e), newCaseShow(e), newCaseResume(e), newCaseBrief(e), newCaseWindow(e), newCaseExport(e), newCaseStandDown(e)}
	return group("case", "List, show, resume, hand over and export cases", append(append(subs, custody(e)...), second(e)...)...)
}

func newCaseList(e env) *cobra.Command {
	c := &cobra.Command{
		Use: "list", Short: "List the cases in the state directory", Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := e.openRecord(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			cases, err := a.Cases()
			if err != nil {
				return err
			}
			if slices.ContainsFunc(cases, func(s casefile.Summary) bool { return s.Broken != "" }) {
				*e.code = app.ExitIntegrity
			}
			if e.flags.json {
				return e.encode(map[string]any{"schema": "cordon.cases/1", "cases": cases})
			}
			lines := app.Lines{W: e.out}
			for _, s := range cases {
				lines.Printf("%s", app.CaseLine(s))
			}
			if len(cases) == 0 {
				lines.Printf("no cases in %s", a.StateDir())
			}
			return nil
		},
	}
	c.Flags().BoolVar(&e.flags.json, "json", false, "as JSON")
	return c
}

func newCaseShow(e env) *cobra.Command {
	var s showFlags
	c := &cobra.Command{
		Use: "show CASE", Short: "Show a case from its journal, verified", Args: exactly("CASE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := e.openRecord(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			switch {
			case s.identity:
				return e.identity(a, args[0])
			case s.matrix:
				return e.matrix(a, args[0])
			case s.follow:
				return e.follow(cmd, a, args[0])
			}
			v, err := a.View(args[0])
			if err != nil {
				return err
			}
			if e.flags.json {
				for _, l := range v.Lines {
					if err := e.encode(l); err != nil {
						return err
					}
				}
				return nil
			}
			return app.ShowCase(app.Lines{W: e.out, Simulated: v.Opening.Simulated}, v)
		},
	}
	s.bind(c)
	c.Flags().BoolVar(&e.flags.json, "json", false, "the journal lines as they are")
	return c
}

func newCaseResume(e env) *cobra.Command {
	var s standingFlags
	var over bool
	c := &cobra.Command{
		Use: "resume CASE", Short: "Go on with a case from its journal", Args: exactly("CASE"),
		Long: `resume goes on where the journal ends. An effect without a result is unknown: it is
observed before anything else, and never sent again unasked.

A case that somebody else holds is not taken: watch it with case show --follow. With
--take-over --reason it is: a holder that lives gives way as soon as no effect is under
way, and can write nothing afterwards; one that does not answer is named. The same order
takes back a case that was handed over.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := e.open(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			lines := e.lines(a)
			decide, err := s.decider(cmd.Context(), e, lines)
			if err != nil {
				return err
			}
			if !s.yes && !over && e.onScreen() && !a.HostsAlone(args[0]) {
				_, err := e.show(cmd.Context(), a, tui.Options{Resume: args[0]})
				return err
			}
			take := a.Resume
			if over {
				take = func(ctx context.Context, id string) (*app.Session, error) { return a.TakeOver(ctx, id, s.reason) }
			}
			session, err := take(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer session.Close()
			return e.walk(cmd, session, lines, decide)
		},
	}
	s.bind(c)
	c.Flags().BoolVar(&over, "take-over", false, "take the case from whoever holds it, or back after a handover; needs --reason")
	return c
}

func newCaseExport(e env) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use: "export CASE", Short: "Write the signed evidence bundle of a case", Args: exactly("CASE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := e.openRecord(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			x, err := a.Export(cmd.Context(), args[0], out)
			if err != nil {
				return err
			}
			if e.flags.json {
				return errors.Join(e.encode(x), bundle.Whole(x.Lost))
			}
			_, err = fmt.Fprintln(e.out, x.Path)
			return errors.Join(err, bundle.Whole(x.Lost))
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "file to write (default CASE.tar here)")
	c.Flags().BoolVar(&e.flags.json, "json", false, "as JSON, with the digest and the signer's line")
	return c
}
