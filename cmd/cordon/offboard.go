package main

import (
	"github.com/spf13/cobra"

	"cordon/internal/engine"
)

// newOffboard is contain with another playbook and another kind of case.
func newOffboard(e env) *cobra.Command {
	c := newContain(e)
	c.Use = "offboard REF [REF...]"
	c.Short = "Retire runners: who, what depends on them, the five steps, what others hold for them"
	c.Long = `offboard opens a case for the runner REF and walks the checklist of its retirement. Steps
that people do elsewhere ask what was done, by whom and when; they can wait for somebody
until a date while the steps that do not need them go on. Leave at any time and go on
with cordon case resume, weeks later or as another person: who signs for the destruction
has to be somebody else than who did it.

With several runners case show --matrix (m on the screen) says where every step stands for
each of them; on the screen a step that waits is picked there before its date.`
	c.Example = "  cordon offboard gitlab-prod/runner/42\n  cordon case resume offboard-42-20261130T150000"
	for flag, v := range map[string]string{"playbook": "offboard", "kind": engine.KindOffboarding} {
		f := c.Flags().Lookup(flag)
		f.DefValue = v
		_ = f.Value.Set(v) // a string flag takes any text
	}
	return c
}
