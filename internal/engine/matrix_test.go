package engine_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/engine"
	"cordon/internal/engine/enginemodel"
	"cordon/internal/target"
	"cordon/providers"
)

const stepAsk = "  - {id: ask, title: Ask, why: w, acts: [{do: manual, text: ask the owner, on: runner, fields: [{id: by, title: Who, kind: person, required: true}]}]}\n" +
	"  - {id: ticket, title: Ticket, why: w, acts: [{do: manual, text: write a ticket}]}\n"

// Each runner is a row: what waits on one, is refused on another and done on the third is
// seen at once, by whoever runs the case and by whoever only reads it.
func TestEachRunnerIsARowOfItsOwn(t *testing.T) {
	g := several(t, 3, strings.Replace(whole, stepPause, stepAsk+stepPause, 1))
	targets := []target.Ref{}
	for _, id := range []string{"1", "2", "3"} {
		targets = append(targets, enginemodel.RunnerRef(id), enginemodel.HostRef("h"+id))
	}
	p := g.until(kind(engine.Manual))
	g.answer(engine.Decision{N: p.N, Verb: engine.Did, Fields: map[string]string{"by": "bob"}})
	p = g.until(kind(engine.Manual))
	due := g.w.Clock.Now().Add(30 * 24 * time.Hour)
	g.answer(engine.Decision{N: p.N, Verb: engine.Wait, Owner: "carol", Due: due, Reason: "on leave"})
	p = g.until(kind(engine.Manual))
	g.answer(engine.Decision{N: p.N, Verb: engine.Wait, Owner: "dave", Due: due, Reason: "on leave"})
	p = g.until(kind(engine.Manual)) // the ticket, once for the case
	g.answer(engine.Decision{N: p.N, Verb: engine.Did})
	g.w.Next = func(op string) enginemodel.Fault {
		if op == providers.Pause {
			return enginemodel.Refuse
		}
		return enginemodel.None
	}
	p = g.until(at("pause"))
	g.answer(willing(p))
	p = g.until(kind(engine.Doubt))
	g.answer(willing(p))
	g.next()

	m := g.r.Matrix()
	col := func(id string) int {
		return slices.IndexFunc(m.Steps, func(s engine.StepState) bool { return s.ID == id })
	}
	if len(m.Cells) != 3 || len(m.Cells[0]) != len(m.Steps) {
		t.Fatalf("%d rows of %d", len(m.Cells), len(m.Cells[0]))
	}
	ask, pause, ticket := col("ask"), col("pause"), col("ticket")
	if c := m.Cells[0][ask]; c.End != engine.Done || c.Once {
		t.Errorf("asked for the first: %+v", c)
	}
	if c := m.Cells[1][ask]; c.End != "" || !strings.HasPrefix(c.Waits, "carol until ") || c.Task == "" {
		t.Errorf("the second waits: %+v", c)
	}
	if c := m.Cells[2][ask]; c.End != "" || !strings.HasPrefix(c.Waits, "dave until ") || c.Task == m.Cells[1][ask].Task {
		t.Errorf("the third: %+v", c)
	}
	if c := m.Cells[0][pause]; c.End != engine.RefusedBy {
		t.Errorf("refused on the first: %+v", c)
	}
	for i := range m.Cells {
		if c := m.Cells[i][ticket]; !c.Once || c.End != engine.Done {
			t.Errorf("once for the case: %+v", c)
		}
	}
	v, err := g.s.Read(rigCase)
	if err != nil {
		t.Fatal(err)
	}
	v.Opening.Targets = targets // the rig's opening has one of them
	read, err := engine.MatrixOf(v, g.pb)
	if err != nil || read.Cells[1][ask].Waits != m.Cells[1][ask].Waits || read.Cells[0][pause].End != engine.RefusedBy {
		t.Errorf("whoever reads it sees something else: %v %+v", err, read.Cells)
	}
}

// A step that waits for carol until next month is asked for today, because she is back.
func TestAStepThatWaitsIsPickedByHand(t *testing.T) {
	g := newRig(t, stepAsk+stepPause+stepConfirm).open()
	p := g.until(kind(engine.Manual))
	waiting := p.Task
	if err := g.r.Pick(waiting); !errors.Is(err, engine.ErrChoice) {
		t.Errorf("what does not wait is picked: %v", err)
	}
	g.answer(engine.Decision{N: p.N, Verb: engine.Wait, Owner: "carol", Due: g.w.Clock.Now().Add(720 * time.Hour), Reason: "on leave"})
	if p = g.next(); p.Task == waiting {
		t.Fatal("it does not wait")
	}
	for _, key := range []string{"nothing/1/x", p.Task, ""} {
		if err := g.r.Pick(key); !errors.Is(err, engine.ErrChoice) {
			t.Errorf("%q is picked: %v", key, err)
		}
	}
	if err := g.r.Pick(waiting); err != nil {
		t.Fatal(err)
	}
	if err := g.r.Answer(t.Context(), engine.Decision{N: p.N, Verb: engine.Did}); !errors.Is(err, engine.ErrOutdated) {
		t.Errorf("the prompt that was on screen is still answered: %v", err)
	}
	p = g.next()
	if p.Task != waiting || p.Kind != engine.Manual || p.Manual.Owner != "carol" {
		t.Fatalf("%s at %s", p.Kind, p.Step)
	}
	if err := g.r.Answer(t.Context(), engine.Decision{N: p.N, Verb: engine.Did}); !errors.Is(err, engine.ErrField) {
		t.Fatalf("done without what is required: %v", err)
	}
	if p = g.next(); p.Task != waiting {
		t.Fatal("an answer that was not taken lets it go")
	}
	g.answer(engine.Decision{N: p.N, Verb: engine.Did, Fields: map[string]string{"by": "carol"}})
	for p = g.next(); p.Kind == engine.Progress; p = g.next() {
	}
	if p.Step != "ticket" {
		t.Errorf("it does not go on where it stood: %s", p.Step)
	}
	if err := g.r.Pick(waiting); !errors.Is(err, engine.ErrChoice) {
		t.Errorf("what has ended is picked: %v", err)
	}
}
