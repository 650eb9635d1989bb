package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cordon/internal/host"
	"cordon/internal/lab"
)

func newLab(e env) *cobra.Command {
	o := lab.Options{Ready: e.out}
	var life time.Duration
	serve := &cobra.Command{
		Use: "serve", Short: "Serve a simulated GitLab or GitHub, its runners and two hosts on loopback", Args: exactly(),
		Long: `serve builds a lab in a directory and runs it until it is interrupted: a stateful GitLab
or GitHub, simulated runners that poll it, one compromised host and one clean one over SSH. Use it
with cordon --lab DIR. Nothing outside the directory is touched.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !(o.Scale >= 1) { // not a number is none either
				return usage(fmt.Errorf("--scale %v: time in a lab runs as fast as here, 1, or faster", o.Scale))
			}
			if err := knownFault(o.Scenario, o.Fault); err != nil {
				return err
			}
			if o.Dir == "" {
				d, err := os.MkdirTemp("", "cordon-lab-*")
				if err != nil {
					return err
				}
				o.Dir = d
			}
			o.Scripts = labScripts()
			ctx := cmd.Context()
			if life > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, life)
				defer cancel()
			}
			return lab.Serve(ctx, o)
		},
	}
	f := serve.Flags()
	f.DurationVar(&life, "for", 0, "end by itself after this much real time (0: when interrupted)")
	f.StringVar(&o.Dir, "dir", "", "directory to build the lab in (default: a new temporary one)")
	f.StringVar(&o.Scenario, "scenario", "", scenarioHelp())
	f.StringVar(&o.Fault, "fault", "", "fault: "+strings.Join(lab.Faults(), ", "))
	f.Float64Var(&o.Scale, "scale", 1, "how many times as fast as real time the lab's clock runs")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of everything that is generated")
	return group("lab", "Run a simulated world to practise in", serve)
}

// scenarioHelp names what --scenario may be.
func scenarioHelp() string {
	return "scenario: " + strings.Join(lab.Scenarios(), ", ") + " (default " + lab.DefaultScenario + ")"
}

// knownFault refuses a scenario that there is not, and a fault that it has no ending for.
func knownFault(scenario, name string) error {
	if scenario != "" && !slices.Contains(lab.Scenarios(), scenario) {
		return usage(fmt.Errorf("no scenario %q: choose one of %s", scenario, strings.Join(lab.Scenarios(), ", ")))
	}
	names, err := lab.FaultsOf(scenario)
	if err != nil || name == "" || slices.Contains(names, name) {
		return err
	}
	return usage(fmt.Errorf("no fault %q: choose one of %s", name, strings.Join(names, ", ")))
}

// labScripts are the only scripts that the lab's hosts run or simulate.
func labScripts() []lab.Script {
	var out []lab.Script
	for _, s := range host.Scripts() {
		out = append(out, lab.Script{Name: s.Name, SHA256: s.SHA256, Kind: s.Kind})
	}
	return out
}
