package engine_test

import (
	"errors"
	"testing"
	"time"

	"cordon/internal/engine"
	"cordon/internal/engine/enginemodel"
	"cordon/internal/witness"
	"cordon/providers"
)

// TestTheEndingIsTheWorstThatIsTrue: each thing that is against "contained" turns the
// word and the code, and without it the same run is contained.
func TestTheEndingIsTheWorstThatIsTrue(t *testing.T) {
	world := func(f func(*enginemodel.Runner)) func(*rig) {
		return func(g *rig) { g.w.With("1", f) }
	}
	skip := func(step string) func(*rig) {
		return func(g *rig) {
			p := g.until(func(p engine.Prompt) bool { return p.N > 0 && p.Step == step })
			g.answer(engine.Decision{N: p.N, Verb: engine.Skip, Reason: "not today"})
		}
	}
	for _, c := range []struct {
		name   string
		before func(*rig)
		word   string
		exit   int
		note   string
	}{
		{"nothing", func(*rig) {}, engine.Contained, 0, ""},
		{"it knocks", world(func(r *enginemodel.Runner) { r.Knocks = true }), witness.Knocking, 5, ""},
		{"it came back", world(func(r *enginemodel.Runner) { r.Back = true }), witness.Resurrected, 5, ""},
		{"the removal was refused", func(g *rig) {
			world(quiet)(g)
			g.w.Next = func(op string) enginemodel.Fault {
				if op == providers.Deregister {
					return enginemodel.Refuse
				}
				return enginemodel.None
			}
		}, "refused", 1, "deregister fake/1: refused"},
		{"the removal was refused, and it is answered still", func(g *rig) {
			g.w.Next = func(op string) enginemodel.Fault {
				if op == providers.Deregister {
					return enginemodel.Refuse
				}
				return enginemodel.None
			}
		}, witness.Polling, 5, "deregister fake/1: refused"},
		{"the removal was skipped", func(g *rig) { world(quiet)(g); skip("remove")(g) }, "open", 1, "left in place"},
		{"nobody watched", skip("confirm"), "cannot tell", 4, "confirm fake/1: skipped: not today"},
		{"the host was away", func(g *rig) {
			g.w.WithHost("h1", func(h *enginemodel.Host) { h.Away = true })
		}, "cannot tell", 4, "stop ssh/h1: could not be reached"},
		{"the provider went blind", func(g *rig) {
			g.until(kind(engine.Watch))
			g.w.Blind = func() error { return errors.New("503") }
		}, "cannot tell", 4, "503"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, whole).open()
			c.before(g)
			e := g.endPatiently()
			if e.Word != c.word || e.Exit != c.exit {
				t.Errorf("ends %q (exit %d) %q, want %q (exit %d)", e.Word, e.Exit, e.Notes, c.word, c.exit)
			}
			if c.note != "" && !noted(e, c.note) {
				t.Errorf("no note says %q: %q", c.note, e.Notes)
			}
			g.die()
			if again := g.end(); again.Word != e.Word || again.Exit != e.Exit {
				t.Errorf("opened again it ends %q", again.Word)
			}
		})
	}
}

// quiet makes an agent that has stopped asking.
func quiet(r *enginemodel.Runner) { r.Polls = false }

// endPatiently goes on to the ending; a refused change that is offered again and again
// is skipped in the end.
func (g *rig) endPatiently() engine.Ending {
	g.t.Helper()
	tries := 0
	for range 200 {
		p := g.next()
		if p.Kind == engine.Finished {
			return *p.Ending
		}
		if p.N == 0 {
			continue
		}
		d := willing(p)
		if d.Verb == engine.Apply && p.Step == "remove" {
			if tries++; tries > 8 {
				g.t.Fatal("a removal that is refused for ever is tried for ever")
			}
		}
		g.answer(d)
	}
	g.t.Fatal("it does not end")
	return engine.Ending{}
}

// Silence counts only over the whole window, and a run says so while it waits.
func TestNothingIsSilentBeforeTheWindowIsOver(t *testing.T) {
	g := newRig(t, whole).open()
	w := g.until(kind(engine.Watch))
	began := g.w.Clock.Now()
	g.answer(willing(w))
	for range 20 {
		p := g.next()
		if len(p.Verdicts) == 0 {
			continue
		}
		over := !g.w.Clock.Now().Before(began.Add(g.w.Silent))
		switch v := p.Verdicts[0]; {
		case v.State == witness.Silent && !over:
			t.Fatalf("silent after %s of %s", g.w.Clock.Now().Sub(began), g.w.Silent)
		case v.State == witness.Silent:
			return
		case v.State != witness.Waiting:
			t.Fatalf("%s: %s", v.State, v.Why)
		}
	}
	t.Fatal("never silent")
}

// A look takes time. A window that ends while the provider is asked is not over before
// the hosts were looked at once more, or the verdict would lack its last witness.
func TestASlowLookDoesNotEndTheWindow(t *testing.T) {
	for _, slow := range []time.Duration{time.Minute, 4 * time.Minute, 7 * time.Minute, 13 * time.Minute} {
		g := newRig(t, whole).open()
		g.answer(willing(g.until(kind(engine.Watch))))
		g.w.Blind = func() error { g.w.Clock.Jump(slow); return nil }
		if e := g.end(); e.Word != engine.Contained {
			t.Errorf("looks of %s: ends %q with %q", slow, e.Word, e.Notes)
		}
	}
}

// Once the registration is gone, what else was to be done to it is not needed.
func TestAfterTheRemovalTheRestIsNotNeeded(t *testing.T) {
	g := newRig(t, stepSnapshot+stepCollect+stepRemove+stepPause+stepConfirm).open()
	done := false
	g.until(func(p engine.Prompt) bool {
		done = done || g.happened(providers.Deregister) == 1
		if done && p.Kind == engine.Choose {
			t.Errorf("asks about %s of a registration that is gone", p.Step)
		}
		return p.Kind == engine.Finished
	})
	if !done || g.happened(providers.Pause) != 0 {
		t.Errorf("removed: %v, paused %d times", done, g.happened(providers.Pause))
	}
}
