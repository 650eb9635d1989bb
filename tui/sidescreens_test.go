package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cordon/internal/casefile"
	"cordon/internal/engine"
	"cordon/internal/target"
)

// heldCase is what the page shows when somebody else has the case.
func heldCase(e env) page {
	p := &stepper{e: e, drv: &driver{}, wants: "contain-42-20261102T030000"}
	p.take(event{err: fmt.Errorf("take case contain-42-20261102T030000: %w: alice on jump1, pid 4242, since 2026-11-02T02:00:00Z; watch it (case show --follow)", casefile.ErrHeld), dead: true})
	return p
}

func takingOver(e env) page {
	p := newTakeOver(e, "contain-42-20261102T030000", "case is held by another: alice on jump1, pid 4242, since 2026-11-02T02:00:00Z")
	p.(*takeOver).dialog.reason.text = "alice is on a train"
	return p
}

func watching(e env) page {
	p := newFollow(e, "contain-42-20261102T030000").(*follower)
	msg := followMsg{page: p}
	for i, l := range []casefile.Line{
		{Actor: "alice", Host: "jump1", Event: casefile.Event{Kind: "open", OK: true}},
		{Actor: "alice", Host: "jump1", Event: casefile.Event{Kind: "take", OK: true}},
		{Actor: "alice", Event: casefile.Event{Kind: "confirm", Step: "pause", OK: true, Target: theRunner, Msg: "pause"}},
		{Actor: "alice", Event: casefile.Event{Kind: "result", Step: "pause", OK: true, Target: theRunner, Msg: "applied: reads back as paused"}},
		{Actor: "alice", Event: casefile.Event{Kind: "note", OK: true, Msg: "asked the owner\x1b[2J, no answer yet"}},
	} {
		l.Seq, l.T = i+1, still.Add(time.Duration(i)*time.Second)
		f := followed{text: caseLine(l)}
		if l.Kind == "take" {
			f.who = "alice on jump1 since 03:00:01Z"
		}
		msg.lines = append(msg.lines, f)
	}
	msg.over = true // nothing listens in a test of one view
	p.Update(msg)
	p.over = false
	return p
}

// offboarding is a case with several runners and the steps of the built-in checklist, in
// every state that a cell can have.
func offboarding(e env) page {
	p := casePause(e).(*stepper)
	ids := []string{"ticket", "owner", "snapshot", "successor", "dependents", "pause", "collect", "rotate", "deregister", "confirm", "uninstall", "trust", "inventory", "destruction"}
	for i, id := range ids {
		p.grid.Steps = append(p.grid.Steps, engine.StepState{ID: id, Title: strings.ToUpper(id[:1]) + id[1:] + " of it", Now: i == 5})
	}
	for r, runner := range []string{"42", "43", "45", "50", "51"} {
		ref := theRunner
		ref.ID = runner
		p.grid.Runners = append(p.grid.Runners, ref)
		row := make([]engine.Cell, len(ids))
		for i := range ids {
			c := &row[i]
			switch {
			case i < 2:
				*c = engine.Cell{End: engine.Done, Once: true}
			case i == 2:
				c.End = engine.Done
			case i == 3 && r > 1:
				c.Waits, c.Task = "carol until 2026-11-30 23:59Z", "successor/1/"+ref.String()
			case i == 3:
				c.End = engine.Skipped
			case i == 4:
				c.End = engine.NotNeeded
			case i == 5 && r == 0:
				c.End = engine.RefusedBy
			case i == 5 && r == 1:
				c.End = engine.InDoubt
			case i == 5 && r == 2:
				c.Now = true
			case i == 6 && r == 0:
				c.End = engine.Unreached
			case i == 6 && r == 4:
				c.None = true
			}
		}
		p.grid.Cells = append(p.grid.Cells, row)
	}
	return p
}

func offboardMatrix(e env) page {
	m := newMatrix(offboarding(e).(*stepper)).(*matrix)
	m.row, m.col = 2, 3
	return m
}

func caseLease(e env) page {
	p := casePause(e).(*stepper)
	other := theRunner
	other.ID = "41"
	p.cur.Leases = []engine.Lease{{Target: other, Until: still.Add(4 * time.Hour)}}
	return p
}

func caseNote(e env) page {
	p := casePause(e).(*stepper)
	p.noteForm()
	p.form.fields[0].text = "asked the owner, no answer yet"
	return p
}

func init() {
	for name, make := range map[string]func(env) page{
		"case-held": heldCase, "case-take-over": takingOver, "case-followed": watching, "case-matrix": offboardMatrix, "case-lease": caseLease, "case-note": caseNote,
	} {
		screens[name] = make
	}
}

func orderOf(p *stepper) *order {
	select {
	case o := <-p.drv.orders:
		return &o
	default:
		return nil
	}
}

func TestANoteAndAFileAreKeptFromTheScreen(t *testing.T) {
	m, p, _ := onPage(t, casePause)
	send(m, runes("n"), enter)
	if p.form == nil || p.form.said == "" || orderOf(p) != nil {
		t.Fatal("an empty note is taken")
	}
	send(m, runes("asked bob"), enter)
	if o := orderOf(p); o == nil || o.note != "asked bob" || o.decision != nil {
		t.Fatalf("ordered %+v", o)
	}
	m, p, _ = onPage(t, casePause)
	send(m, runes("f"), runes("/nowhere/x.png"), enter, runes("a picture"), enter)
	if p.form == nil || p.form.said == "" || orderOf(p) != nil {
		t.Fatal("a file that is not there is taken")
	}
	m, p, _ = onPage(t, casePause)
	send(m, runes("f"), runes("screens_test.go"), enter, enter)
	if p.form == nil || orderOf(p) != nil {
		t.Fatal("kept without saying what it is")
	}
	send(m, runes("a picture"), enter)
	if o := orderOf(p); o == nil || o.file != "screens_test.go" || o.what != "a picture" {
		t.Fatalf("ordered %+v", o)
	}
	for name, page := range map[string]func(env) page{"at work": caseWorking, "stuck": caseStuck} {
		m, p, _ := onPage(t, page)
		if said := send(m, runes("n")); p.form != nil || said == "" {
			t.Errorf("%s: said %q", name, said)
		}
	}
}

// Enter, a paste and one key take nothing from anybody; a reason and the end of the id do.
func TestTakingOverNeedsAReasonAndTheIDTyped(t *testing.T) {
	m, _, w := onPage(t, heldCase)
	send(m, runes("t"))
	top, ok := m.top().(*takeOver)
	if !ok {
		_, cmd := m.Update(runes("t"))
		m.Update(cmd())
		top = m.top().(*takeOver)
	}
	if v := m.View(); !strings.Contains(v, "alice on jump1, pid 4242") {
		t.Fatalf("it does not say who has it:\n%s", v)
	}
	w.pass(time.Second)
	send(m, enter)
	if top.begun || top.dialog.atField {
		t.Fatal("without a reason")
	}
	send(m, runes("alice is on a train"), enter)
	w.pass(time.Second)
	send(m, runes("y"), enter, paste("0000"))
	if top.begun {
		t.Fatal("taken with one key, enter or a paste")
	}
	if top.dialog.want != "0000" {
		t.Fatalf("wants %q", top.dialog.want)
	}
	m, _, _ = onPage(t, casePause)
	if said := send(m, runes("t")); said != "nobody else has this case" {
		t.Errorf("said %q", said)
	}
}

func TestAStepThatWaitsIsPickedOnTheMatrix(t *testing.T) {
	m, p, _ := onPage(t, offboarding)
	_, cmd := m.Update(runes("m"))
	m.Update(cmd())
	x := m.top().(*matrix)
	if x.col != 5 {
		t.Errorf("it opens at column %d, not where the run stands", x.col)
	}
	if said := send(m, enter); said == "" || orderOf(p) != nil {
		t.Fatalf("what does not wait is picked: %q", said)
	}
	send(m, tea.KeyMsg{Type: tea.KeyLeft}, tea.KeyMsg{Type: tea.KeyLeft}, runes("jj"))
	want := "successor/1/" + target.Ref{System: "gitlab-lab", Scope: target.Scope{Level: "project"}, Kind: target.Runner, ID: "45"}.String()
	if c := x.cell(); c.Task != want {
		t.Fatalf("the cursor is on %+v", c)
	}
	_, cmd = m.Update(enter)
	if o := orderOf(p); o == nil || o.pick != want {
		t.Fatalf("ordered %+v", o)
	}
	for cmd != nil {
		msg := cmd()
		if b, ok := msg.(tea.BatchMsg); ok {
			msg = b[0]()
		}
		_, cmd = m.Update(msg)
	}
	if m.top() != page(p) {
		t.Error("it does not go back to the case")
	}
}
