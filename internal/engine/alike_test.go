package engine_test

import (
	"testing"

	"cordon/internal/engine"
)

// A step may have the same plan several times, for what is ended one at a time. Done, the
// next is asked for; skipped, nobody is asked again.
func TestTheFirstOfSeveralAlikeThatIsSkippedPassesOverTheRest(t *testing.T) {
	const one = "{do: plan, verb: rotate, on: runner}"
	const steps = stepSnapshot + "  - {id: several, title: Several, why: w, acts: [" + one + ", " + one + ", " + one + "]}\n" + stepPause
	for name, c := range map[string]struct{ applied, asked int }{"skipped at once": {0, 1}, "one, then skipped": {1, 2}} {
		g := newRig(t, steps).open()
		asked := 0
		p := g.until(func(p engine.Prompt) bool { return at("several")(p) || at("pause")(p) })
		for ; at("several")(p); p = g.until(func(p engine.Prompt) bool { return at("several")(p) || at("pause")(p) }) {
			asked++
			d := willing(p)
			if asked > c.applied {
				d = engine.Decision{N: p.N, Verb: engine.Skip, Reason: "enough"}
			}
			g.answer(d)
		}
		if asked != c.asked {
			t.Errorf("%s: asked %d times, want %d", name, asked, c.asked)
		}
	}
}
