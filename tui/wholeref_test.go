package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"cordon/internal/engine"
	"cordon/internal/fleet"
	"cordon/internal/target"
	"cordon/tui/table"
)

// twins are runners of one number in scopes whose names differ late.
func twins(path string, n int) []target.Ref {
	var out []target.Ref
	for i := range n {
		out = append(out, target.Ref{System: "gh", Kind: target.Runner, ID: "23", Scope: target.Scope{Level: "repository", Path: fmt.Sprintf("%s-%d", path, i)}})
	}
	return out
}

// Two runners never look alike: a reference is shown whole, and the name shrinks for it;
// one that is too long for any screen ends in a part of its digest.
func TestTwoRunnersNeverLookAlike(t *testing.T) {
	for _, path := range []string{"acme/shop", "acme/a-repository-with-a-name", strings.Repeat("long", 9) + "/" + strings.Repeat("x", 90)} {
		refs := twins(path, 4)
		var f fleet.Fleet
		for _, r := range refs {
			row := someRow("1", "all-of-them-are-called-the-same", "online")
			row.Runner.Ref = r
			f.Rows = append(f.Rows, row)
		}
		e, _ := quietEnv(t, termenv.Ascii, false)
		list := settled(fleetOn(e, &fleetFake{fleet: f}))
		step := casePause(e).(*stepper)
		step.grid = engine.Matrix{Runners: refs, Steps: []engine.StepState{{ID: "pause"}}, Cells: make([][]engine.Cell, len(refs))}
		for i := range step.grid.Cells {
			step.grid.Cells[i] = []engine.Cell{{}}
		}
		for _, w := range []int{60, 80, 120} {
			for what, v := range map[string]string{"fleet": list.View(w, 20), "matrix": newMatrix(step).View(w, 20)} {
				seen := map[string]bool{}
				for _, l := range strings.Split(v, "\n") {
					if _, rest, ok := strings.Cut(l, "gh/23@"); ok && !strings.HasPrefix(l, " 1/1") { // not the detail below
						seen["gh/23@"+strings.Fields(rest)[0]] = true
					}
				}
				if len(seen) != len(refs) {
					t.Errorf("%s, %d cells: %d runners look like %d:\n%s", what, w, len(refs), len(seen), v)
				}
				if whole := refs[0].Short(); what == "fleet" && len(whole) < 34 && !seen[whole] {
					t.Errorf("%d cells: %s is cut although the name could shrink:\n%s", w, whole, v)
				}
			}
		}
	}
}

func TestWhatIsCutEndsInItsDigest(t *testing.T) {
	a, b := strings.Repeat("a", 50)+"1", strings.Repeat("a", 50)+"2"
	for w := range 60 {
		for _, s := range []string{a, "漢字漢字漢字漢字漢字漢字漢字", "x\x1b[2J\u202e\t\n"} {
			if got := table.Whole(s, w, w%2 == 0); ansi.StringWidth(got) > w && w > 0 || strings.ContainsAny(got, "\x1b\t\n") {
				t.Errorf("%d: %q", w, got)
			}
		}
		if w >= 12 && table.Whole(a, w, true) == table.Whole(b, w, true) {
			t.Errorf("%d: both are %q", w, table.Whole(a, w, true))
		}
	}
	if got := table.Whole(a, 51, false); got != a {
		t.Errorf("cut without need: %q", got)
	}
}
