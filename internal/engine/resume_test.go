package engine_test

import (
	"testing"

	"cordon/internal/engine"
)

// TestAnotherProcessAsksTheSame ends the process at every prompt of a run and opens the
// case in another one: it asks what the first would have asked, with the same plans by
// their hashes and the same guards, and it ends the same.
func TestAnotherProcessAsksTheSame(t *testing.T) {
	var asked []string
	g := newRig(t, whole).open()
	g.until(func(p engine.Prompt) bool {
		if p.N > 0 {
			asked = append(asked, says(p))
		}
		return p.Kind == engine.Finished
	})
	if len(asked) < 6 {
		t.Fatalf("only %d prompts", len(asked))
	}
	for n := range asked {
		g := newRig(t, whole).open()
		seen := 0
		g.until(func(p engine.Prompt) bool {
			if p.N > 0 {
				seen++
			}
			return seen == n+1
		})
		g.die()
		again := g.until(func(p engine.Prompt) bool { return p.N > 0 })
		if got := says(again); got != asked[n] {
			t.Errorf("prompt %d: another process asks\n%s\nthe first asked\n%s", n+1, got, asked[n])
		}
		g.answer(willing(again))
		if e := g.end(); e.Word != engine.Contained {
			t.Errorf("ended at prompt %d and gone on with: %q %q", n+1, e.Word, e.Notes)
		}
		once := map[string]int{}
		for _, e := range g.w.Ledger() {
			if once[e.Op]++; once[e.Op] > 1 {
				t.Errorf("ended at prompt %d: %s happened %d times", n+1, e.Op, once[e.Op])
			}
		}
	}
}
