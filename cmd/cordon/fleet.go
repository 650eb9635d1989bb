package main

import (
	"github.com/spf13/cobra"

	"cordon/internal/app"
	"cordon/internal/fleet"
)

func newFleet(e env) *cobra.Command {
	var managers bool
	c := &cobra.Command{
		Use: "fleet", Short: "List runners of all providers; contacts no host", Args: exactly(),
		Long: `fleet lists the runners of every provider, joined with the installations that checks of
hosts have found. Without a provider it lists those installations alone.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := e.open(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			f, err := a.ListFleet(cmd.Context(), app.FleetOptions{Managers: managers})
			if err != nil {
				return err
			}
			if e.flags.json {
				err = e.encode(struct {
					fleet.Fleet
					Simulated bool `json:"simulated,omitempty"`
				}{f, a.Simulated()})
			} else {
				e.lines(a).Fleet(f)
			}
			*e.code = app.FleetExit(f)
			return err
		},
	}
	c.Flags().BoolVar(&managers, "managers", false, "ask every runner which machines use it: one call more for each")
	c.Flags().BoolVar(&e.flags.json, "json", false, "as JSON")
	return c
}
