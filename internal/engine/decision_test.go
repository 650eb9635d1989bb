package engine_test

import (
	"testing"

	"cordon/internal/engine"
	"cordon/providers"
)

func TestADecisionCountsOnceAndForItsOwnPrompt(t *testing.T) {
	g := newRig(t, whole).open()
	old := g.until(at("pause"))
	g.refuses(engine.Decision{N: old.N + 1, Verb: engine.Apply, Plan: old.Plans[0].Hash()}, engine.ErrOutdated)
	g.refuses(engine.Decision{Verb: engine.Apply, Plan: old.Plans[0].Hash()}, engine.ErrOutdated)
	now := g.next() // planned afresh
	if now.N == old.N {
		t.Fatal("two prompts with one number")
	}
	g.refuses(willing(old), engine.ErrOutdated)
	g.answer(willing(now))
	g.refuses(willing(now), engine.ErrOutdated)
	if n := g.happened(providers.Pause); n != 1 {
		t.Errorf("paused %d times", n)
	}
}

func TestAnEditedPlanIsNotThePlanThatWasShown(t *testing.T) {
	g := newRig(t, whole).open()
	p := g.until(at("pause"))
	edited := p.Plans[0]
	edited.Changes = append(edited.Changes[:0:0], edited.Changes...)
	edited.Changes[0].Call.URL += "0"
	g.refuses(engine.Decision{N: p.N, Verb: engine.Apply, Plan: edited.Hash()}, engine.ErrOutdated)
	g.refuses(engine.Decision{N: p.N, Verb: engine.Apply}, engine.ErrOutdated)
	g.answer(willing(p)) // the one on the screen still goes
}

func TestOnlyWhatIsOfferedCanBeChosen(t *testing.T) {
	g := newRig(t, whole).open()
	p := g.until(at("pause"))
	for _, verb := range []string{engine.Leave, engine.Begin, "", "delete"} {
		g.refuses(engine.Decision{N: p.N, Verb: verb, Reason: "because"}, engine.ErrChoice)
	}
	w := g.until(kind(engine.Watch))
	g.refuses(engine.Decision{N: w.N, Verb: engine.Apply, Reason: "because"}, engine.ErrChoice)
}

func TestSkippingNeedsAReasonAndIsSaidAtTheEnd(t *testing.T) {
	g := newRig(t, whole).open()
	p := g.until(at("pause"))
	g.refuses(engine.Decision{N: p.N, Verb: engine.Skip, Reason: "  "}, engine.ErrReason)
	g.answer(engine.Decision{N: p.N, Verb: engine.Skip, Reason: "the queue is empty"})
	e := g.end()
	if g.happened(providers.Pause) != 0 || !noted(e, "pause fake/1: skipped: the queue is empty") {
		t.Errorf("notes %q, paused %d times", e.Notes, g.happened(providers.Pause))
	}
}

func TestStoppingLeavesTheCaseAsItIs(t *testing.T) {
	g := newRig(t, whole).open()
	p := g.until(at("rotate"))
	lines := len(g.lines(""))
	g.answer(engine.Decision{N: p.N, Verb: engine.Stop})
	if now := len(g.lines("")); now != lines {
		t.Errorf("stopping wrote %d lines", now-lines)
	}
	g.die()
	if again := g.next(); says(again) != says(p) {
		t.Errorf("gone on with, it asks\n%s\nit asked\n%s", says(again), says(p))
	}
}

func TestAReadOnlyRunShowsEveryPlanAndDoesNothing(t *testing.T) {
	g := newRig(t, whole)
	g.ro = true
	g.open()
	shown := map[string]bool{}
	for range 50 {
		p := g.next()
		if p.Kind == engine.Finished {
			if p.Ending.Word != engine.DryRun || p.Ending.Exit != engine.ExitDone {
				t.Errorf("ends %+v", *p.Ending)
			}
			break
		}
		if p.Kind != engine.Choose {
			if p.N > 0 {
				g.answer(engine.Decision{N: p.N, Verb: engine.Skip, Reason: "read-only"})
			}
			continue
		}
		shown[p.Step] = len(p.Plans) > 0
		if p.CannotDo == "" {
			t.Errorf("step %s does not say that nothing can be applied", p.Step)
		}
		g.refuses(engine.Decision{N: p.N, Verb: engine.Apply, Plan: p.Plans[0].Hash(), Reason: "because", Waive: willing(p).Waive}, engine.ErrChoice)
		g.answer(engine.Decision{N: p.N, Verb: engine.Skip, Reason: "read-only"})
	}
	for _, step := range []string{"pause", "rotate", "collect", "stop", "remove"} {
		if !shown[step] {
			t.Errorf("no plan of %s was shown", step)
		}
	}
	if n := len(g.w.Ledger()); n != 0 {
		t.Errorf("%d effects in a read-only run", n)
	}
	// The same run with an issuer has effects, so the ledger can see them.
	if g = newRig(t, whole).open(); g.end().Word != engine.Contained || len(g.w.Ledger()) == 0 {
		t.Error("the control changed nothing")
	}
}
