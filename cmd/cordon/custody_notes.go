package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/app"
)

func newCaseHold(e env) *cobra.Command {
	var why string
	var release bool
	c := &cobra.Command{
		Use: "hold CASE", Short: "Legal hold: keep a case from being purged, and list what goes by itself elsewhere", Args: exactly("CASE"),
		Long: `hold keeps a case from being purged until it is released with a reason. It reaches no
provider: what those will delete by themselves, and when, is asked for with reads alone
and listed, "not known" where they do not tell.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := e.open(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			act := a.Hold
			if release {
				act = a.Release
			}
			h, err := act(cmd.Context(), args[0], why)
			if err != nil {
				return err
			}
			if e.flags.json {
				return e.encode(h)
			}
			app.Lines{W: e.out, Simulated: h.Simulated}.Held(h)
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&why, "reason", "", "why, kept in the journal")
	f.BoolVar(&release, "release", false, "take the case off hold")
	f.BoolVar(&e.flags.json, "json", false, "as JSON")
	return c
}

func newCaseEvents(e env) *cobra.Command {
	var follow bool
	c := &cobra.Command{
		Use: "events CASE", Short: "One JSON line for each line of the journal, for a log forwarder", Args: exactly("CASE"),
		Long: `events writes a line of JSON (cordon.event/1) for each line of the journal: who, when, what,
how it ended, and the line's hash, without its data. With --follow it goes on until the
case ends. A hash that has left the machine is a head that bundle verify --head takes.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := e.openRecord(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			return a.Events(cmd.Context(), args[0], follow, func(x app.CaseEvent) error { return e.encode(x) })
		},
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on with new lines as they come, until the case ends")
	c.Flags().BoolVar(&e.flags.json, "json", true, "as JSON, which is the only form")
	return c
}

func newCaseNote(e env) *cobra.Command {
	return &cobra.Command{
		Use: "note CASE TEXT...", Short: "Write a note into a case",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usage(fmt.Errorf("%s takes CASE and TEXT; see %s --help", cmd.CommandPath(), cmd.CommandPath()))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := e.open(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			l, err := a.Note(cmd.Context(), args[0], strings.Join(args[1:], " "))
			if err != nil {
				return err
			}
			app.Lines{W: e.out}.Printf("noted: line %d, head %.16s", l.Seq, l.Sum())
			return nil
		},
	}
}

func newCaseAttach(e env) *cobra.Command {
	var what string
	c := &cobra.Command{
		Use: "attach CASE FILE", Short: "Keep a file in a case as evidence", Args: exactly("CASE", "FILE"),
		Long: `attach keeps FILE in the case as it is, with its hash: a screenshot, an export of another
tool, a mail. It is evidence and not looked into: whatever secret is in it goes into every
bundle of the case. Only a plain file of at most 64 MiB is taken.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := e.open(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			it, err := a.Attach(cmd.Context(), args[0], args[1], what)
			if err != nil {
				return err
			}
			if e.flags.json {
				return e.encode(it)
			}
			app.Lines{W: e.out}.Printf("attached: %s, %d bytes, sha256 %s", it.Name, it.Size, it.Digest)
			return nil
		},
	}
	c.Flags().StringVar(&what, "what", "", "what it is and where it comes from; kept with it")
	c.Flags().BoolVar(&e.flags.json, "json", false, "as JSON")
	return c
}

func newCaseImportLog(e env) *cobra.Command {
	var format string
	c := &cobra.Command{
		Use: "import-log CASE FILE", Short: "Bring a log of another system into a case's timeline", Args: exactly("CASE", "FILE"),
		Long: `import-log reads an export of another system into the timeline of a case: entries since a
day before the suspect window, cleaned, with what looks like a secret replaced. FILE
itself is not kept, its digest is; case attach keeps a file. Lines of a proxy from a
host's address to the provider, since the watch began, count as a witness of their own.

  github-audit  JSON or CSV of GitHub's audit log     gitlab-audit  CSV or JSON of GitLab's
  edr           alerts as JSON                        proxy         Squid, combined, key=value`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if format == "" {
				return usage(fmt.Errorf("say what it is: --format, one of %s", strings.Join(app.LogFormats(), ", ")))
			}
			a, err := e.open(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			im, err := a.ImportLog(cmd.Context(), args[0], format, args[1])
			if err != nil {
				return err
			}
			if e.flags.json {
				return e.encode(im)
			}
			e.lines(a).ImportedLog(im)
			return nil
		},
	}
	c.Flags().StringVar(&format, "format", "", "one of "+strings.Join(app.LogFormats(), ", "))
	c.Flags().BoolVar(&e.flags.json, "json", false, "as JSON")
	return c
}
