package tui

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"cordon/internal/evidence"
	"cordon/internal/fleet"
	"cordon/internal/untrusted"
)

func quietFleet(t testing.TB, data fleetData) *fleetPage {
	e, _ := quietEnv(t, termenv.Ascii, false)
	p := fleetOn(e, data)
	p.View(80, 21)
	return settled(p)
}

func mustShow(t *testing.T, view string, texts ...string) {
	t.Helper()
	for _, s := range texts {
		if !strings.Contains(view, s) {
			t.Errorf("no %q in\n%s", s, view)
		}
	}
}

func TestWhatWasKnownIsShownBeforeAnybodyAnswersAndSaysItsAge(t *testing.T) {
	e, _ := quietEnv(t, termenv.Ascii, false)
	p := fleetOn(e, &fleetFake{})
	if v := p.View(80, 21); !strings.Contains(v, "Nothing has to be waited for") && !strings.Contains(v, "no runner") {
		t.Errorf("before the listing:\n%s", v)
	}
	p.read()
	arrive(p, aged(someFleet(), 50*time.Hour))
	mustShow(t, p.View(80, 21), "reading the providers; 5 as known before", "! 2d: online")

	// A page comes in: its rows are fresh, the others stay as they were.
	f := aged(someFleet(), 50*time.Hour)
	f.Rows[1].SeenAt["provider"] = still
	arrive(p, f)
	mustShow(t, p.View(80, 21), "reading the providers; 4 as known before", "✓ online", "! 2d: online")
}

func TestAFailedScopeIsALine(t *testing.T) {
	f := someFleet()
	p := quietFleet(t, &fleetFake{fleet: f})
	mustShow(t, p.View(80, 21), "! not listed: gitlab-prod/runners of group:acme: 403, the credential lacks")
	f.Rows = nil
	mustShow(t, quietFleet(t, &fleetFake{fleet: f}).View(80, 21), "the list is not whole", "not the same as no runner")
	for i := range 5 {
		f.Gaps = append(f.Gaps, evidence.Gap{Name: fmt.Sprint("scope ", i), Why: "x"})
	}
	mustShow(t, quietFleet(t, &fleetFake{fleet: f}).View(80, 21), "not listed: 4 more scopes")
}

func TestAFailedListingKeepsTheRowsAndSaysSo(t *testing.T) {
	data := &fleetFake{fleet: someFleet()}
	p := quietFleet(t, data)
	data.err = errors.New("503 from\x1b[2J gitlab")
	pressed(p, "r")
	mustShow(t, p.View(80, 21), `could not be read: 503 from\x1b[2J gitlab`, "build-07", "spot-fleet-a")
}

func TestAStaleListingIsDropped(t *testing.T) {
	p := quietFleet(t, &fleetFake{fleet: someFleet()})
	old := p.turn
	p.read()
	hand(p, p.Update(fleetDoneMsg{p, old, fleet.Fleet{}, nil}))
	if p.tab.Total() != 6 || !p.listing {
		t.Errorf("an older answer was taken: %d rows", p.tab.Total())
	}
	other := quietFleet(t, &fleetFake{})
	hand(p, p.Update(fleetDoneMsg{other, p.turn, fleet.Fleet{}, nil}))
	if p.tab.Total() != 6 {
		t.Error("the answer for another page was taken")
	}
}

func TestABurstOfKeysMovesAsManyRows(t *testing.T) {
	e, _ := quietEnv(t, termenv.Ascii, false)
	p := fleetOn(e, &fleetFake{fleet: someFleet()})
	m := newModel(e, p, nil)
	m.w, m.h = 80, 24
	settled(p)
	first := p.tab.Cursor()
	m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("jjj")})
	if got := p.tab.Cursor(); got != "gitlab-prod/project/runner/45" || got == first {
		t.Errorf("jjj moved to %s", got)
	}
	mustShow(t, m.View(), ">  gitlab-prod/45")
}

func TestTheSelectionSurvivesSortingFilteringAndNewPages(t *testing.T) {
	data := &fleetFake{fleet: someFleet()}
	p := quietFleet(t, data)
	pressed(p, "j")
	pressed(p, " ")
	pressed(p, "j")
	want, chosen := p.tab.Cursor(), []string{"gitlab-prod/project/runner/42"}
	check := func(after string) {
		t.Helper()
		if got := p.tab.Selected(); !reflect.DeepEqual(got, chosen) || p.tab.Cursor() != want {
			t.Errorf("after %s: selected %v, cursor %s", after, got, p.tab.Cursor())
		}
	}
	pressed(p, "s")
	check("sorting")
	mustShow(t, p.View(80, 21), "RUNNER▲", "* gitlab-prod/42")
	pressed(p, "S")
	check("turning the order")
	mustShow(t, p.View(80, 21), "RUNNER▼")
	pressed(p, "/")
	pressed(p, "status:offline")
	pressed(p, "enter")
	check("filtering")
	mustShow(t, p.View(80, 21), "1 selected (1 not on this list)")
	data.fleet.Rows = append([]fleet.Row{someRow("1", "new", "online")}, data.fleet.Rows...)
	pressed(p, "esc")
	pressed(p, "r")
	check("reading again")
	mustShow(t, p.View(80, 21), "* gitlab-prod/42", "new")
}

func TestEscGivesUpTheFilterThenTheSelectionThenThePage(t *testing.T) {
	p := quietFleet(t, &fleetFake{fleet: someFleet()})
	pressed(p, "a")
	pressed(p, "/")
	pressed(p, "offline")
	pressed(p, "enter")
	if p.tab.Len() != 1 || !p.Holds() {
		t.Fatalf("%d rows", p.tab.Len())
	}
	pressed(p, "esc")
	if p.tab.Len() != 6 || len(p.tab.Selected()) != 6 {
		t.Errorf("first esc: %d rows, %d selected", p.tab.Len(), len(p.tab.Selected()))
	}
	pressed(p, "esc")
	if len(p.tab.Selected()) != 0 || p.Holds() {
		t.Errorf("second esc: %d selected", len(p.tab.Selected()))
	}
	if root := pressed(p, "esc"); len(root) != 1 || root[0] != (popMsg{}) {
		t.Errorf("third esc: %v", root)
	}
}

func TestAFilterIsJudgedWhileItIsTyped(t *testing.T) {
	p := quietFleet(t, &fleetFake{fleet: someFleet()})
	pressed(p, "/")
	if p.Mode() != Typing {
		t.Fatal("keys would still act")
	}
	pressed(p, "status:online ownr:acme") // a burst is text here
	mustShow(t, p.View(80, 21), "/ status:online ownr:acme_", "                 ^^^^ no key \"ownr\"; did you mean owner?")
	if pressed(p, "enter"); !p.typing {
		t.Error("a wrong filter was kept")
	}
	for range "ownr:acme" {
		pressed(p, "backspace")
	}
	pressed(p, "enter")
	if p.typing || p.tab.Len() != 3 {
		t.Errorf("typing %v, %d rows", p.typing, p.tab.Len())
	}
	pressed(p, "/")
	pressed(p, "esc")
	if p.typing || p.line.text != "" || p.tab.Len() != 6 {
		t.Errorf("after esc: typing %v, %q, %d rows", p.typing, p.line.text, p.tab.Len())
	}
}

func TestATokenInTheFilterIsNotShown(t *testing.T) {
	p := quietFleet(t, &fleetFake{fleet: someFleet()})
	token := "glpat" + "-" + strings.Repeat("q7", 10)
	pressed(p, "/")
	pressed(p, token)
	if v := p.View(80, 21); strings.Contains(v, token) {
		t.Errorf("shown:\n%s", v)
	}
}

func TestWhatListsDoNotTellIsCountedAndReadOnAKey(t *testing.T) {
	data := &fleetFake{fleet: someFleet(), bad: map[string]error{"gitlab-prod/project/runner/44": errors.New("403")}}
	p := quietFleet(t, data)
	pressed(p, "/")
	pressed(p, "label:gpu")
	pressed(p, "enter")
	// One is known to have it; four were never asked; the installation without a runner has none.
	mustShow(t, p.View(80, 21), "1/1 of 6; 4 more where the filter cannot tell")
	if !strings.Contains(p.Hint(), "label not known for 4 rows") {
		t.Errorf("hint %q", p.Hint())
	}
	if len(data.asked) != 0 {
		t.Fatal("details were read before anybody asked for them")
	}
	said := saidBy(t, pressed(p, "d"))
	if len(data.asked) != 4 || !strings.Contains(said, "1 of 4 could not be read") {
		t.Errorf("asked %v; said %q", data.asked, said)
	}
	mustShow(t, p.View(80, 21), "4/4 of 6; 1 more where the filter cannot tell")
}

func TestOneCaseIsAboutOneRunner(t *testing.T) {
	p := quietFleet(t, &fleetFake{fleet: someFleet()})
	pressed(p, "a")
	if why := p.cannotContain(); !strings.Contains(why, "6 are selected") {
		t.Errorf("several: %q", why)
	}
	if said := saidBy(t, pressed(p, "c")); !strings.Contains(said, "6 are selected") {
		t.Errorf("said %q", said)
	}
	pressed(p, "esc")
	pressed(p, "G") // the installation that no provider lists
	if why := p.cannotContain(); !strings.Contains(why, "no provider lists") {
		t.Errorf("rogue: %q", why)
	}
	if root := pressed(p, "enter"); len(root) != 1 || root[0].(pushMsg).page.Title() != "host build-07" {
		t.Errorf("enter on it: %v", root)
	}
	pressed(p, "g")
	if why := p.cannotContain(); why != "" {
		t.Errorf("a runner: %q", why)
	}
	if root := pressed(p, "enter"); len(root) != 1 || root[0].(pushMsg).page.Title() != "runner gitlab-prod/project/runner/7" {
		t.Errorf("enter: %v", root)
	}
}

func TestCopyTakesTheSelectionElseTheRow(t *testing.T) {
	p := quietFleet(t, &fleetFake{fleet: someFleet()})
	if s := saidBy(t, pressed(p, "y")); !strings.HasSuffix(s, "gitlab-prod/project/runner/7") {
		t.Error(s)
	}
	pressed(p, " ")
	pressed(p, "j")
	pressed(p, " ")
	if s := saidBy(t, pressed(p, "y")); !strings.HasSuffix(s, "gitlab-prod/project/runner/42\ngitlab-prod/project/runner/7") {
		t.Error(s)
	}
	if s := saidBy(t, pressed(p, "w")); !strings.Contains(s, "enter reads the runner") {
		t.Error(s)
	}
}

func TestKeysOnAnEmptyFleetSayWhyAndNeverFail(t *testing.T) {
	p := quietFleet(t, &fleetFake{})
	for _, k := range []string{"enter", "c", "y", "w", "d", "s", "S", " ", "a", "v", "j", "k", "G", "g", "ctrl+d", "ctrl+u"} {
		pressed(p, k)
		p.View(80, 21)
	}
	if s := saidBy(t, pressed(p, "c")); s != "there is no row here" {
		t.Error(s)
	}
}

// badNames break grids, titles and terminals.
var badNames = []untrusted.Text{
	"\x1b[31mred\x1b[0m\x1b]52;c;AAAA\x07", "\x1b[2J\x1b[H> pwned", "a\u202eb\u2066c", untrusted.Text("e" + strings.Repeat("\u0301", 300)),
	untrusted.Text(strings.Repeat("漢字", 60)), untrusted.Text(strings.Repeat("x", 10<<10)), "a\tb\nc\r\nd", "\u009b31m", "👨‍👩‍👧‍👦👍🏽🇩🇪⚠️", "\xff\xfe", "",
}

func TestHostileNamesNeverBreakTheFleet(t *testing.T) {
	f := fleet.Fleet{At: still}
	for i, n := range badNames {
		r := someRow(fmt.Sprint(i), "", "on"+string(n))
		r.Runner.Name, r.Runner.Owner, r.Runner.Labels, r.Hosts, r.State, r.Why = n, n, badNames, []string{string(n)}, string(n), string(n)
		r.Runner.Ref.System += string(n)
		f.Rows = append(f.Rows, r)
		f.Gaps = append(f.Gaps, evidence.Gap{Name: string(n), Why: string(n)})
	}
	for _, profile := range []termenv.Profile{termenv.Ascii, termenv.TrueColor} {
		e, _ := quietEnv(t, profile, false)
		e.simulated = true
		p := settled(fleetOn(e, &fleetFake{fleet: f}))
		m := newModel(e, p, nil)
		for _, size := range [][2]int{{60, 15}, {80, 24}, {120, 40}, {200, 50}} {
			m.w, m.h = size[0], size[1]
			for range badNames {
				m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("j")})
				v := m.View()
				sound(t, v, m.w, m.h, true)
				if n := strings.Count(ansi.Strip(v), "\n> "); n != 1 {
					t.Errorf("%d cursors:\n%s", n, v)
				}
			}
			m.Update(tea.KeyMsg{Type: tea.KeyHome})
		}
	}
}

// A list that is long in coming is shown on the way, however fast its pages come.
func TestPagesThatComeFasterThanTheyAreSortedDoNotStarveTheScreen(t *testing.T) {
	e, _ := quietEnv(t, termenv.Ascii, false)
	p := fleetOn(e, &fleetFake{})
	p.read()
	p.in = make(chan fleet.Fleet)
	close(p.in)
	f := someFleet()
	first := p.Update(fleetPartMsg{p, p.turn, f, true})
	for range 3 {
		p.Update(fleetPartMsg{p, p.turn, f, true}) // while the first is being sorted
	}
	hand(p, first)
	if p.tab.Total() != len(f.Rows) {
		t.Errorf("%d rows on screen", p.tab.Total())
	}
}
