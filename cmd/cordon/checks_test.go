package main

import (
	"os"
	"strings"
	"testing"

	"cordon/internal/check"
)

const (
	checksFrom = "<!-- checks: written by go test ./cmd/cordon -run READMEChecks -update -->\n"
	checksTo   = "<!-- /checks -->"
)

// The README's table of checks is the one that the command prints.
func TestREADMEChecks(t *testing.T) {
	const readme = "../../README.md"
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(text), checksFrom)
	table, after, ok2 := strings.Cut(rest, checksTo)
	if !ok1 || !ok2 {
		t.Fatal("the README has no place for the table of checks")
	}
	if *update {
		if err := os.WriteFile(readme, []byte(before+checksFrom+check.Markdown()+checksTo+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if table != check.Markdown() {
		t.Error("the README's table of checks is stale: go test ./cmd/cordon -run READMEChecks -update")
	}
}
