package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/app"
	"cordon/internal/bundle"
	"cordon/internal/casefile"
)

// custody are the commands about who has a case and what becomes of it.
func custody(e env) []*cobra.Command {
	return []*cobra.Command{
		newCaseHandover(e), newCaseImport(e), newCaseHold(e), newCasePurge(e), newCaseEvents(e), newCaseNote(e), newCaseAttach(e), newCaseFetch(e), newCaseImportLog(e),
	}
}

// showFlags are what of a case is shown.
type showFlags struct{ follow, identity, matrix bool }

func (s *showFlags) bind(c *cobra.Command) {
	c.Flags().BoolVar(&s.identity, "identity", false, "who wrote it, with which program and credentials, and by whose clocks")
	c.Flags().BoolVar(&s.matrix, "matrix", false, "where every step stands for every runner")
	c.Flags().BoolVarP(&s.follow, "follow", "f", false, "go on with new lines as they come, without a lock, until the case ends")
}

// headFlag is --head, several times.
type headFlag []string

func (h *headFlag) bind(c *cobra.Command) {
	c.Flags().StringArrayVar((*[]string)(h), "head", nil, "PREFIX@TIME: a head that left the case before, as the brief or the notify hook carried it, and when it was seen")
}

func (h headFlag) seen() ([]bundle.SeenHead, error) {
	var out []bundle.SeenHead
	for _, s := range h {
		x, err := bundle.ParseSeen(s)
		if err != nil {
			return nil, usage(err)
		}
		out = append(out, x)
	}
	return out, nil
}

// checks writes the rows of a verification.
func checks(w io.Writer, r bundle.Report) {
	lines := app.Lines{W: w, Simulated: r.Simulated}
	for _, c := range r.Checks {
		lines.Printf("%-11s %-10s %s", c.Word(), c.Name, c.Why)
	}
}

// follow prints a journal as it grows, until the case ends or somebody interrupts.
func (e env) follow(cmd *cobra.Command, a *app.App, id string) error {
	return a.Follow(cmd.Context(), id, func(v *casefile.View, l casefile.Line) error {
		if e.flags.json {
			return e.encode(l)
		}
		lines := app.Lines{W: e.out, Simulated: v.Opening.Simulated}
		if l.Seq == 1 {
			lines.Printf("case %s: %s", v.ID, v.Opening.Title)
		}
		lines.CaseLine(l)
		return nil
	})
}

// matrix prints where every step stands for every runner of a case.
func (e env) matrix(a *app.App, id string) error {
	m, err := a.Matrix(id)
	if err != nil {
		return err
	}
	if e.flags.json {
		return e.encode(m)
	}
	app.Lines{W: e.out, Simulated: m.Simulated}.Matrix(m)
	return nil
}

// identity prints who wrote a case and by whose clocks.
func (e env) identity(a *app.App, id string) error {
	p, err := a.Identity(id)
	if err != nil {
		return err
	}
	if e.flags.json {
		return e.encode(p)
	}
	app.Lines{W: e.out, Simulated: p.Simulated}.Identity(p)
	return nil
}

func newCaseHandover(e env) *cobra.Command {
	var out, to, why string
	c := &cobra.Command{
		Use: "handover CASE", Short: "Hand a case over: mark it, and write all of it into one signed archive", Args: exactly("CASE"),
		Long: `handover writes everything of a case into one archive, a bundle like that of case export,
and marks the case here as handed over: from then on it is written here only after
case resume --take-over with a reason. Whoever goes on runs case import on the archive.
Give them the line of allowed signers that is printed by another way than the archive.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := e.open(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			x, err := a.HandOverCase(cmd.Context(), args[0], out, to, why)
			if err != nil {
				return err
			}
			if e.flags.json {
				return errors.Join(e.encode(x), bundle.Whole(x.Lost))
			}
			lines := e.lines(a)
			lines.Printf("handed over: %s, %d files, sha256 %s", x.Path, x.Files, x.SHA256)
			lines.Printf("give this line to whoever goes on, by another way: %s", x.Allowed)
			return bundle.Whole(x.Lost)
		},
	}
	f := c.Flags()
	f.StringVarP(&out, "output", "o", "", "file to write (default CASE.handover.tar here)")
	f.StringVar(&to, "to", "", "who goes on with it")
	f.StringVar(&why, "reason", "", "why, kept in the journal")
	f.BoolVar(&e.flags.json, "json", false, "as JSON, with the digest and the signer's line")
	return c
}

func newCaseImport(e env) *cobra.Command {
	var allowed, why string
	var anySigner, incomplete bool
	var heads headFlag
	c := &cobra.Command{
		Use: "import FILE", Short: "Go on here with a case that was handed over", Args: exactly("FILE"),
		Long: `import verifies an archive of case handover (or case export), every hash, the chain, the
signed heads and the signature, and only then makes a case of it, with its chain whole.
Nothing is extracted under a name that comes from the archive. An id that is there, or
was purged, is refused.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			seen, err := heads.seen()
			if err != nil {
				return err
			}
			a, err := e.open(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			im, err := a.ImportCase(cmd.Context(), args[0], allowed, why, anySigner, incomplete, seen)
			if e.flags.json {
				if jerr := e.encode(im); jerr != nil {
					return jerr
				}
				return err
			}
			checks(e.out, im.Report)
			if err != nil {
				return err
			}
			lines := app.Lines{W: e.out, Simulated: im.Simulated}
			lines.Printf("imported: case %s, %d lines, head %s", im.Case, im.Lines, im.Head)
			if im.Lost > 0 {
				lines.Printf("%d items are on record and did not come along", im.Lost)
			}
			lines.Printf("go on with: %s", e.resume(im.Case))
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&allowed, "allowed-signers", "", "allowed_signers file (ssh-keygen(1)) that came another way")
	f.BoolVar(&anySigner, "any-signer", false, "do not check who signed; the journal says so")
	f.BoolVar(&incomplete, "incomplete", false, "go on although evidence that the journal names is not in the archive any more")
	f.StringVar(&why, "reason", "", "why, kept in the journal")
	f.BoolVar(&e.flags.json, "json", false, "as JSON")
	heads.bind(c)
	return c
}

func newCasePurge(e env) *cobra.Command {
	var why string
	var yes bool
	c := &cobra.Command{
		Use: "purge CASE", Short: "Remove a case's evidence and journal; a tombstone stays", Args: exactly("CASE"),
		Long: `purge removes the journal and all evidence of a case. What stays is a tombstone: the id,
when it was opened and purged, by whom and why, the last head and the number of lines.
It cannot be undone: export the case first. A case on hold (case hold) is not purged.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(why) == "" {
				return usage(fmt.Errorf("purge needs --reason: it stays on the tombstone"))
			}
			a, err := e.open(cmd)
			if err != nil {
				return err
			}
			defer a.Close()
			if !yes {
				if err := e.typed(cmd.Context(), "purge "+args[0], args[0], "this cannot be undone"); err != nil {
					return err
				}
			}
			stone, err := a.Purge(cmd.Context(), args[0], why)
			if err != nil {
				return err
			}
			if e.flags.json {
				return e.encode(stone)
			}
			app.Lines{W: e.out, Simulated: stone.Simulated}.Printf("purged: case %s, %d lines, last head %s", stone.ID, stone.Lines, stone.Head)
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&why, "reason", "", "why; it stays on the tombstone")
	f.BoolVar(&yes, "yes", false, "do not ask")
	f.BoolVar(&e.flags.json, "json", false, "as JSON")
	return c
}

// typed asks at the terminal for a word to be typed.
func (e env) typed(ctx context.Context, what, word, why string) error {
	if !isTerminal(e.in) {
		return fmt.Errorf("%s: %w: no terminal to ask at; say --yes", what, app.ErrNeeds)
	}
	p := &app.Person{Ctx: ctx, In: e.in, Out: app.Lines{W: e.out}}
	return p.Typed(what, word, why)
}
