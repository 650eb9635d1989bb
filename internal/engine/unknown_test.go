package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cordon/internal/change"
	"cordon/internal/engine"
	"cordon/internal/engine/enginemodel"
	"cordon/providers"
)

func noted(e engine.Ending, text string) bool {
	return slices.ContainsFunc(e.Notes, func(n string) bool { return strings.Contains(n, text) })
}

// What a lost answer becomes: reading decides where it can, a person where it cannot,
// and the call itself is never repeated.
func TestALostAnswerIsLookedAtAndNeverSentAgain(t *testing.T) {
	for _, c := range []struct {
		op     string
		fault  enginemodel.Fault
		doubt  bool // a person is asked
		times  int  // it happened
		ending string
		note   string
	}{
		{providers.Pause, enginemodel.LostReply, false, 1, engine.Contained, "settled: pause/1/1.1: applied"},
		{providers.Deregister, enginemodel.LostReply, false, 1, engine.Contained, "settled: deregister/1/1.1: applied"},
		{providers.Stop, enginemodel.LostReply, false, 1, engine.Contained, "settled: stop/h1/1.1: applied"},
		{providers.Rotate, enginemodel.LostReply, true, 1, engine.Contained, "settled: rotate/1/1.1: applied"},
		{providers.Rotate, enginemodel.LostCall, true, 0, engine.Contained, "settled: rotate/1/1.1: applied"},
		{providers.Deregister, enginemodel.LostCall, true, 0, "refused", "deregister fake/1: refused"},
	} {
		t.Run(c.op+" "+string(c.fault), func(t *testing.T) {
			g := newRig(t, whole)
			g.fault(c.op, c.fault)
			g.w.With("1", quiet)
			sent := map[string]int{}
			g.w.Effect = func(ch change.Change) { sent[ch.Op]++ }
			g.open()
			doubts := 0
			e := *g.until(func(p engine.Prompt) bool {
				if p.Kind == engine.Doubt {
					doubts++
					if g.happened(c.op) != c.times {
						t.Errorf("at the doubt it happened %d times, want %d", g.happened(c.op), c.times)
					}
				}
				return p.Kind == engine.Finished
			}).Ending
			if (doubts > 0) != c.doubt {
				t.Errorf("a person was asked %d times", doubts)
			}
			if n := sent["fake."+c.op+"@1"]; n != 1 {
				t.Errorf("it was sent %d times", n)
			}
			if n := g.happened(c.op); n != c.times {
				t.Errorf("it happened %d times, want %d", n, c.times)
			}
			if e.Word != c.ending || !noted(e, c.note) {
				t.Errorf("ends %q with %q, want %q with %q", e.Word, e.Notes, c.ending, c.note)
			}
		})
	}
}

// A process that dies before its call was sent leaves an intent and no effect. Reading
// says so, and then the change is planned and confirmed anew: that is another change,
// with another id, and it happens once.
func TestWhatWasNeverSentIsPlannedAgain(t *testing.T) {
	for _, op := range []string{providers.Pause, providers.Stop, providers.Deregister} {
		for _, fault := range []enginemodel.Fault{enginemodel.DieBefore, enginemodel.DieAfter} {
			t.Run(fmt.Sprintf("%s %s", op, fault), func(t *testing.T) {
				g := newRig(t, whole)
				g.fault(op, fault)
				g.w.Die = g.f.Stop
				g.open()
				p := g.until(func(p engine.Prompt) bool { return len(p.Plans) > 0 && p.Plans[0].Verb == op })
				if err := g.r.Answer(t.Context(), willing(p)); err == nil {
					t.Fatal("the process died and went on")
				}
				g.die()
				if e := g.end(); e.Word != engine.Contained {
					t.Errorf("ends %q %q", e.Word, e.Notes)
				}
				if n := g.happened(op); n != 1 {
					t.Errorf("%s happened %d times", op, n)
				}
			})
		}
	}
}

// A rotation cannot be told from the next one by looking: the person is asked, again
// looks again, and a reason is needed to go on.
func TestADoubtIsLeftOnlyWithAReason(t *testing.T) {
	g := newRig(t, whole)
	g.fault(providers.Rotate, enginemodel.LostReply)
	g.open()
	p := g.until(kind(engine.Doubt))
	if slices.Contains(p.Choices, engine.Apply) || slices.Contains(p.Choices, engine.Skip) {
		t.Errorf("choices %v: a doubt is neither applied again nor skipped", p.Choices)
	}
	g.refuses(engine.Decision{N: p.N, Verb: engine.Leave}, engine.ErrReason)
	g.answer(engine.Decision{N: p.N, Verb: engine.Again})
	if p = g.next(); p.Kind != engine.Doubt {
		t.Fatalf("looked again, it asks %s", p.Kind)
	}
	g.die()
	if p = g.next(); p.Kind != engine.Doubt {
		t.Fatalf("in another process it asks %s", p.Kind)
	}
	g.answer(engine.Decision{N: p.N, Verb: engine.Leave, Reason: "the registration goes anyway"})
	if n := g.happened(providers.Rotate); n != 1 {
		t.Errorf("rotated %d times", n)
	}
	if e := g.end(); e.Word != engine.Contained {
		t.Errorf("ends %q %q", e.Word, e.Notes)
	}
}
