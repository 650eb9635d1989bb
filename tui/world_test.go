package tui

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"cordon/internal/app"
	"cordon/internal/clock"
	"cordon/internal/host"
	"cordon/internal/lab"
	"cordon/internal/lab/ledger"
)

// still is a time that does not pass, and a wall clock that a test moves.
var still = time.Date(2026, 11, 2, 3, 0, 0, 0, time.UTC)

type stillClock struct{}

func (stillClock) Now() time.Time                                  { return still }
func (stillClock) Wait(ctx context.Context, _ time.Duration) error { return ctx.Err() }

type wall struct {
	mu sync.Mutex
	t  time.Time
}

func (w *wall) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.t
}

func (w *wall) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.t = w.t.Add(d)
}

// quietEnv is an environment without an app: for pages that are shown and not asked.
func quietEnv(t testing.TB, profile termenv.Profile, ascii bool) (env, *wall) {
	t.Helper()
	r := lipgloss.NewRenderer(&bytes.Buffer{})
	r.SetColorProfile(profile)
	r.SetHasDarkBackground(true)
	w := &wall{t: still}
	return env{
		ctx: t.Context(), th: newTheme(r, ascii), keys: NewKeyMap(), desk: &desk{}, wall: w.now, clock: stillClock{},
		state: "/var/lib/cordon", getenv: func(string) string { return "" },
		crash: func(any, []byte) string { return "crash.txt" },
	}, w
}

// labWorld is a lab in this process and an app on it.
type labWorld struct {
	t     testing.TB
	app   *app.App
	ready lab.Ready
	dir   string
}

func newLabWorld(t testing.TB, fault string) *labWorld {
	t.Helper()
	return newLabOf(t, "", fault)
}

func newLabOf(t testing.TB, scenario, fault string) *labWorld {
	t.Helper()
	w := &labWorld{t: t, dir: t.TempDir()}
	var scripts []lab.Script
	for _, s := range host.Scripts() {
		scripts = append(scripts, lab.Script{Name: s.Name, SHA256: s.SHA256, Kind: s.Kind})
	}
	ctx, cancel := context.WithCancel(context.Background())
	r, done := make(chan []byte, 1), make(chan error, 1)
	go func() {
		done <- lab.Serve(ctx, lab.Options{Dir: filepath.Join(w.dir, "lab"), Scale: 600, Seed: 1, Scenario: scenario, Fault: fault, Ready: line(r), Scripts: scripts})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the lab ended badly: %v", err)
		}
	})
	select {
	case b := <-r:
		if err := json.Unmarshal(b, &w.ready); err != nil {
			t.Fatal(err)
		}
	case err := <-done:
		done <- nil
		t.Fatal(err)
	}
	a, err := app.Open(t.Context(), app.Options{Lab: filepath.Join(w.dir, "lab"), State: filepath.Join(w.dir, "state"), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	w.app = a
	return w
}

type line chan []byte

func (l line) Write(b []byte) (int, error) {
	l <- bytes.Clone(b)
	return len(b), nil
}

// counters are what the lab counted: requests by route, logins by host.
func (w *labWorld) counters() ledger.Counters {
	w.t.Helper()
	resp, err := http.Get(w.ready.Control + "/counters")
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	var c ledger.Counters
	if err := json.NewDecoder(resp.Body).Decode(&c); err != nil {
		w.t.Fatal(err)
	}
	return c
}

// person sits at a screen: keys go in, views come out, and every view is looked at
// for what must hold on all of them.
type person struct {
	t    testing.TB
	m    *model
	msgs chan tea.Msg
	w, h int
	quit bool
	keys int // pressed so far
}

func (w *labWorld) sit(width, height int, o Options) *person {
	e, _ := quietEnv(w.t, termenv.Ascii, false)
	e.app, e.clock, e.state, e.wall = w.app, w.app.Clock(), w.app.StateDir(), time.Now
	e.simulated, e.readOnly, e.demo = w.app.Simulated(), w.app.ReadOnly(), o.Demo
	first, then := firstPage(e, o)
	p := &person{t: w.t, m: newModel(e, first, then), msgs: make(chan tea.Msg, 64), w: width, h: height}
	w.t.Cleanup(func() { e.desk.leave(func(string) {}) })
	p.do(p.m.Init())
	p.tell(tea.WindowSizeMsg{Width: width, Height: height})
	return p
}

func (p *person) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			for _, c := range msg {
				p.do(c)
			}
		default:
			select {
			case p.msgs <- msg:
			case <-p.t.Context().Done():
			}
		}
	}()
}

func (p *person) tell(msg tea.Msg) {
	if _, ok := msg.(tea.QuitMsg); ok {
		p.quit = true
		return
	}
	_, cmd := p.m.Update(msg)
	p.do(cmd)
	p.look()
}

// look checks the view and returns it.
func (p *person) look() string {
	p.t.Helper()
	v := p.m.View()
	sound(p.t, v, p.w, p.h, p.m.e.simulated)
	return v
}

// sound is what must hold for every view of every page.
func sound(t testing.TB, view string, w, h int, simulated bool) {
	t.Helper()
	lines := strings.Split(view, "\n")
	if len(lines) != h {
		t.Fatalf("%d lines on a screen of %d:\n%s", len(lines), h, view)
	}
	for _, l := range lines {
		if n := ansi.StringWidth(l); n > w {
			t.Fatalf("a line of %d cells on a screen of %d: %q", n, w, l)
		}
		if rest := ansi.Strip(l); strings.ContainsFunc(rest, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) {
			t.Fatalf("a control character on the screen: %q", l)
		}
		if sgr := sgrOnly.ReplaceAllString(l, ""); strings.Contains(sgr, "\x1b") {
			t.Fatalf("an escape that is not colour: %q", l)
		}
	}
	if simulated && !strings.Contains(lines[0], "SIMULATED") {
		t.Fatalf("a simulated screen that does not say so:\n%s", view)
	}
}

// until handles what arrives until the screen shows text.
func (p *person) until(text string) string {
	p.t.Helper()
	most := time.After(60 * time.Second) // for a test that would hang, not a measurement
	for {
		if v := p.look(); strings.Contains(v, text) {
			return v
		}
		select {
		case msg := <-p.msgs:
			p.tell(msg)
		case <-most:
			p.t.Fatalf("never saw %q; the screen is\n%s", text, p.look())
		}
	}
}

// press sends named keys, type sends runes one by one.
func (p *person) press(keys ...tea.KeyType) {
	for _, k := range keys {
		p.keys++
		p.tell(tea.KeyMsg{Type: k})
	}
}

func (p *person) runes(s string) {
	for _, r := range s {
		p.keys++
		p.tell(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
	}
}

// confirm waits until the dialog hears, and types.
func (p *person) confirm(what string) {
	p.t.Helper()
	p.until("Do it?")
	p.awake()
	p.runes(what)
}

// awake moves the dialog's opening into the past instead of waiting for it.
func (p *person) awake() {
	if s, ok := p.m.top().(*stepper); ok && s.dialog != nil {
		s.dialog.opened = s.dialog.opened.Add(-deaf)
	}
}

var _ clock.Clock = stillClock{}

// untilAny is until for one of several texts; it returns which.
func (p *person) untilAny(texts ...string) string {
	p.t.Helper()
	most := time.After(60 * time.Second) // for a test that would hang, not a measurement
	for {
		v := p.look()
		for _, s := range texts {
			if strings.Contains(v, s) {
				return s
			}
		}
		select {
		case msg := <-p.msgs:
			p.tell(msg)
		case <-most:
			p.t.Fatalf("never saw one of %q; the screen is\n%s", texts, p.look())
		}
	}
}
