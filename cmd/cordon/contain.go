package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cordon/internal/app"
	"cordon/internal/target"
	"cordon/tui"
)

// standingFlags are the answers given before the questions.
type standingFlags struct {
	yes     bool
	reason  string
	options []string
	dry     bool
	glass   string
}

func (s *standingFlags) bind(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&s.yes, "yes", false, "answer without a person: apply the first plan of each step; needs --reason")
	f.StringVar(&s.reason, "reason", "", "why, in writing: kept with everything that --yes sets aside")
	f.StringVar(&s.glass, "break-glass", "", "why one person goes on where the playbook wants a second one: marked in the record and the report until somebody countersigns")
	f.StringArrayVar(&s.options, "option", nil, "VERB=OPTION: which plan of a verb --yes takes, e.g. rotate=discard; revoke=none and purge=none pass over the rest; host=none: no host of a runner can be read where none is known")
}

// decider gives the source of decisions: a standing answer, or a person at a terminal.
func (s *standingFlags) decider(ctx context.Context, e env, lines app.Lines) (app.Decider, error) {
	opts := map[string]string{}
	for _, o := range s.options {
		verb, opt, ok := strings.Cut(o, "=")
		if !ok || verb == "" || opt == "" {
			return nil, usage(fmt.Errorf("--option %q: write VERB=OPTION", o))
		}
		opts[verb] = opt
	}
	switch {
	case s.dry:
		return app.Standing{Dry: true}.Decide, nil
	case s.yes && strings.TrimSpace(s.reason) == "":
		return nil, usage(fmt.Errorf("--yes needs --reason: what it sets aside is kept with it"))
	case s.yes:
		return app.Standing{Reason: s.reason, Options: opts, BreakGlass: s.glass}.Decide, nil
	case isTerminal(e.in):
		return (&app.Person{Ctx: ctx, In: e.in, Out: lines, BreakGlass: s.glass}).Decide, nil
	}
	return app.Nobody, nil
}

func newContain(e env) *cobra.Command {
	var s standingFlags
	var spec app.CaseSpec
	var since time.Duration
	c := &cobra.Command{
		Use:   "contain REF [REF...]",
		Short: "Contain one runner, or several: pause, rotate, collect, deregister, confirm",
		Long: `contain opens a case for the runner REF (PROVIDER/runner/ID; see cordon fleet) and walks
the playbook. At a terminal every plan is shown and asked for. With --dry-run every plan
is captured and shown, and nothing is sent or kept.

With ssh/host/NAME in place of a runner the case is about that configured host alone, for
a runner on it that no account of ours has: it is read, its unit stopped where one is
configured, and watched; the registration stays an open item.

With several runners each act is done on the first one alone; the others follow as one
plan with one confirmation that names how many changes it makes. The first change that
fails stops those behind it. A host goes with the runner that --host RUNNER=HOST names
(--host 23=gha-01), else with the one that it was seen to hold, or that has its name.

What removes a runner or stops an agent waits for its hosts to be read. Where no host is
known, or a host turns out to be another runner's, --yes ends there with exit 6: name the
host, or say with --option host=none that none can be read. A host that is another
runner's is no witness: a person can go on, and the verdict stays "cannot tell".`,
		Example: "  cordon contain gitlab-prod/runner/42\n  cordon contain gitlab-prod/runner/42 --host build-07 --yes --reason 'EDR alert 991: miner on build-07'",
		Args:    atLeastOne("REF"),
		RunE: func(cmd *cobra.Command, args []string) error {
			asked := s.dry
			s.dry = s.dry || e.flags.readOnly
			e.flags.readOnly = s.dry // a dry run is one in which no permit can exist
			a, err := e.open(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			lines := e.lines(a)
			if e.flags.readOnly && s.yes && !asked {
				return usage(fmt.Errorf("--yes with --read-only does nothing: leave out --read-only to act, or take --dry-run to see every plan"))
			}
			if s.dry && s.yes {
				fmt.Fprintln(e.err, "cordon: --yes is ignored: nothing can be applied in a dry run or with --read-only")
			}
			decide, err := s.decider(cmd.Context(), e, lines)
			if err != nil {
				return err
			}
			if since > 0 {
				spec.Since = a.Clock().Now().Add(-since)
			}
			spec.Dry, spec.Also = s.dry, args[1:]
			if !s.yes && !s.dry && e.onScreen() && !app.AboutHost(args[0]) { // the screen is about runners
				_, err := e.show(cmd.Context(), a, tui.Options{Contain: args[0], Spec: spec})
				return err
			}
			session, err := a.NewCase(cmd.Context(), args[0], spec)
			if err != nil {
				return err
			}
			defer session.Close()
			others, err := a.OpenAbout(session.Runners(), session.ID())
			if err != nil {
				lines.Printf("whether another case is open about it could not be read: %v", err)
			}
			for _, id := range others {
				lines.Printf("another case is open about it: %s; go on with that instead: %s", id, e.resume(id))
			}
			return e.walk(cmd, session, lines, decide)
		},
	}
	s.bind(c)
	f := c.Flags()
	f.BoolVar(&s.dry, "dry-run", false, "show every plan, send nothing")
	f.StringArrayVar(&spec.Hosts, "host", nil, "configured host that uses the runner, where the provider's addresses do not say; RUNNER=HOST with several runners")
	f.StringVar(&spec.ID, "case", "", "id for the case (default: made from runner and time)")
	f.StringVar(&spec.Playbook, "playbook", "contain", "built-in playbook or a file")
	f.StringVar(&spec.Kind, "kind", "incident", "kind of the case: incident or offboarding")
	f.DurationVar(&since, "since", 0, "how far back the suspect window reaches (default 720h)")
	f.StringVar(&spec.WindowWhy, "since-why", "", "why the window begins there")
	return c
}

// walk runs a case to its ending and sets the exit code.
func (e env) walk(cmd *cobra.Command, s *app.Session, lines app.Lines, decide app.Decider) error {
	name := "case " + s.ID()
	if !s.Kept() {
		name = "dry run: nothing is sent or kept"
	}
	lines.Printf("%s: %s, hosts: %s", name, refs(s.Runners()), orNone(s.HostNames()))
	ctx, over := e.reading(cmd.Context(), lines.Simulated, 1) // a walk reads them one by one
	defer over()
	end, err := s.Walk(ctx, lines, decide)
	if s.Kept() && (err != nil || end.Word == app.Stopped) {
		lines.Printf("what was sent is on record and the case stays open; go on with: %s", e.resume(s.ID()))
	}
	if err != nil {
		return err
	}
	*e.code = end.Exit
	return nil
}

func refs(all []target.Ref) string {
	var s []string
	for _, t := range all {
		s = append(s, t.String())
	}
	return strings.Join(s, ", ")
}

// atLeastOne asks for one argument or more and names them in the error.
func atLeastOne(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usage(fmt.Errorf("%s takes %s, one or more; see %s --help", cmd.CommandPath(), name, cmd.CommandPath()))
		}
		return nil
	}
}

func orNone(s []string) string {
	if len(s) == 0 {
		return "none known"
	}
	return strings.Join(s, ", ")
}
