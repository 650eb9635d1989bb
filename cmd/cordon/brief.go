package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"cordon/internal/app"
	"cordon/internal/report"
)

func newCaseBrief(e env) *cobra.Command {
	c := &cobra.Command{
		Use: "brief CASE", Short: "Tell a case in eight lines, to read out or paste into a channel", Args: exactly("CASE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := e.openRecord(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			v, err := a.View(args[0])
			if err != nil {
				return err
			}
			lines := report.Brief(v, a.Clock().Now())
			if e.flags.json {
				return e.encode(map[string]any{"schema": "cordon.brief/1", "case": v.ID, "simulated": v.Simulated, "head": v.Head, "lines": lines})
			}
			out := app.Lines{W: e.out} // its first line says SIMULATED where it is
			for _, l := range lines {
				out.Printf("%s", l)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&e.flags.json, "json", false, "as JSON, with the whole digest of the head")
	return c
}

func newCaseWindow(e env) *cobra.Command {
	var since, until, why string
	c := &cobra.Command{
		Use: "window CASE --since WHEN --why TEXT", Short: "Change the suspect window of a case, with a reason", Args: exactly("CASE"),
		Long: `window changes the time in which the runner is suspect. Where the list of what it could reach
is open already and the window now begins earlier, the list is opened again: it can
grow, it never shrinks. WHEN is a time (2026-11-02 or 2026-11-02T15:04:05Z) or how long
ago (72h).`,
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := e.open(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			from, err := moment(since, a.Clock().Now())
			if err != nil || from.IsZero() {
				return usage(fmt.Errorf("--since %q: write a time as 2026-11-02T15:04:05Z, a day, or how long ago as 72h", since))
			}
			to, err := moment(until, a.Clock().Now())
			if err != nil {
				return usage(fmt.Errorf("--until %q: write a time as 2026-11-02T15:04:05Z, a day, or how long ago as 72h", until))
			}
			s, err := a.Resume(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer s.Close()
			list, err := s.SetWindow(cmd.Context(), from, to, why)
			if err != nil {
				return err
			}
			lines := e.lines(a)
			lines.Printf("case %s is suspect since %s", s.ID(), from.UTC().Format(time.RFC3339))
			if list != nil {
				lines.Printf("the list of what it could reach was opened again: %s", list.Summary())
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&since, "since", "", "when the window begins")
	f.StringVar(&until, "until", "", "when it ends (default: it is not over)")
	f.StringVar(&why, "why", "", "why, kept in the case")
	return c
}

// moment is a time, a day in UTC, or so long before now; empty is the zero time.
func moment(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(s); err == nil {
		return now.Add(-d.Abs()), nil
	}
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t, nil
	}
	return time.Parse(time.RFC3339, s)
}
