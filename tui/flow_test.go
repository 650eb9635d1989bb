package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"cordon/internal/app"
	"cordon/internal/target"
)

var sgrOnly = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// find types what the alert says and opens the case of the runner that is online.
func (p *person) find(what string) {
	p.t.Helper()
	p.until("ready: the providers answered")
	p.runes(what)
	p.press(tea.KeyEnter)
	if p.untilAny("may be meant", "what it is") == "may be meant" {
		p.press(tea.KeyEnter)
	}
	p.until("what it is")
	p.runes("c")
	p.until("2/6 Give it no more jobs")
}

// walk answers every prompt as a person who agrees does, until stop says so.
func (p *person) walk(stop func(s *stepper) bool) *stepper {
	p.t.Helper()
	most := time.After(120 * time.Second) // for a test that would hang, not a measurement
	for {
		if s, ok := p.m.top().(*stepper); ok {
			switch {
			case stop(s):
				return s
			case s.err != nil:
				p.t.Fatalf("the run stands still: %v\n%s", s.err, p.look())
			case s.dialog != nil && !s.dialog.atField:
				p.awake()
				p.runes("the token is in use by others")
				p.press(tea.KeyEnter)
				continue
			case s.dialog != nil:
				p.awake()
				p.runes(s.dialog.want)
				continue
			case s.cur != nil && !s.over():
				p.press(tea.KeyEnter)
				if s.dialog == nil {
					p.t.Fatalf("enter opened nothing: %s\n%s", s.canApply(), p.look())
				}
				p.look()
				continue
			}
		}
		select {
		case msg := <-p.msgs:
			p.tell(msg)
		case <-most:
			p.t.Fatalf("the walk hangs; the screen is\n%s", p.look())
		}
	}
}

func atEnd(s *stepper) bool { return s.over() }

func TestTheDemoGoesFromTheAlertToAVerifiedBundle(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {minW, minH}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			w := newLabWorld(t, "none")
			out := t.TempDir()
			p := w.sit(size[0], size[1], Options{Demo: &Demo{Ref: w.app.Planted(), Host: w.app.PlantedHost(), Title: "demo", Dir: out}})
			if !strings.Contains(p.look(), "an alert names build-07") {
				t.Errorf("the demo does not say how to begin:\n%s", p.look())
			}
			p.find("build-07")
			s := p.walk(atEnd)
			p.until("ending: contained (exit 0)")
			p.until("can it fetch secrets? ! open")
			p.runes("e")
			p.until("bundle verified")
			if s.handed == nil || !s.handed.Report.OK() {
				t.Fatalf("handed over: %+v", s.handed)
			}
			if v := strings.Join(strings.Fields(p.look()), ""); !strings.Contains(v, filepath.Base(s.handed.Path)) && !strings.Contains(strings.ReplaceAll(v, "│", ""), filepath.Base(s.handed.Path)) {
				t.Errorf("the path of the bundle is not on the screen:\n%s", p.look())
			}
			if _, err := os.Stat(s.handed.Path); err != nil {
				t.Error(err)
			}
			left := p.m.e.desk.leave(func(string) {})
			if left.Bundle != s.handed.Path || left.Ending == nil || left.Ending.Word != "contained" || left.Kept {
				t.Errorf("left: %+v", left)
			}
			// And as a stranger would: the file alone, with the signer's line that came beside it.
			if r, err := app.Verify(left.Bundle, s.handed.Signers); err != nil || !r.Simulated {
				t.Errorf("verify: %v, simulated %v", err, r.Simulated)
			}
		})
	}
}

// A GitHub does not say where a runner is: the case of the tour is told by the alert,
// whichever way leads to it.
func TestTheTourOfAGitHubOpensItsCaseWithTheHost(t *testing.T) {
	w := newLabOf(t, "github-owned", "none")
	host := w.app.PlantedHost()
	planted, err := target.Parse(w.app.Planted())
	if err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func(e env) tea.Cmd{
		"from the fleet": func(e env) tea.Cmd { return contain(e, planted) },
		"from triage": func(e env) tea.Cmd {
			card, err := w.app.Triage(t.Context(), host)
			if err != nil || card.Only() == nil {
				t.Fatalf("%+v, %v", card, err)
			}
			e.demo = nil // the card alone has to know it
			return contain(e, card.Only().Ref, card.Only().With...)
		},
	} {
		e, _ := quietEnv(t, termenv.Ascii, false)
		e.app, e.clock, e.readOnly = w.app, w.app.Clock(), true // a dry run keeps nothing, so that both open one
		e.demo = &Demo{Ref: w.app.Planted(), Host: host, Hosts: []string{host}}
		pushed, ok := open(e)().(pushMsg)
		if !ok {
			t.Fatalf("%s: no case was opened", name)
		}
		t.Cleanup(func() { e.desk.leave(func(string) {}) })
		evs, _ := pushed.page.(*stepper).drv.events(t.Context())
		if len(evs) == 0 || evs[0].opened == nil {
			t.Fatalf("%s: %+v", name, evs)
		}
		if got := evs[0].opened.Hosts; !slices.Equal(got, []string{host}) {
			t.Errorf("%s: the case is about the hosts %q, want %s", name, got, host)
		}
	}
}

// The promise of the issue: from the typed name to a paused runner at most 12 keys and
// 5 calls of the provider before the pause, and nothing on a host.
func TestFromAHostNameToAPausedRunner(t *testing.T) {
	w := newLabWorld(t, "none")
	p := w.sit(80, 24, Options{})
	p.until("ready: the providers answered")
	before, name := w.reads(), "build-07"
	p.find(name)
	p.press(tea.KeyEnter)
	p.until("Do it?")
	calls := w.reads() - before
	p.confirm("y")
	p.until("3/6 Make the stolen")
	s := p.m.top().(*stepper)
	calls += w.readsBeforeTheChange(s.about.ID)
	if keys := p.keys - len(name); keys > 12 {
		t.Errorf("%d keys beyond the name, wants at most 12", keys)
	}
	if calls > 5 {
		t.Errorf("%d calls before the pause, wants at most 5", calls)
	}
	if calls < 3 {
		t.Errorf("%d calls before the pause cannot be: the count is broken", calls)
	}
	if c := w.counters(); len(c.Conns) != 0 || len(c.Sessions) != 0 {
		t.Errorf("a host was contacted: %+v", c)
	}
	if s.steps[1].End != "done" {
		t.Errorf("the pause did not end as done: %+v", s.steps)
	}
}

// reads are the GETs that the lab has answered: agents only post, patch and put.
func (w *labWorld) reads() int {
	w.t.Helper()
	n := 0
	for route, c := range w.counters().Requests {
		if strings.HasPrefix(route, "GET ") && strings.Count(route, " ") == 1 {
			n += c
		}
	}
	return n
}

// readsBeforeTheChange are the calls on record between the intent and its call.
func (w *labWorld) readsBeforeTheChange(id string) int {
	w.t.Helper()
	v, err := w.app.View(id)
	if err != nil {
		w.t.Fatal(err)
	}
	n, intent := 0, false
	for _, l := range v.Lines {
		switch {
		case l.Kind == "intent":
			intent = true
		case intent && l.Kind == "exchange" && l.Req.Method != "GET":
			return n
		case intent && l.Kind == "exchange":
			n++
		}
	}
	w.t.Fatal("no change is on record")
	return 0
}
