package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newDoctor(e env) *cobra.Command {
	var act bool
	c := &cobra.Command{
		Use: "doctor [SYSTEM]", Short: "Say who the credentials are and what they can do, before it is needed",
		Long: `doctor asks every provider, or the one that is named, who its credentials are and, scope
by scope, what they can do: can, in part, by hand, cannot, unknown, with the permission
that is missing. It reads and changes nothing. The credential for acting is left alone
unless --act is given: then it is fetched (and asked for, where the configuration says so)
and asked about in place of the one for looking.`,
		Example: "  cordon doctor\n  cordon doctor gh --act",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage(fmt.Errorf("%s takes one SYSTEM or none, got %d arguments; see %[1]s --help", cmd.CommandPath(), len(args)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := e.open(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			system := ""
			if len(args) > 0 {
				system = args[0]
			}
			d, err := a.Doctor(cmd.Context(), system, act)
			if err != nil {
				return err
			}
			*e.code = d.Exit()
			if e.flags.json {
				return e.encode(d)
			}
			e.lines(a).Doctor(d)
			return nil
		},
	}
	c.Flags().BoolVar(&act, "act", false, "ask about the credential for acting, which is fetched for it")
	c.Flags().BoolVar(&e.flags.json, "json", false, "as JSON")
	return c
}
