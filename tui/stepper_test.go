package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"cordon/internal/app"
	"cordon/internal/engine"
	"cordon/internal/secret"
)

// onPage is a page on a root model whose run only takes notes.
func onPage(t *testing.T, make func(env) page) (*model, *stepper, *wall) {
	t.Helper()
	e, w := quietEnv(t, termenv.Ascii, false)
	p := make(e).(*stepper)
	p.drv.orders = orders()
	m := newModel(e, p, nil)
	m.w, m.h = 80, 24
	return m, p, w
}

func orders() chan order { return make(chan order, 1) }

// send hands keys to the root as messages.
func send(m *model, ks ...tea.KeyMsg) (said string) {
	for _, k := range ks {
		_, cmd := m.Update(k)
		for cmd != nil {
			switch msg := cmd().(type) {
			case sayMsg:
				said = msg.text
				cmd = nil
			case tea.BatchMsg:
				cmd = nil
				for _, c := range msg {
					if c == nil {
						continue
					}
					if s, ok := c().(sayMsg); ok {
						said = s.text
					}
				}
			default:
				cmd = nil
			}
		}
	}
	return said
}

func decided(p *stepper) *engine.Decision {
	select {
	case o := <-p.drv.orders:
		return o.decision
	default:
		return nil
	}
}

func TestADecisionCarriesThePromptAndThePlanThatWereShown(t *testing.T) {
	m, p, w := onPage(t, casePause)
	hash := p.cur.Plans[0].Hash()
	send(m, enter)
	w.pass(time.Second)
	send(m, runes("y"))
	d := decided(p)
	if d == nil || d.Verb != engine.Apply || d.N != 1 || d.Plan != hash {
		t.Fatalf("decided %+v", d)
	}
	if p.cur != nil || p.busy == "" {
		t.Error("the page must not ask on while the run is at work")
	}
	if send(m, enter); p.dialog != nil || decided(p) != nil {
		t.Error("a second enter asked again")
	}
}

// What was read a while ago may not be destroyed on: first it is read again. What can
// be undone may.
func TestOldDataBlocksWhatCannotBeUndone(t *testing.T) {
	m, p, w := onPage(t, casePlans)
	w.pass(staleAfter + time.Second)
	if said := send(m, enter); p.dialog != nil || !strings.Contains(said, "r reads it again") {
		t.Errorf("said %q, dialog %v", said, p.dialog)
	}
	if !strings.Contains(m.View(), "(enter apply)") {
		t.Errorf("the key does not say that it is off:\n%s", m.View())
	}
	send(m, runes("r"))
	if d := decided(p); d == nil || d.Verb != engine.Again {
		t.Errorf("decided %+v, want to look again", d)
	}

	// It grows old under an open dialog as well.
	m, p, w = onPage(t, casePlans)
	send(m, enter)
	w.pass(staleAfter + time.Second)
	send(m, runes("42"))
	if d := decided(p); d != nil || p.dialog == nil || !strings.Contains(p.dialog.said, "read") {
		t.Errorf("decided %+v on old data", d)
	}

	m, p, w = onPage(t, casePause)
	w.pass(time.Hour)
	send(m, enter)
	w.pass(time.Second)
	if send(m, runes("y")); decided(p) == nil {
		t.Error("a pause can be undone and must not wait for a second reading")
	}
}

// A prompt that arrives under an open dialog closes it: what it showed may not stand.
func TestANewPromptClosesTheDialog(t *testing.T) {
	m, p, w := onPage(t, casePause)
	send(m, enter)
	w.pass(time.Second)
	again := *p.cur
	again.N = 2
	m.Update(runMsg{drv: p.drv, events: []event{{prompt: &again, at: w.now()}}})
	if p.dialog != nil {
		t.Fatal("the dialog is still open")
	}
	if send(m, runes("y")); decided(p) != nil {
		t.Error("y confirmed what is no longer on screen")
	}
}

func TestWhatCannotRunSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		page func(env) page
		key  tea.KeyMsg
		want string
	}{
		"read-only":        {caseReadOnly, enter, "may not write"},
		"at work":          {caseWorking, enter, "at work"},
		"stuck":            {caseStuck, enter, "stands still"},
		"a doubt":          {caseDoubt, enter, "not a choice here"},
		"a doubt, skipped": {caseDoubt, runes("x"), "not a choice here"},
		"over":             {caseEnded, enter, "the run is over"},
		"window when over": {caseEnded, runes("w"), "while the case runs"},
	} {
		m, p, _ := onPage(t, c.page)
		if said := send(m, c.key); !strings.Contains(said, c.want) || p.dialog != nil || decided(p) != nil {
			t.Errorf("%s: said %q, want %q", name, said, c.want)
		}
	}
	m, p, _ := onPage(t, casePlans)
	send(m, tea.KeyMsg{Type: tea.KeyTab})
	if said := send(m, enter); !strings.Contains(said, "by hand") || p.dialog != nil {
		t.Errorf("a plan by hand: said %q", said)
	}
}

func TestASkipNeedsItsReason(t *testing.T) {
	m, p, _ := onPage(t, casePause)
	send(m, runes("x"), enter)
	if p.form == nil || decided(p) != nil {
		t.Fatal("skipped without a reason")
	}
	send(m, runes("qy?"), paste(" pasted\n"), enter)
	d := decided(p)
	if d == nil || d.Verb != engine.Skip || d.Reason != "qy? pasted" {
		t.Errorf("decided %+v", d)
	}
	m, p, _ = onPage(t, caseDoubt)
	send(m, runes("o"), runes("nobody can tell"), enter)
	if d := decided(p); d == nil || d.Verb != engine.Leave || d.Reason != "nobody can tell" {
		t.Errorf("decided %+v", d)
	}
}

func TestTheSuspectWindowMovesWithAReason(t *testing.T) {
	m, p, _ := onPage(t, casePause)
	send(m, runes("w"), runes("72h"), enter, enter)
	if p.form == nil {
		t.Fatal("moved without a reason")
	}
	send(m, runes("the alert is of friday"), enter)
	o := <-p.drv.orders
	if o.why != "the alert is of friday" || !o.since.Equal(still.Add(-72*time.Hour)) {
		t.Errorf("order %+v", o)
	}
	for text, want := range map[string]string{
		"2026-11-01 18:00": "2026-11-01T18:00:00Z", "2026-11-01": "2026-11-01T00:00:00Z", "2026-11-01T18:00:00Z": "2026-11-01T18:00:00Z",
		"30m": "2026-11-02T02:30:00Z", "2027-01-01": "", "yesterday": "", "-3h": "", "": "",
	} {
		at, err := parseSince(text, still)
		if got := at.Format(time.RFC3339); (err == nil) != (want != "") || want != "" && got != want {
			t.Errorf("%q is %s, %v; want %q", text, got, err, want)
		}
	}
}

// A second person is not talked away by a reason: going on alone is its own word in the
// record, and never one key.
func TestWithoutTheSecondPersonTheGlassIsBroken(t *testing.T) {
	m, p, w := onPage(t, casePause)
	p.cur.Guards[0] = []engine.Guard{{ID: engine.Approval, Class: engine.GuardApproval, Text: "needs bob's approval"}}
	send(m, enter)
	w.pass(time.Second)
	send(m, runes("bob is asleep"), enter)
	w.pass(time.Second)
	send(m, runes("y"))
	if decided(p) != nil {
		t.Fatal("one key was enough")
	}
	send(m, tea.KeyMsg{Type: tea.KeyCtrlU}, runes("42"))
	d := decided(p)
	if d == nil || d.BreakGlass != "bob is asleep" || len(d.Waive) != 0 {
		t.Errorf("decided %+v", d)
	}
}

// An alarm stays in sight while the run goes on.
func TestAnAlarmIsNotOverlooked(t *testing.T) {
	m, p, w := onPage(t, casePause)
	m.Update(runMsg{drv: p.drv, events: []event{
		{prompt: &engine.Prompt{Kind: engine.Progress, Step: "pause", Word: "late job", Text: "job 9001 started after the pause"}, at: w.now()},
		{prompt: &engine.Prompt{Kind: engine.Progress, Step: "pause", Text: "read back: paused"}, at: w.now()},
	}})
	if v := m.View(); !strings.Contains(v, "late job: job 9001 started after the") {
		t.Errorf("the alarm is gone:\n%s", v)
	}
}

// A run that panics keeps the trace out of the screen and says where it is; the case
// is closed, the screen lives.
func TestARunThatPanicsStandsStill(t *testing.T) {
	e, _ := quietEnv(t, termenv.Ascii, false)
	kept := ""
	e.crash = func(v any, _ []byte) string { kept = fmt.Sprint(v); return "/state/crash.txt" }
	d := e.start(func(context.Context) (*app.Session, error) { panic("glpat-secret in a panic") })
	evs, _ := d.events(t.Context())
	for len(evs) == 0 {
		evs, _ = d.events(t.Context())
	}
	if !evs[0].dead || !strings.Contains(evs[0].err.Error(), "/state/crash.txt") || strings.Contains(evs[0].err.Error(), "secret") || kept == "" {
		t.Errorf("event %+v, kept %q", evs[0], kept)
	}
	d.detach()
	if d.alive() {
		t.Error("it still takes orders")
	}
}

func TestACommandThatPanicsLeavesInOrder(t *testing.T) {
	e, _ := quietEnv(t, termenv.Ascii, false)
	m := newModel(e, casePause(e), nil)
	msg := e.safe(func(context.Context) tea.Msg { panic("x") })()
	_, cmd := m.Update(msg)
	if _, ok := cmd().(tea.QuitMsg); !ok || m.crash != "crash.txt" {
		t.Errorf("crash %q", m.crash)
	}
}

func TestASecretIsAskedOnTheScreenAndNeverShown(t *testing.T) {
	a := NewAsker(func(context.Context, string) (secret.Secret, error) { return secret.Secret{}, errors.New("no screen") })
	if _, err := a.Ask(t.Context(), "token"); err == nil || err.Error() != "no screen" {
		t.Errorf("without a screen: %v", err)
	}
	e, _ := quietEnv(t, termenv.Ascii, false)
	var detach func()
	e.questions, detach = a.attach()
	defer detach()
	m := newModel(e, casePause(e), nil)
	m.w, m.h = 80, 24
	type got struct {
		s   secret.Secret
		err error
	}
	ask := func(keys ...tea.KeyMsg) got {
		c := make(chan got, 1)
		go func() {
			s, err := a.Ask(t.Context(), "act token of gitlab-prod")
			c <- got{s, err}
		}()
		m.Update(e.listenForQuestions()())
		if v := m.View(); !strings.Contains(v, "act token of gitlab-prod") {
			t.Errorf("it is not asked:\n%s", v)
		}
		for _, k := range keys {
			m.Update(k)
			if v := m.View(); strings.Contains(v, "sesame") {
				t.Errorf("the secret is on the screen:\n%s", v)
			}
		}
		return <-c
	}
	if g := ask(runes("open-"), paste("sesame"), enter); g.err != nil || g.s.Reveal() != "open-sesame" {
		t.Errorf("got %v, %v", g.s, g.err)
	}
	if g := ask(runes("sesame"), esc); !errors.Is(g.err, app.ErrNeeds) {
		t.Errorf("refused: %v", g.err)
	}
	if m.secret != nil {
		t.Error("the box is still open")
	}
}

// Looking costs no login: not the start page, not the fleet, not a card, not triage.
func TestBrowsingContactsNoHost(t *testing.T) {
	w := newLabWorld(t, "none")
	p := w.sit(80, 24, Options{})
	p.until("ready: the providers answered")
	p.press(tea.KeyEnter)
	p.until("build-08")
	p.runes("jjjkk")
	p.press(tea.KeyEnter)
	p.until(" cordon  runner")
	p.press(tea.KeyEsc)
	p.until(" cordon  fleet")
	p.press(tea.KeyEsc)
	p.until(" cordon  start")
	p.runes("build-07")
	p.press(tea.KeyEnter)
	p.until("may be meant")
	p.press(tea.KeyEnter)
	p.until("what it is")
	p.runes("rjjj")
	p.press(tea.KeyEnter)
	p.until(" cordon  runner")
	start := w.app.Clock().Now()
	for w.app.Clock().Now().Sub(start) < 5*time.Minute { // on the lab's clock
		select {
		case msg := <-p.msgs:
			p.tell(msg)
		case <-time.After(50 * time.Millisecond):
		}
	}
	if c := w.counters(); len(c.Conns) != 0 || len(c.Sessions) != 0 {
		t.Errorf("browsing contacted a host: %+v", c)
	}
}
