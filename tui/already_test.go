package tui

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"cordon/internal/app"
	"cordon/internal/target"
)

func init() {
	screens["already"] = func(e env) page {
		return newAlready(e, theRunner.String(), twoCases(theRunner), nil)
	}
	screens["already-another"] = func(e env) page {
		p := newAlready(e, theRunner.String(), twoCases(theRunner), nil)
		pressed(p, "c")
		return p
	}
}

func twoCases(ref target.Ref) []app.OpenCase {
	return []app.OpenCase{
		{ID: "contain-42-20261102T020000", Runners: []target.Ref{ref}, Writer: "alice", Last: still.Add(-time.Minute)},
		{ID: "contain-41-and-1-20261101T020000", Runners: []target.Ref{{System: ref.System, Kind: target.Runner, ID: "41"}, ref}, Writer: "bob", Last: still.Add(-25 * time.Hour)},
	}
}

// The row of a runner says that a case is open about it, and how many are.
func TestARowSaysThatACaseIsOpenAboutIt(t *testing.T) {
	d := &fleetFake{fleet: someFleet()}
	e, _ := quietEnv(t, termenv.Ascii, false)
	p := settled(fleetOn(e, d))
	pressed(p, "j")
	if v := p.View(120, 30); strings.Contains(v, "open") || strings.Contains(p.Hint(), "case is open") {
		t.Fatalf("no case is open:\n%s\n%s", v, p.Hint())
	}
	d.open = twoCases(p.item().Runner.Ref)
	hand(p, p.Shown())
	mustShow(t, p.View(120, 30), "2 open")
	mustShow(t, p.Hint(), "2 cases are open about it, c asks which")
	d.open = d.open[1:]
	hand(p, p.Shown())
	mustShow(t, p.Hint(), "c goes on with its open case contain-41-and-1-20261101T020000")
}

// With a case open about a runner, whichever way leads to another one asks before.
func TestASecondCaseAboutARunnerIsNeverOpenedUnasked(t *testing.T) {
	w := newLabWorld(t, "none")
	ref := w.app.Planted()
	e, wall := quietEnv(t, termenv.Ascii, false)
	e.app, e.clock, e.simulated = w.app, w.app.Clock(), true
	t.Cleanup(func() { e.desk.leave(func(string) {}) })
	open := func(also ...string) string {
		s, err := w.app.NewCase(t.Context(), ref, app.CaseSpec{Also: also})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		return s.ID()
	}
	first := open("gitlab-lab/44") // its last runner is another one
	asked, ok := openAsked(e, ref, app.CaseSpec{})().(pushMsg)
	if !ok {
		t.Fatal("the command line opened a second case unasked")
	}
	p, ok := asked.page.(*already)
	if !ok {
		t.Fatalf("the command line opened a second case unasked: %T", asked.page)
	}
	mustShow(t, p.View(80, 21), "a case is open about "+ref+" already", first)
	r, err := target.Parse(ref)
	if err != nil {
		t.Fatal(err)
	}
	second := open()
	if asked, ok = contain(e, r)().(pushMsg); !ok {
		t.Fatal("a third case was opened")
	}
	p = asked.page.(*already)
	mustShow(t, p.View(80, 21), "2 cases are open", first, second)
	p.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("c")})
	wall.pass(deaf)
	for _, k := range []tea.KeyMsg{{Type: tea.KeyEnter}, {Type: tea.KeyRunes, Runes: []rune("y"), Paste: true}, {Type: tea.KeyEsc}} {
		if p.Update(k) != nil {
			t.Fatalf("%v opens another one", k)
		}
		wall.pass(deaf)
	}
	p.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("c")})
	wall.pass(deaf)
	if cmd := p.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("y")}); cmd == nil {
		t.Error("asked for another one and got none")
	}
	e.readOnly = true
	if msg, ok := openAsked(e, ref, app.CaseSpec{Dry: true})().(pushMsg); !ok {
		t.Error("a dry run, which keeps nothing, was refused")
	} else if _, ok := msg.page.(*stepper); !ok {
		t.Errorf("a dry run, which keeps nothing, asks: %T", msg.page)
	}
}
