package engine_test

import (
	"errors"
	"os"
	"slices"
	"testing"

	"cordon/internal/engine"
	"cordon/internal/engine/enginemodel"
	"cordon/internal/evidence"
	"cordon/providers"
)

// TestEachGuardHoldsUntilAReasonIsWritten walks every guard through its life: it is
// shown, it holds, a bare waiver does not move it, a waiver with a reason does, and
// both stand in the journal. Where nothing is missing there is no guard.
func TestEachGuardHoldsUntilAReasonIsWritten(t *testing.T) {
	skip := func(step string) func(*rig) {
		return func(g *rig) {
			g.answer(engine.Decision{N: g.until(at(step)).N, Verb: engine.Skip, Reason: "later"})
		}
	}
	away := func(g *rig) { g.w.WithHost("h1", func(h *enginemodel.Host) { h.Away = true }) }
	for _, c := range []struct {
		name, steps string
		before      func(*rig)
		step, op    string
		guards      map[string]string // id → class
	}{
		{
			"evidence that was never asked for", whole, skip("collect"), "remove", providers.Deregister,
			map[string]string{"evidence:host/h1/snapshot.json": engine.GuardBlock, "needs:collect": engine.GuardGap},
		},
		{
			"evidence that could not be had", whole, away, "remove", providers.Deregister,
			map[string]string{"evidence:host/h1/snapshot.json": engine.GuardGap, "needs:collect": engine.GuardGap},
		},
		{
			"a provider that keeps nothing", stepPause + stepSnapshot + stepConfirm, nil, "pause", providers.Pause,
			map[string]string{"needs:snapshot": engine.GuardBlock},
		},
		{
			"the other side would notice", whole, nil, "rotate", providers.Rotate,
			map[string]string{engine.TipsOff: engine.GuardAsk},
		},
		{"nothing is missing", whole, nil, "remove", providers.Deregister, map[string]string{}},
		{"nobody notices a pause", whole, nil, "pause", providers.Pause, map[string]string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, c.steps).open()
			if c.before != nil {
				c.before(g)
			}
			p := g.until(at(c.step))
			got := map[string]string{}
			for _, x := range p.Guards[0] {
				got[x.ID] = x.Class
				if x.Text == "" {
					t.Errorf("guard %s says nothing", x.ID)
				}
			}
			if len(got) != len(c.guards) {
				t.Fatalf("guards %v, want %v", got, c.guards)
			}
			for id, class := range c.guards {
				if got[id] != class {
					t.Errorf("guard %s is %q, want %q", id, got[id], class)
				}
			}
			g.holds(p, c.op)
			d := willing(p)
			g.answer(d)
			if g.happened(c.op) != 1 {
				t.Errorf("set aside with a reason, and nothing happened")
			}
			var waived []string
			for _, l := range g.lines("waive") {
				if l.Step == c.step {
					waived = append(waived, l.Msg)
				}
			}
			if len(waived) != len(c.guards) || slices.ContainsFunc(waived, func(s string) bool { return s != "because" }) {
				t.Errorf("%d guards were set aside, the journal has %q", len(c.guards), waived)
			}
		})
	}
}

// holds tries everything short of a full waiver: it changes neither world nor journal.
func (g *rig) holds(p engine.Prompt, op string) {
	g.t.Helper()
	full := willing(p)
	for i := range full.Waive {
		d := full
		d.Waive = slices.Delete(slices.Clone(full.Waive), i, i+1)
		g.refuses(d, engine.ErrGuarded)
	}
	if len(full.Waive) > 0 {
		d := full
		d.Waive = []string{"evidence:something/else"}
		g.refuses(d, engine.ErrGuarded)
		d = full
		d.Reason = " \t"
		g.refuses(d, engine.ErrReason)
	}
	if n := g.happened(op); n != 0 {
		g.t.Fatalf("%s happened %d times against its guard", op, n)
	}
}

// refuses hands in a decision that must fail with want and leave no trace.
func (g *rig) refuses(d engine.Decision, want error) {
	g.t.Helper()
	lines, effects := len(g.lines("")), len(g.w.Ledger())
	if err := g.r.Answer(g.t.Context(), d); !errors.Is(err, want) {
		g.t.Errorf("%+v: %v, want %v", d, err, want)
	}
	if now := len(g.lines("")); now != lines {
		g.t.Errorf("a refused decision wrote %d lines", now-lines)
	}
	if now := len(g.w.Ledger()); now != effects {
		g.t.Errorf("a refused decision had an effect")
	}
}

// A guard that goes away between the prompt and the answer does not have to be waived,
// and one that comes does: guards are asked again when it counts.
func TestGuardsAreAskedAgainAtTheAnswer(t *testing.T) {
	g := newRig(t, whole).open()
	p := g.until(at("remove"))
	if len(p.Guards[0]) != 0 {
		t.Fatalf("guards %v before", p.Guards[0])
	}
	d := willing(p)
	d.Waive = []string{"tips-off", "needs:collect"} // more than there is: not written as waived
	g.answer(d)
	if n := len(g.lines("waive")); n != 1 { // of the rotation
		t.Errorf("%d waivers are on record", n)
	}
}

// Evidence that the journal names and the disk does not have protects nothing: what
// destroys the original asks the disk.
func TestEvidenceThatIsNoLongerWholeHoldsWhatDestroysTheOriginal(t *testing.T) {
	for name, damage := range map[string]func(*rig, string) error{
		"deleted": func(g *rig, path string) error { return g.f.Remove(path) },
		"changed": func(g *rig, path string) error {
			f, err := g.f.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o600)
			if err != nil {
				return err
			}
			_, err = f.Write([]byte("x"))
			return errors.Join(err, f.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, whole).open()
			p := g.until(at("remove"))
			if len(p.Guards[0]) != 0 {
				t.Fatalf("guards %v before", p.Guards[0])
			}
			v, err := g.s.Read(rigCase)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(v.Items, func(x evidence.Item) bool { return x.Name == "host/h1/snapshot.json" })
			sum := v.Items[i].Digest
			if err := damage(g, "/state/cases/"+rigCase+"/blobs/sha256/"+sum[:2]+"/"+sum); err != nil {
				t.Fatal(err)
			}
			g.refuses(willing(p), engine.ErrGuarded)
			p = g.until(at("remove"))
			if x := p.Guards[0]; len(x) != 1 || x[0].ID != "evidence:host/h1/snapshot.json" || x[0].Class != engine.GuardBlock {
				t.Fatalf("guards %v", x)
			}
			g.holds(p, providers.Deregister)
		})
	}
}
