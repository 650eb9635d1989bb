package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"cordon/internal/casefile"
	"cordon/internal/change"
	"cordon/internal/engine"
	"cordon/internal/target"
	"cordon/providers"
)

// chatty says something else about the queue each time a plan is made.
type chatty struct {
	providers.Provider
	n *int
}

func (c chatty) Plan(ctx context.Context, verb string, t target.Ref, args json.RawMessage) ([]change.Plan, error) {
	all, err := c.Provider.Plan(ctx, verb, t, args)
	*c.n++
	for i := range all {
		for k := range all[i].Changes {
			all[i].Changes[k].Capacity = fmt.Sprintf("%d jobs wait", *c.n)
		}
	}
	return all, err
}

func TestAnApprovalIsOfWhatIsDoneNotOfTheQueue(t *testing.T) {
	g, who := asking(t)
	cfg, n := g.cfg, 0
	g.cfg = func(o *engine.Options) {
		cfg(o)
		if prov, ok := o.Systems[runner.System].(providers.Provider); ok { // not where only the people are asked for
			o.Systems[runner.System] = chatty{prov, &n}
		}
	}
	g.open()
	g.until(at("remove"))
	text := g.asked()[0].Text()
	g.next() // planned again before bob has answered
	if _, _, err := g.r.Approve(who.sign(t, who.bob, engine.NamespaceApproval, text)); err != nil {
		t.Fatal(err)
	}
	p := g.until(at("remove"))
	if held(p) {
		t.Errorf("another queue made it another plan: %+v", p.Guards[0])
	}
	if p.Plans[0].Changes[0].Capacity == "" || n < 3 {
		t.Error("the queue was not told anew each time")
	}
}

// A journal of a build before has hashes over the whole plan: what was asked and set aside
// under them is found again.
func TestARequestOfABuildBeforeCanBeAnswered(t *testing.T) {
	g, who := asking(t)
	p := g.until(at("remove"))
	old, err := json.Marshal(map[string]any{"task": p.Task, "plans": p.Plans, "until": g.asked()[0].Until})
	if err == nil {
		_, err = g.c.Append(casefile.Event{Kind: "plan", Step: p.Step, Target: p.Target, OK: true, Data: old})
	}
	if err != nil {
		t.Fatal(err)
	}
	q := g.asked()[0]
	if q.Plan != p.Plans[0].HashOf(change.HashWhole) || !q.Current {
		t.Fatalf("asked with %s", q.Plan)
	}
	if _, _, err := g.r.Approve(who.sign(t, who.bob, engine.NamespaceApproval, q.Text())); err != nil {
		t.Fatal(err)
	}
	if p = g.until(at("remove")); held(p) {
		t.Errorf("it does not count: %+v", p.Guards[0])
	}
}

// What two people had to agree to do, one does not take back alone.
func TestStandingDownAsksTheSecondPersonToo(t *testing.T) {
	p := newPeople(t)
	for ask, want := range map[string]bool{", ask: second-person": true, "": false} {
		g := newRig(t, strings.Replace(whole, "verify: paused", "verify: paused"+ask, 1))
		g.cfg = func(o *engine.Options) {
			o.Actor, o.Approval = engine.Actor{Name: "alice", Key: p.alice.Fingerprint()}, engine.Approvals{By: p.by}
		}
		g.open()
		d := willing(g.until(at("pause")))
		d.BreakGlass = "alone"
		g.answer(d)
		g.until(at("rotate"))
		if err := g.r.StandDown("a drill"); err != nil {
			t.Fatal(err)
		}
		back := g.until(at("stand-down"))
		if held(back) != want {
			t.Fatalf("asks %v: %+v", want, back.Guards)
		}
		if !want {
			continue
		}
		if err := g.r.Answer(t.Context(), willing(back)); err == nil || g.happened(providers.Resume) != 0 {
			t.Errorf("it is taken back alone: %v", err)
		}
		if _, _, err := g.r.Approve(p.sign(t, p.bob, engine.NamespaceApproval, g.asked()[0].Text())); err != nil {
			t.Fatal(err)
		}
		g.answer(willing(g.until(at("stand-down"))))
		if e := g.end(); e.Word != engine.StoodDown || g.happened(providers.Resume) != 1 {
			t.Errorf("ends %s", e.Word)
		}
	}
}
