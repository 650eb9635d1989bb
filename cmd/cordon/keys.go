package main

import (
	"github.com/spf13/cobra"

	"cordon/internal/app"
	"cordon/tui"
)

func newKeys(e env) *cobra.Command {
	c := &cobra.Command{
		Use: "keys", Short: "List the keys of the screens", Args: exactly(),
		RunE: func(*cobra.Command, []string) error {
			rows := tui.Table()
			if e.flags.json {
				return e.encode(map[string]any{"schema": "cordon.keys/1", "keys": rows})
			}
			lines := app.Lines{W: e.out}
			for _, r := range rows {
				lines.Printf("%-10s %-14s %s", r.In, r.Keys, r.Does)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&e.flags.json, "json", false, "as JSON")
	return c
}
