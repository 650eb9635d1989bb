package tui

import (
	"testing"
	"time"

	"cordon/internal/engine"
)

// caseManual is casePause with something for a person in place of the plans.
func caseManual(m engine.ManualTask, choices ...string) func(env) page {
	return func(e env) page {
		p := casePause(e).(*stepper)
		m.Text, m.Now = "wipe it", time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
		p.cur = &engine.Prompt{N: 4, Kind: engine.Manual, Step: "disk", Title: "Disks", Text: m.Text, Manual: &m, Choices: append(choices, engine.Skip, engine.Again, engine.Stop)}
		return p
	}
}

func TestWhatWasDoneIsAskedFieldByFieldOnTheScreen(t *testing.T) {
	m, p, _ := onPage(t, caseManual(engine.ManualTask{Fields: []engine.ManualField{
		{ID: "by", Title: "Who", Kind: "person", Required: true}, {ID: "on", Title: "Day", Kind: "date", Value: "2026-11-29"},
	}}, engine.Did, engine.Wait))
	send(m, enter)
	if send(m, runes("x"), enter); p.form == nil || decided(p) != nil {
		t.Fatal("x is taken for an answer")
	}
	p.form.fields[0].text = ""
	send(m, runes("done"), enter) // the second form
	if send(m, enter, enter, enter); p.form == nil || p.form.said == "" || decided(p) != nil {
		t.Fatal("done without what is required")
	}
	p.form.at = 0
	send(m, runes("bob"), enter, enter, enter)
	d := decided(p)
	if d == nil || d.Verb != engine.Did || d.N != 4 || d.Fields["by"] != "bob" || d.Fields["on"] != "2026-11-29" {
		t.Errorf("decided %+v", d)
	}
}

func TestWaitingWantsAnOwnerADateAndAReason(t *testing.T) {
	m, p, _ := onPage(t, caseManual(engine.ManualTask{}, engine.Did, engine.Wait))
	send(m, enter)
	send(m, runes("wait"), enter)
	send(m, runes("bob"), enter, runes("yesterday"), enter, runes("leave"), enter)
	if decided(p) != nil || p.form == nil || p.form.said == "" {
		t.Fatal("it waits until yesterday")
	}
	p.form.fields[1].text = "7d"
	send(m, enter)
	if d := decided(p); d == nil || d.Verb != engine.Wait || d.Owner != "bob" || d.Reason != "leave" || d.Due.Day() != 7 {
		t.Errorf("decided %+v", d)
	}
}

func TestASignatureOnTheScreenIsTyped(t *testing.T) {
	m, p, _ := onPage(t, caseManual(engine.ManualTask{Worked: "alice", Guards: []engine.Guard{{ID: engine.SamePerson, Text: "same"}}}, engine.Sign, engine.Redo, engine.Wait))
	send(m, enter)
	if send(m, runes("done"), enter); decided(p) != nil || p.form == nil {
		t.Fatal("who signs cannot write the work anew")
	}
	p.form.fields[0].text = ""
	send(m, runes("sign"), enter)
	if send(m, runes("sign"), enter, enter); decided(p) != nil {
		t.Fatal("signed by the same person without a reason")
	}
	send(m, runes("nobody else is left"), enter)
	if d := decided(p); d == nil || d.Verb != engine.Sign || d.Reason == "" || len(d.Waive) != 1 {
		t.Errorf("decided %+v", d)
	}
}
