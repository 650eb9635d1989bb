package app

import (
	"bytes"
	"strings"
	"testing"

	"cordon/internal/change"
	"cordon/internal/engine"
	"cordon/internal/target"
)

func choice(plans ...change.Plan) engine.Prompt {
	return engine.Prompt{
		N: 7, Kind: engine.Choose, Step: "pause", Plans: plans, Guards: make([][]engine.Guard, len(plans)),
		Choices: []string{engine.Apply, engine.Skip, engine.Again, engine.Stop},
	}
}

func undoable(id string) change.Plan {
	c := change.Change{ID: "pause/" + id, Target: target.Ref{System: "gl", Kind: target.Runner, ID: id}}
	undo := c
	c.Undo = &undo
	return change.Plan{Verb: "pause", Option: "registration", Title: "pause it", Changes: []change.Change{c}}
}

var byHand = change.Plan{Verb: "pause", Option: "console", Title: "pause it at the console", Manual: []string{"go there"}}

func TestAPlanThatIsDoneByHandIsNotOfferedForApplying(t *testing.T) {
	pr := choice(byHand, undoable("42"))
	if q := question(pr); !strings.Contains(q, "[2 to apply | ") {
		t.Errorf("offered: %s", q)
	}
	if q := question(choice(undoable("42"))); !strings.Contains(q, "[1 to apply | ") {
		t.Errorf("control: %s", q)
	}
	var out bytes.Buffer
	p := &Person{Ctx: t.Context(), In: strings.NewReader("1\n2\ny\n"), Out: Lines{W: &out}}
	d, err := p.Decide(pr)
	if err != nil || d.Verb != engine.Apply || d.Plan != pr.Plans[1].Hash() {
		t.Errorf("%+v, %v", d, err)
	}
	if !strings.Contains(out.String(), "plan 1, pause it at the console, is done by hand") {
		t.Errorf("it does not say why not:\n%s", out.String())
	}
	if byHand.Reversible() || !pr.Plans[1].Reversible() {
		t.Error("a plan without changes has nothing that could be undone; one with an undo can be undone")
	}

	out.Reset()
	Lines{W: &out}.Prompt(pr)
	if said := out.String(); !strings.Contains(said, "  by hand pause/console: ") || !strings.Contains(said, "  2. plan pause/registration: ") {
		t.Errorf("shown as:\n%s", said)
	}
}

// Reversible on one runner: one key. What hits another runner, or does not come back, is
// typed.
func TestOneKeyIsEnoughForWhatIsReversibleOnOneRunner(t *testing.T) {
	own := []target.Ref{
		{System: "gl", Kind: target.Manager, ID: "901"},
		{System: "gl", Kind: target.Manager, ID: "902"},
		{System: "gl", Scope: target.Scope{Level: "project", Path: "acme/shop"}, Kind: target.Project, ID: "7"},
	}
	for _, c := range []struct {
		name, want string
		edit       func(*change.Plan)
	}{
		{"alone", "y", func(*change.Plan) {}},
		{"its managers and projects", "y", func(p *change.Plan) { p.Changes[0].Hits = own }},
		{"another runner", "1042", func(p *change.Plan) {
			p.Changes[0].Hits = append(own, target.Ref{System: "gl", Kind: target.Runner, ID: "43"})
		}},
		{"no way back", "1042", func(p *change.Plan) { p.Changes[0].Undo = nil }},
		{"a run whose job it is about", "5512", func(p *change.Plan) {
			p.Changes[0].Undo, p.Changes[0].Target.Kind, p.Changes[0].Ends = nil, target.Job, "run 885512"
		}},
		{"taking a change back", "1042", func(p *change.Plan) { p.Changes[0].Undo, p.Verb = nil, undo }},
		{"two changes", "2", func(p *change.Plan) { p.Changes = append(p.Changes, p.Changes[0]) }},
	} {
		p := undoable("1042")
		c.edit(&p)
		if want, why := Confirmation(p); want != c.want {
			t.Errorf("%s: type %q, %s; want %q", c.name, want, why, c.want)
		}
	}
	if got := (change.Change{Hits: own}).Blast(); got != "managers 901, 902, project acme/shop" {
		t.Errorf("what is hit reads %q", got)
	}
}

// The way back is never called something that cannot be undone, and a cancel says what it
// ends; the change itself is the control.
func TestAPlanSaysTruelyWhetherItCanBeUndone(t *testing.T) {
	gone := undoable("1042")
	gone.Changes[0].Undo = nil
	back := gone
	back.Verb = undo
	run := gone
	run.Changes = []change.Change{gone.Changes[0]}
	run.Changes[0].Ends = "run 885512"
	for _, c := range []struct {
		name  string
		plan  change.Plan
		final bool
		says  string
	}{
		{"forward", undoable("1042"), false, "undo"},
		{"for good", gone, true, "cannot be undone"},
		{"back", back, false, "this is the undo"},
		{"a whole run", run, true, "ends       run 885512"},
	} {
		var out bytes.Buffer
		Lines{W: &out}.Prompt(choice(c.plan))
		_, why := Confirmation(c.plan)
		for _, said := range []string{out.String(), why} {
			if strings.Contains(said, "cannot be undone") != c.final {
				t.Errorf("%s: %s", c.name, said)
			}
		}
		if !strings.Contains(out.String(), c.says) || NoWayBack(c.plan, c.plan.Changes[0]) != c.final {
			t.Errorf("%s does not say %q:\n%s", c.name, c.says, out.String())
		}
	}
}
