package tui

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"cordon/internal/secret"
)

func init() {
	screens["case-window"] = func(e env) page {
		p := casePause(e).(*stepper)
		p.about.ID = "contain-42-20261102T030000"
		p.window()
		return p
	}
}

// everyKey is each key of the program that is a letter.
func everyKey() []tea.KeyMsg {
	var out []tea.KeyMsg
	for _, r := range Table() {
		for _, k := range strings.Split(r.Keys, "/") {
			if len([]rune(k)) == 1 {
				out = append(out, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)})
			}
		}
	}
	return append(out, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("/")})
}

// While something is typed no key of the program acts: it is a letter of the text. Esc
// leaves, whatever was typed, and the footer says so.
func TestWhileSomethingIsTypedEveryKeyIsALetter(t *testing.T) {
	typed := 0
	for name, make := range screens {
		e, wall := quietEnv(t, termenv.Ascii, false)
		e.readOnly = true // whatever a test of keys opens is not kept
		m := newModel(e, newHelp(e, nil), nil)
		m.stack = append(m.stack, make(e))
		m.w, m.h = 80, 24
		if m.top().Mode() != Typing {
			continue
		}
		typed++
		wall.pass(deaf)
		footer := func() string { v := m.View(); return v[strings.LastIndexByte(v, '\n')+1:] }
		if f := footer(); !strings.Contains(f, "esc") || !strings.Contains(f, "all else is typed") || strings.Contains(f, "? help") {
			t.Errorf("%s: the footer is %q", name, f)
		}
		top := m.top()
		for _, k := range everyKey() {
			_, cmd := m.Update(k)
			for _, msg := range got(cmd) {
				switch msg.(type) {
				case pushMsg, popMsg, quitMsg, tea.QuitMsg:
					t.Errorf("%s: %q led to %T", name, k, msg)
				}
			}
			if m.top() != top || m.left || top.Mode() != Typing {
				t.Fatalf("%s: %q acted while something is typed", name, k)
			}
			wall.pass(deaf)
		}
		// The first esc leaves the field; the line of the start page is cleared first.
		left := false
		for range 2 {
			_, cmd := m.Update(tea.KeyMsg{Type: tea.KeyEsc})
			for _, msg := range got(cmd) {
				_, popped := msg.(popMsg)
				left = left || popped
			}
			left = left || top.Mode() != Typing
		}
		if !left {
			t.Errorf("%s: esc does not leave", name)
		}
	}
	if typed < 6 {
		t.Errorf("only %d screens with a field", typed)
	}
}

// got runs a command at once, if it is one that only says something.
func got(cmd tea.Cmd) []tea.Msg {
	if cmd == nil {
		return nil
	}
	switch msg := cmd().(type) {
	case nil:
		return nil
	case tea.BatchMsg:
		var out []tea.Msg
		for _, c := range msg {
			out = append(out, got(c)...)
		}
		return out
	default:
		return []tea.Msg{msg}
	}
}

// A question for a secret lies over every page, and the footer is its own.
func TestTheFooterOfASecretIsItsOwn(t *testing.T) {
	e, _ := quietEnv(t, termenv.Ascii, false)
	m := newModel(e, settled(hostOn(e, fullCard())), nil)
	m.w, m.h = 80, 24
	q := question{"token of gitlab-prod", make(chan secret.Secret, 1)}
	m.Update(askMsg{q})
	v := m.View()
	if !strings.HasSuffix(v, " enter hand over  esc refuse  all else is typed  ctrl+c quit") {
		t.Error(v)
	}
	for _, k := range everyKey() {
		m.Update(k)
	}
	if m.left || len(m.stack) != 1 || m.secret == nil {
		t.Error("a key acted while a secret is typed")
	}
	if strings.Contains(m.View(), "jk") {
		t.Errorf("the secret is shown:\n%s", m.View())
	}
	m.Update(tea.KeyMsg{Type: tea.KeyEsc})
	if _, given := <-q.got; given || m.secret != nil {
		t.Error("esc does not refuse")
	}
}

// Where the reading is too old while the confirmation is open, it does not name a key that
// is a letter there.
func TestATypedConfirmationNamesNoKeyThatItTypes(t *testing.T) {
	e, wall := quietEnv(t, termenv.Ascii, false)
	p := casePlans(e).(*stepper)
	p.read = wall.now()
	p.confirm()
	wall.pass(staleAfter + time.Second)
	for _, r := range p.dialog.want {
		p.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
	}
	if p.dialog == nil {
		t.Fatal("an old reading was acted on")
	}
	if s := p.dialog.said; !strings.Contains(s, "esc, and then r reads it again") {
		t.Errorf("%q", s)
	}
	if why := p.canApply(); !strings.HasSuffix(why, "ago: r reads it again") {
		t.Errorf("on the page r acts: %q", why)
	}
}
