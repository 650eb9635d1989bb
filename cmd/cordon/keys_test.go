package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"cordon/tui"
)

var update = flag.Bool("update", false, "write the README's table of keys anew")

const (
	keysFrom = "<!-- keys: written by go test ./cmd/cordon -run Keys -update -->\n"
	keysTo   = "<!-- /keys -->"
)

// The README's table of keys is the one that the screens use.
func TestREADMEKeys(t *testing.T) {
	var b strings.Builder
	b.WriteString("| where | key | what it does |\n|---|---|---|\n")
	for _, r := range tui.Table() {
		fmt.Fprintf(&b, "| %s | `%s` | %s |\n", r.In, r.Keys, strings.ReplaceAll(r.Does, "|", `\|`))
	}
	const readme = "../../README.md"
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(text), keysFrom)
	table, after, ok2 := strings.Cut(rest, keysTo)
	if !ok1 || !ok2 {
		t.Fatal("the README has no place for the table of keys")
	}
	if *update {
		if err := os.WriteFile(readme, []byte(before+keysFrom+b.String()+keysTo+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if table != b.String() {
		t.Error("the README's table of keys is stale: go test ./cmd/cordon -run Keys -update")
	}
}
