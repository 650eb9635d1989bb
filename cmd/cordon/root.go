package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"cordon/internal/app"
	"cordon/internal/casefile"
	"cordon/internal/untrusted"
	"cordon/tui"
)

// stateFS is what the state directory stands on; nil: the machine's file system. Only
// tests put another one here: no flag and no environment variable does.
var stateFS casefile.FS

// flags are the options every command takes.
type flags struct {
	config   string
	state    string
	lab      string
	readOnly bool
	json     bool
	plain    bool
	ascii    bool
}

// env is what a command is built with.
type env struct {
	streams
	flags *flags
	code  *int // the exit code of a command that ended without an error
	asker *tui.Asker
	live  *app.Live // nil: nobody looks on
}

func newRoot(s streams, code *int) *cobra.Command {
	e := env{streams: s, flags: &flags{}, code: code, live: newLive(s.err)}
	e.asker = tui.NewAsker(e.askSecret)
	root := &cobra.Command{
		Use:   "cordon",
		Short: "Contain a compromised CI runner, keep the evidence, and prove that it went silent",
		Long: `cordon brings the runner lists of CI providers and SSH checks of the runner hosts
into one view and walks through containment: pause, rotate, collect, deregister,
confirm. Nothing outside changes except by a confirmed, recorded change.

Exit codes: 0 done, 1 failed, 2 usage or configuration, 3 findings, 4 cannot tell,
5 still polls or knocks, 6 needs confirmation, 7 held by another, 8 integrity broken.`,
		SilenceErrors: true, SilenceUsage: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(fmt.Errorf("no command called %q; see cordon --help", args[0]))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !e.onScreen() {
				return cmd.Help()
			}
			a, err := e.open(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			_, err = e.show(cmd.Context(), a, tui.Options{})
			return err
		},
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err) })
	p := root.PersistentFlags()
	p.StringVar(&e.flags.config, "config", "", "configuration file (default $XDG_CONFIG_HOME/cordon/config.yaml)")
	p.StringVar(&e.flags.state, "state-dir", "", "where cases are kept (default $XDG_STATE_HOME/cordon)")
	p.StringVar(&e.flags.lab, "lab", "", "work on the lab that was started with this directory: everything is SIMULATED, by the configuration in it (not with --config)")
	p.BoolVar(&e.flags.readOnly, "read-only", false, "look only: no change outside can be permitted in this process; what was read is kept in the state directory")
	p.BoolVar(&e.flags.plain, "plain", false, "ask and answer line by line instead of on a screen")
	p.BoolVar(&e.flags.ascii, "ascii", false, "draw the screen with ASCII alone")
	root.AddCommand(newVersion(e), newLab(e), newDemo(e), newTriage(e), newFleet(e), newDoctor(e), newHost(e), newChecks(e), newSweep(e), newContain(e), newOffboard(e), newCase(e), newApprove(e), newBundle(e), newPlaybook(e), newKeys(e))
	return root
}

// group is a command that only holds others.
func group(use, short string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(fmt.Errorf("%s has no command called %q; see cordon %s --help", cmd.Name(), args[0], cmd.Name()))
			}
			return cmd.Help()
		},
	}
	c.AddCommand(subs...)
	return c
}

// exactly asks for n arguments and names them in the error.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		takes, got := "no arguments", fmt.Sprintf("%d arguments", len(args))
		if len(names) > 0 {
			takes = strings.Join(names, " and ")
		}
		if len(args) == 1 {
			got = "1 argument"
		}
		return usage(fmt.Errorf("%s takes %s, got %s; see %s --help", cmd.CommandPath(), takes, got, cmd.CommandPath()))
	}
}

// open builds the app for a command.
func (e env) open(cmd *cobra.Command) (*app.App, error) {
	return app.Open(cmd.Context(), e.options())
}

// openRecord builds the app for a command that reads cases and asks nobody.
func (e env) openRecord(cmd *cobra.Command) (*app.App, error) {
	o := e.options()
	o.Offline = true
	return app.Open(cmd.Context(), o)
}

func (e env) options() app.Options {
	return app.Options{
		Config: e.flags.config, State: e.flags.state, Lab: e.flags.lab, ReadOnly: e.flags.readOnly,
		Version: version(), Ask: e.asker.Ask, FS: stateFS,
	}
}

// encode writes v as one line of JSON without a character that a terminal would act on:
// what hosts and services call themselves is in it.
func (e env) encode(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = e.out.Write(append(untrusted.EscapeJSON(b), '\n'))
	return err
}

// lines is the plain writer of a command.
func (e env) lines(a *app.App) app.Lines {
	return app.Lines{W: e.live.Above(e.out), Simulated: a.Simulated()}
}

// isTerminal tells a person's terminal from other character devices, such as /dev/null.
func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
