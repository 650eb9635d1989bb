package app

import (
	"strings"
	"testing"

	"cordon/internal/fleet"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/providers"
)

// A GitHub's references are longer than a GitLab's: they are written whole, and what stands
// behind them still stands below each other, whatever a runner is called.
func TestTheListOfRunnersKeepsItsColumns(t *testing.T) {
	var f fleet.Fleet
	for _, path := range []string{"acme", "acme/a-repository-with-a-rather-long-name"} {
		f.Rows = append(f.Rows, fleet.Row{Runner: providers.Runner{
			Ref:  target.Ref{System: "gh", Kind: target.Runner, ID: "23", Scope: target.Scope{Level: "repository", Path: path}},
			Name: untrusted.Text("漢字\x1b[2J"), Status: "online",
		}})
	}
	var b strings.Builder
	Lines{W: &b}.Fleet(f)
	lines := strings.Split(b.String(), "\n")
	at := strings.Index(lines[0], "STATUS")
	for i, l := range lines[1:3] {
		if !strings.HasPrefix(l, f.Rows[i].Runner.Ref.String()+" ") || strings.Index(l, "online") != at+2 { // two runes of three bytes and two cells each
			t.Errorf("%q, below\n%q", l, lines[0])
		}
	}
}
