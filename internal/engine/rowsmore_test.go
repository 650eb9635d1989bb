package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"cordon/internal/change"
	"cordon/internal/engine"
	"cordon/internal/engine/enginemodel"
	"cordon/internal/target"
	"cordon/providers"
)

// Jobs were given to runners that had been stopped already: what stops an agent needs its
// pause first, and a pause that was skipped holds it back until somebody says why.
func TestActionsRunner3669StoppedBeforeItWasPaused(t *testing.T) {
	stop := strings.Replace(stepStop, "why: w, ", "why: w, needs: [pause], ", 1)
	g := newRig(t, strings.Replace(whole, stepStop, stop, 1)).open()
	g.answer(engine.Decision{N: g.until(at("pause")).N, Verb: engine.Skip, Reason: "in a hurry"})
	p := g.until(at("stop"))
	d := willing(p)
	d.Waive = nil
	holds := slices.ContainsFunc(p.Guards[0], func(x engine.Guard) bool { return x.ID == "needs:pause" })
	if err := g.r.Answer(t.Context(), d); !holds || !errors.Is(err, engine.ErrGuarded) || g.happened(providers.Stop) != 0 {
		t.Errorf("it is stopped unpaused: %v, guards %+v", err, p.Guards[0])
	}
}

// A pod and its logs were gone before anybody looked: what could not be had is on record
// as a gap with its reason, the step is not done, and what destroys the rest says so.
func TestActionsRunnerController2943WhatWasGoneIsAGap(t *testing.T) {
	g := newRig(t, whole).open()
	gone := errors.New("404: the pod is gone")
	g.w.Blind = func() error { return gone }
	g.next()
	g.w.Blind = nil
	for _, s := range g.r.Steps() {
		if s.ID == "snapshot" && s.End != engine.Unreached {
			t.Errorf("what was not seen is %q", s.End)
		}
	}
	if l := g.lines("gap"); len(l) != 1 || !strings.Contains(string(l[0].Data), gone.Error()) {
		t.Errorf("the gap is not on record: %v", l)
	}
	p := g.until(at("remove"))
	if !slices.ContainsFunc(p.Guards[0], func(x engine.Guard) bool {
		return x.ID == "evidence:provider/1.json" && x.Class == engine.GuardGap && strings.Contains(x.Text, gone.Error())
	}) {
		t.Errorf("the removal does not say what was never seen: %+v", p.Guards[0])
	}
}

// byHand is a provider that cannot give a runner another secret.
type byHand struct{ *enginemodel.Provider }

func (p byHand) Plan(ctx context.Context, verb string, t target.Ref, args json.RawMessage) ([]change.Plan, error) {
	if verb != providers.Rotate {
		return p.Provider.Plan(ctx, verb, t, args)
	}
	return []change.Plan{{Verb: verb, Option: "retire", Title: "the secret follows from the name", Manual: []string{"never use this name again"}}}, nil
}

// The same name gave the same secret: what cannot be done is offered to nobody, and
// skipping it is not having done it.
func TestJenkins27192ASecretThatCannotBeReplaced(t *testing.T) {
	g := newRig(t, whole)
	g.cfg = func(o *engine.Options) {
		o.Systems[enginemodel.System] = byHand{o.Systems[enginemodel.System].(*enginemodel.Provider)}
	}
	g.open()
	p := g.until(at("rotate"))
	if slices.Contains(p.Choices, engine.Apply) || p.CannotDo == "" || len(p.Plans[0].Manual) != 1 {
		t.Fatalf("a secret that cannot be replaced is offered: %v %q", p.Choices, p.CannotDo)
	}
	d := engine.Decision{N: p.N, Verb: engine.Apply, Plan: p.Plans[0].Hash(), Reason: "x"}
	if err := g.r.Answer(t.Context(), d); !errors.Is(err, engine.ErrChoice) {
		t.Errorf("and can be had: %v", err)
	}
	g.answer(engine.Decision{N: p.N, Verb: engine.Skip, Reason: "the name is retired"})
	for _, s := range g.r.Steps() {
		if s.ID == "rotate" && s.End == engine.Done {
			t.Error("skipped is done")
		}
	}
	if e := g.end(); !remarked(e, "rotate") || !remarked(e, "the name is retired") {
		t.Errorf("the ending does not say so: %q", e.Notes)
	}
}

// One machine had many records: it comes back under another one, and silence of the old
// one means nothing.
func TestWoodpecker2027TheMachineCameBackUnderAnotherRecord(t *testing.T) {
	g := newRig(t, whole).open()
	g.until(func(p engine.Prompt) bool { return p.Kind == engine.Watch })
	g.w.With("1", func(r *enginemodel.Runner) { r.Back = true })
	if e := g.end(); e.Word != "resurrected" || e.Exit == engine.ExitDone {
		t.Errorf("it is back and the case ends %s (exit %d)", e.Word, e.Exit)
	}
}
