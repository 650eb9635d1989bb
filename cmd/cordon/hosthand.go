package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"cordon/internal/check"
)

func newHostScript(e env) *cobra.Command {
	var name, profile, root string
	c := &cobra.Command{
		Use: "script", Short: "Print a self-contained script for somebody else to run on a host", Args: exactly(),
		Long: `script prints what cordon would send to a host, with a nonce of its own: hand it to
whoever has a console there. It reads and writes nothing but its standard output.

    cordon host script --host build-07 > s.sh
    (there)  (umask 077; sh s.sh > answer.txt)    as root where possible
    (here)   cordon host ingest answer.txt --by "who ran it"

The answer holds secrets of the host in clear (environments, .env files) until it is
ingested: write it where nobody else can read, carry it over an encrypted way, and delete
it there and here once it was taken in.

Each script is for one read of one host. That it was printed is kept, also with
--read-only: nothing outside changes by it.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := e.open(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			p, err := a.PrintScript(name, profile, root)
			if err != nil {
				return err
			}
			_, err = e.out.Write([]byte(p.Text))
			if err == nil && isTerminal(os.Stdout) {
				fmt.Fprintln(e.err, "that was the script; redirect it to a file")
			}
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&name, "host", "", "whom it is for; its answer is taken for no other host")
	f.StringVar(&profile, "profile", "triage", "triage or watch")
	f.StringVar(&root, "root", "", "where a disk image is mounted over there, to be read instead of the machine")
	return c
}

func newHostIngest(e env) *cobra.Command {
	var name, by, reason, failOn string
	c := &cobra.Command{
		Use: "ingest FILE", Short: "Take the answer to a printed script and run every check on it", Args: exactly("FILE"),
		Long: `ingest reads what a script of "cordon host script" wrote. Its frames, its end and its
nonce are checked as with any other way; a nonce counts once. Who carried the file could
have written it: the read is kept as brought by hand, with who brought it. The file holds
secrets in clear and is not touched: delete it afterwards.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			least, err := check.ParseSeverity(failOn)
			if err != nil {
				return usage(fmt.Errorf("--fail-on: %w", err))
			}
			a, err := e.open(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			r, err := a.IngestHost(cmd.Context(), args[0], name, by, reason)
			return e.report(a, r, err, least)
		},
	}
	f := c.Flags()
	f.StringVar(&name, "host", "", "whose answer it is (default: whom the script was printed for)")
	f.StringVar(&by, "by", "", "who ran it and brought the file (default: you)")
	f.StringVar(&reason, "reason", "", "why, kept in the case")
	f.StringVar(&failOn, "fail-on", "high", "exit 3 at findings of this severity or above")
	f.BoolVar(&e.flags.json, "json", false, "as JSON")
	return c
}
