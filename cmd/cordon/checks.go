package main

import (
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/app"
	"cordon/internal/check"
)

func newChecks(e env) *cobra.Command {
	c := &cobra.Command{
		Use: "checks", Short: "List the checks: what each reads, with which rights, ATT&CK and NIST", Args: exactly(),
		RunE: func(*cobra.Command, []string) error {
			list := check.List()
			if e.flags.json {
				return e.encode(map[string]any{"schema": check.ListSchema, "checks": list, "not_looked_at": check.NotCovered()})
			}
			lines := app.Lines{W: e.out}
			for _, l := range list {
				lines.Printf("%-16s %s", l.ID, l.Title)
				lines.Printf("%-16s reads: %s", "", l.Reads)
				lines.Printf("%-16s rights: %s; ATT&CK %s; NIST %s", "", l.Privilege, strings.Join(l.Attack, " "), strings.Join(l.NIST, " "))
			}
			lines.Printf("not looked at: %s", strings.Join(check.NotCovered(), "; "))
			return nil
		},
	}
	c.Flags().BoolVar(&e.flags.json, "json", false, "as JSON")
	return c
}
