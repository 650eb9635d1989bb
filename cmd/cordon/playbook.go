package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"cordon/internal/app"
	"cordon/internal/plainfile"
	"cordon/playbooks"
)

func newPlaybook(e env) *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "List the built-in playbooks", Args: exactly(),
		RunE: func(*cobra.Command, []string) error {
			all, err := playbooks.BuiltIn()
			if err != nil {
				return err
			}
			if e.flags.json {
				type row struct {
					ID     string `json:"id"`
					Title  string `json:"title"`
					SHA256 string `json:"sha256"`
					Steps  int    `json:"steps"`
				}
				rows := []row{}
				for _, p := range all {
					rows = append(rows, row{p.ID, p.Title, p.SHA256, len(p.Steps)})
				}
				return e.encode(map[string]any{"schema": "cordon.playbooks/1", "playbooks": rows})
			}
			lines := app.Lines{W: e.out}
			for _, p := range all {
				lines.Printf("%-11s %s (%d steps, sha256:%.12s)", p.ID, p.Title, len(p.Steps), p.SHA256)
			}
			return nil
		},
	}
	list.Flags().BoolVar(&e.flags.json, "json", false, "as JSON")
	lint := &cobra.Command{
		Use: "lint FILE", Short: "Check a playbook", Args: exactly("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			b, err := plainfile.Read(args[0], app.MaxPlaybook)
			if err != nil {
				return usage(fmt.Errorf("lint: %w", err))
			}
			p, err := playbooks.Parse(args[0], b)
			if err != nil {
				return usage(err)
			}
			lines := app.Lines{W: e.out}
			bad := false
			for _, x := range playbooks.Lint(p) {
				lines.Printf("%s:%d:%d: %s: %s", args[0], x.Line, x.Col, x.Severity, x.Text)
				bad = bad || x.Severity == "error"
			}
			if bad {
				return coded{errSaid, app.ExitUsage}
			}
			lines.Printf("%s: %s is fine (%d steps)", args[0], p.ID, len(p.Steps))
			return nil
		},
	}
	schema := &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of playbooks", Args: exactly(),
		RunE: func(*cobra.Command, []string) error {
			_, err := e.out.Write(playbooks.Schema())
			return err
		},
	}
	return group("playbook", "List, check and describe playbooks", list, lint, schema)
}
