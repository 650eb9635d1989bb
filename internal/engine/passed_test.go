package engine_test

import (
	"strings"
	"testing"
	"time"

	"cordon/internal/engine"
	"cordon/internal/witness"
	"cordon/providers"
)

// A clock that is set while a case is watched proves nothing: the window is as long as
// without it.
func TestAClockThatIsSetDuringTheWatchMakesNoSilence(t *testing.T) {
	for name, step := range map[string]time.Duration{"forward": 2 * time.Hour, "not at all": 0} {
		g := newRig(t, whole).open()
		g.answer(willing(g.until(kind(engine.Watch))))
		began := g.w.Clock.Steady()
		g.next()
		g.w.Clock.Jump(step)
		if p := g.next(); p.Kind == engine.Progress && len(p.Verdicts) > 0 && p.Verdicts[0].State == witness.Silent {
			t.Fatalf("%s: %s", name, p.Text)
		}
		e := g.end()
		ran := g.w.Clock.Steady() - began
		if needs := needed(g); e.Word != engine.Contained || ran < needs || ran > needs+needs/4 {
			t.Errorf("%s: ends %s after %s of %s", name, e.Word, ran, needs)
		}
		said := false
		for _, l := range g.lines("verdict") {
			said = said || strings.Contains(string(l.Data), "by the clock of this machine")
		}
		if said != (step != 0) {
			t.Errorf("%s: that the clock was set is said: %v", name, said)
		}
	}
}

// What nobody counted, because cordon was not there, has to pass again where no service's
// clock tells of it.
func TestTimeThatNobodyCountedHasToPassAgain(t *testing.T) {
	g := newRig(t, whole).open()
	g.answer(willing(g.until(kind(engine.Watch))))
	began := g.w.Clock.Steady()
	g.next()
	g.die()
	g.w.Clock.Jump(2 * time.Hour)
	if e := g.end(); e.Word != engine.Contained || g.w.Clock.Steady()-began < needed(g) {
		t.Errorf("ends %s after %s", e.Word, g.w.Clock.Steady()-began)
	}
}

func needed(g *rig) time.Duration {
	return g.w.Systems()[runner.System].(interface{ Silence() providers.Silence }).Silence().Needs
}
