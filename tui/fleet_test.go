package tui

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"cordon/internal/app"
	"cordon/internal/check"
	"cordon/internal/evidence"
	"cordon/internal/fleet"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
	"cordon/providers"
)

func init() {
	screens["fleet"] = func(e env) page { return settled(fleetOn(e, &fleetFake{fleet: someFleet()})) }
	screens["fleet-filter"] = func(e env) page {
		p := fleetOn(e, &fleetFake{fleet: someFleet()})
		settled(p)
		pressed(p, "/")
		pressed(p, "status:online lable:gpu")
		return p
	}
	screens["fleet-reading"] = func(e env) page {
		p := fleetOn(e, &fleetFake{})
		p.read() // its commands never run: nothing has come in but what was known
		arrive(p, aged(someFleet(), 3*24*time.Hour))
		return p
	}
	screens["fleet-empty"] = func(e env) page { return settled(fleetOn(e, &fleetFake{})) }
	screens["fleet-failed"] = func(e env) page {
		return settled(fleetOn(e, &fleetFake{err: fmt.Errorf("%w: no provider is configured; write one to config.yaml or set GITLAB_TOKEN", app.ErrUsage)}))
	}
}

// fleetFake lists a fleet that a test made. It counts what is asked of it.
type fleetFake struct {
	fleet fleet.Fleet
	err   error
	asked []string // references of runners that were read
	bad   map[string]error
}

func (f *fleetFake) KnownFleet() (fleet.Fleet, error) { return f.fleet, f.err }

func (f *fleetFake) ListFleet(_ context.Context, o app.FleetOptions) (fleet.Fleet, error) {
	if f.err != nil {
		return fleet.Fleet{}, f.err
	}
	o.Partly(f.fleet)
	return f.fleet, nil
}

func (f *fleetFake) Runner(_ context.Context, ref string) (providers.Runner, error) {
	f.asked = append(f.asked, ref)
	if err := f.bad[ref]; err != nil {
		return providers.Runner{}, err
	}
	for _, r := range f.fleet.Rows {
		if r.Runner.Ref.String() == ref {
			r.Runner.Labels = []untrusted.Text{"gpu", "linux"}
			r.Runner.Owner = "acme/web"
			return r.Runner, nil
		}
	}
	return providers.Runner{}, providers.ErrNotFound
}

func fleetOn(e env, data fleetData) *fleetPage {
	return newFleetOf(e, data, func() time.Time { return still })
}

// settled runs what a page begins with, and all that comes of it.
func settled[P page](p P) P {
	hand(p, p.Init())
	return p
}

// hand runs a command and hands its messages to the page until nothing more comes. It
// returns what was meant for the root.
func hand(p page, cmd tea.Cmd) (root []tea.Msg) {
	if cmd == nil {
		return nil
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			root = append(root, hand(p, c)...)
		}
	case pushMsg, popMsg, sayMsg, quitMsg:
		return []tea.Msg{msg}
	default:
		return hand(p, p.Update(msg))
	}
	return root
}

// arrive is a part of a listing that is going on; no other follows it.
func arrive(p *fleetPage, f fleet.Fleet) {
	p.in = make(chan fleet.Fleet)
	close(p.in)
	hand(p, p.Update(fleetPartMsg{p, p.turn, f, true}))
}

// pressed gives a page one key: a name that tea knows, or text in one message.
func pressed(p page, key string) (root []tea.Msg) {
	named := map[string]tea.KeyType{"enter": tea.KeyEnter, "esc": tea.KeyEsc, "backspace": tea.KeyBackspace, "ctrl+d": tea.KeyCtrlD, "ctrl+u": tea.KeyCtrlU}
	k := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(key)}
	if t, ok := named[key]; ok {
		k = tea.KeyMsg{Type: t}
	} else if key == " " {
		k = tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	}
	return hand(p, p.Update(k))
}

// saidBy is the text of the one line that a key led to.
func saidBy(t *testing.T, root []tea.Msg) string {
	t.Helper()
	for _, m := range root {
		if s, ok := m.(sayMsg); ok {
			return s.text
		}
	}
	t.Fatalf("nothing was said: %v", root)
	return ""
}

func someRow(id, name, status string) fleet.Row {
	return fleet.Row{
		Runner: providers.Runner{
			Ref:  target.Ref{System: "gitlab-prod", Scope: target.Scope{Level: "project"}, Kind: target.Runner, ID: id},
			Name: untrusted.Text(name), Status: status, Paused: witness.No,
		},
		Looked: fleet.UnknownHost, SeenAt: map[string]time.Time{"provider": still},
	}
}

// someFleet has one of each kind of row.
func someFleet() fleet.Fleet {
	on := someRow("42", "build-07", "online")
	on.Hosts, on.Looked = []string{"build-07"}, fleet.Looked
	on.Runner.LastContact = still.Add(-90 * time.Second)
	off := someRow("44", "spot-fleet-a", "offline")
	off.Runner.Paused = witness.Yes
	ghost := someRow("45", "build-07", "stale")
	ghost.Hosts, ghost.Looked, ghost.State, ghost.Why = []string{"build-08"}, fleet.Looked, fleet.Ghost, "build-08 was read to the end, and no installation of it is there"
	old := someRow("7", "kept from before", "online")
	old.SeenAt["provider"] = still.Add(-3 * 24 * time.Hour)
	det := someRow("46", "gpu-1", "online")
	det.Runner.Labels, det.Runner.Owner = []untrusted.Text{"gpu", "cuda"}, "acme/ml"
	det.SeenAt["details"] = still
	rogue := fleet.Row{
		Installations: []check.Installation{{Host: "build-07", Root: "/home/x/.dev-env", RunnerID: "7", Name: "dev-env"}},
		Hosts:         []string{"build-07"}, State: fleet.Rogue, Why: "it serves https://example.invalid, which no configured provider is",
		Looked: fleet.Looked, SeenAt: map[string]time.Time{"host/build-07": still.Add(-2 * time.Hour)},
	}
	return fleet.Fleet{
		At: still, Rows: []fleet.Row{old, on, off, ghost, det, rogue},
		Gaps: []evidence.Gap{{Name: "gitlab-prod/runners of group:acme", Why: "403, the credential lacks read_api", At: still}},
	}
}

func aged(f fleet.Fleet, d time.Duration) fleet.Fleet {
	for i := range f.Rows {
		f.Rows[i].SeenAt = map[string]time.Time{"provider": still.Add(-d)}
	}
	f.Gaps = nil
	return f
}

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
