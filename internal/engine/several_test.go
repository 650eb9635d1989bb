package engine_test

import (
	"strings"
	"testing"

	"cordon/internal/engine"
	"cordon/internal/engine/enginemodel"
	"cordon/internal/target"
	"cordon/providers"
)

// several is a case about n runners, each on its own host.
func several(t *testing.T, n int, steps string) *rig {
	g := newRig(t, steps)
	clock := g.w.Clock
	g.w = enginemodel.New(n)
	g.w.Clock = clock
	g.cfg = func(o *engine.Options) {
		o.Hosts, o.HostsOf = nil, map[target.Ref][]target.Ref{}
		for i := range n {
			r, h := enginemodel.RunnerRef(string(rune('1'+i))), enginemodel.HostRef("h"+string(rune('1'+i)))
			o.Runners, o.Hosts = append(o.Runners, r), append(o.Hosts, h)
			o.HostsOf[r] = []target.Ref{h}
		}
	}
	return g.open()
}

func TestTheFirstRunnerGoesAloneAndTheOthersWithOneConfirmation(t *testing.T) {
	g := several(t, 4, whole)
	p := g.until(at("pause"))
	if len(p.Plans[0].Changes) != 1 || p.Target.ID != "1" {
		t.Fatalf("the canary does not go alone: %d changes on %s", len(p.Plans[0].Changes), p.Target)
	}
	g.answer(willing(p))
	p = g.until(at("pause"))
	if n := len(p.Plans[0].Changes); n != 3 || !strings.Contains(p.Plans[0].Title, "3 runners, 3 changes") {
		t.Fatalf("%d changes: %s", n, p.Plans[0].Title)
	}
	before := len(g.lines("confirm"))
	g.answer(willing(p))
	if n := len(g.lines("confirm")) - before; n != 1 || g.happened(providers.Pause) != 4 {
		t.Errorf("%d confirmations, %d pauses", n, g.happened(providers.Pause))
	}
	e := g.end()
	if e.Word != engine.Contained || g.happened(providers.Deregister) != 4 || g.happened(providers.Rotate) != 4 {
		t.Errorf("ends %s %q", e.Word, e.Notes)
	}
	if n := len(g.lines("watch")); n != 1 {
		t.Errorf("%d watches for four runners", n)
	}
}

func TestTheFirstFailureStopsTheOthersAndSaysWhatIsLeft(t *testing.T) {
	g := several(t, 4, whole)
	g.answer(willing(g.until(at("pause"))))
	p := g.until(at("pause"))
	n := 0
	g.w.Next = func(op string) enginemodel.Fault {
		if n++; n == 2 {
			return enginemodel.Refuse
		}
		return enginemodel.None
	}
	g.answer(willing(p))
	if got := g.happened(providers.Pause); got != 2 { // the canary and the first of the three
		t.Fatalf("%d pauses after the failure", got)
	}
	if p = g.next(); p.Kind != engine.Progress || !strings.Contains(p.Text, "nothing was sent for pause/4/1.1") {
		t.Errorf("it does not say what is left: %q", p.Text)
	}
	p = g.until(func(p engine.Prompt) bool { return at("pause")(p) && p.Target.ID == "4" })
	var class, text string
	for _, x := range p.Guards[0] {
		if strings.HasPrefix(x.ID, "stopped:") {
			class, text = x.Class, x.Text
		}
	}
	if class != engine.GuardBlock || !strings.Contains(text, "1 are left") {
		t.Errorf("nothing holds the rest back: %+v", p.Guards[0])
	}
	g.die() // and so it does in another process
	if p = g.until(func(p engine.Prompt) bool { return at("pause")(p) && p.Target.ID == "4" }); len(p.Guards[0]) == 0 {
		t.Error("another process forgot it")
	}
}

func TestTheEndingOfSeveralIsTheWorst(t *testing.T) {
	g := several(t, 3, whole)
	g.until(func(p engine.Prompt) bool { return p.Kind == engine.Watch })
	g.w.With("3", func(r *enginemodel.Runner) { r.Back = true })
	g.w.With("2", func(r *enginemodel.Runner) { r.Knocks = true })
	e := g.end()
	if e.Word != "resurrected" || !remarked(e, "fake/1: contained") || !remarked(e, "fake/2: knocking") || !remarked(e, "fake/3: resurrected") {
		t.Errorf("ends %s (exit %d) %q", e.Word, e.Exit, e.Notes)
	}
}
