package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/app"
)

func newSweep(e env) *cobra.Command {
	var o hostCheck
	var hosts []string
	var allowed string
	c := &cobra.Command{
		Use: "sweep FILE", Short: "Where else is this: look for indicators in every kept snapshot, and on hosts read now", Args: exactly("FILE"),
		Long: `sweep holds an indicator file against every snapshot that is kept here, and contacts
nobody. With --hosts the named hosts are read first, each as a case, and asked for the
listed paths in the same session: what lies there, and the SHA-256 of regular files up to
64 MiB. No link is followed; a login is seen on them. FILE is YAML:

  schema: cordon.indicators/1
  made: 2026-11-30
  by: responder            # and: until, about
  paths: [/home/*/.dev-env]
  sha256: []               # of files whose content was kept whole, and of listed paths
  addresses: [192.0.2.66, 198.51.100.0/24]
  names: [SHA1HULUD]       # process, file, account, unit, runner, host, or a word in what was read
  keys: ["SHA256:…"]       # as ssh-keygen -l prints it

Of a path that is not among the places that are read, "not there" is said only of a host
that was asked for it; of a hash it can never be said. That is exit 4. A path with [ or \\ in
it is not asked for.

FILE.sig beside it (ssh-keygen -Y sign -n cordon-indicators@v1) is verified with
--allowed-signers. Exit codes: 0 nothing found, 3 found, 4 some place could hide it,
8 the signature is missing or wrong.`,
		Example: "  cordon sweep worm.yaml\n  cordon sweep worm.yaml --allowed-signers signers --hosts build-07,build-08",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(hosts) == 0 && (o.yes || o.reason != "") {
				return usage(fmt.Errorf("--yes and --reason are for reading hosts: name them with --hosts"))
			}
			if o.yes && strings.TrimSpace(o.reason) == "" {
				return usage(fmt.Errorf("--yes needs --reason: a login is seen on the host, and why is kept with it"))
			}
			if o.parallel < 1 || o.parallel > app.MaxParallel {
				return usage(fmt.Errorf("--parallel: 1 to %d", app.MaxParallel))
			}
			if n, twice := app.Twice(hosts); twice {
				return usage(fmt.Errorf("%s is named twice", n))
			}
			open := e.openRecord
			if len(hosts) > 0 {
				open = e.open
			}
			a, err := open(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			in, list, err := a.Indicators(args[0], allowed)
			if err != nil {
				return err
			}
			if len(hosts) > 0 {
				if err := e.declare(cmd, a, hosts, &o); err != nil {
					return err
				}
			}
			ctx, end := e.reading(cmd.Context(), a.Simulated(), len(hosts))
			defer end()
			r, err := a.Sweep(ctx, in, list, hosts, o.reason, o.parallel, e.progress(a.Simulated()))
			if err != nil {
				return err
			}
			*e.code = r.Exit()
			if e.flags.json {
				return e.encode(r)
			}
			e.lines(a).Sweep(r)
			return nil
		},
	}
	f := c.Flags()
	f.StringSliceVar(&hosts, "hosts", nil, "read these hosts first; a login is visible on each")
	f.StringVar(&allowed, "allowed-signers", "", "who may have signed FILE.sig; then it has to be there and right")
	f.BoolVar(&o.yes, "yes", false, "log in without asking")
	f.StringVar(&o.reason, "reason", "", "why, kept in the cases")
	f.IntVar(&o.parallel, "parallel", 8, "how many hosts are read at the same time")
	f.BoolVar(&e.flags.json, "json", false, "as JSON")
	return c
}
