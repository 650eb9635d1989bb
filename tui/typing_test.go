package tui

import (
	"os"
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

// Text that is pasted as keys does not leave the screen with the q in it: the rest of it
// would be run by the shell below. A q that stands alone does.
func TestOnlyAQThatStandsAloneLeaves(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	in := &input{File: r}
	e, _ := quietEnv(t, termenv.Ascii, false)
	e.alone = in.alone
	m := newModel(e, settled(hostOn(e, fullCard())), nil)
	m.w, m.h = 80, 24
	leaves := func(bytes, key string) bool {
		if _, err := w.WriteString(bytes); err != nil {
			t.Fatal(err)
		}
		if _, err := in.Read(make([]byte, 256)); err != nil {
			t.Fatal(err)
		}
		_, cmd := m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(key)})
		for _, msg := range got(cmd) {
			if _, quits := msg.(tea.QuitMsg); quits {
				return true
			}
		}
		return m.left
	}
	for _, c := range [][2]string{{"jjq", "jjq"}, {"qrm", "qrm"}, {"\rq\rrm -rf x\r", "q"}} {
		if leaves(c[0], c[1]) {
			t.Fatalf("%q leaves", c[0])
		}
		if !strings.Contains(m.View(), "once more does") {
			t.Errorf("%q: it does not say why not", c[0])
		}
	}
	if !leaves("q", "q") {
		t.Error("a q alone does not leave")
	}
}

// What nobody sees is not confirmed: below the smallest size keys do nothing but leave.
func TestKeysDoNothingWhereNothingIsShown(t *testing.T) {
	e, wall := quietEnv(t, termenv.Ascii, false)
	p := caseConfirm(e).(*stepper)
	p.drv = &driver{orders: make(chan order, 1)}
	m := newModel(e, p, nil)
	wall.pass(deaf)
	m.Update(tea.WindowSizeMsg{Width: 20, Height: 5})
	v := m.View()
	for _, want := range []string{"too small: 20x5", "needs 60x15", "ctrl+c leaves"} {
		if !strings.Contains(v, want) {
			t.Errorf("no %q in\n%s", want, v)
		}
	}
	m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("y")})
	if len(p.drv.orders) != 0 || p.dialog == nil {
		t.Fatal("a plan was confirmed on a screen that shows nothing")
	}
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("y")})
	if len(p.drv.orders) != 1 {
		t.Error("where it is shown it is not confirmed either")
	}
	m.Update(tea.WindowSizeMsg{Width: 20, Height: 5})
	if m.Update(tea.KeyMsg{Type: tea.KeyCtrlC}); !m.left {
		t.Error("ctrl+c does not leave")
	}
}

// A paste that is too long is not cut into something else and not lost without a word,
// whatever field it goes to.
func TestAPasteThatIsTooLongIsRefusedAndThatIsSaid(t *testing.T) {
	long := tea.KeyMsg{Type: tea.KeyRunes, Paste: true, Runes: []rune(strings.Repeat("AB\x1b[2J\x1b]52;c;AAAA\aq\r\n\tcd\u202e", 500))}
	for _, name := range []string{"start", "case-note", "case-window", "fleet-filter", "case-take-over"} {
		e, wall := quietEnv(t, termenv.Ascii, false)
		m := newModel(e, screens[name](e), nil)
		m.w, m.h = 80, 24
		wall.pass(deaf)
		before := m.View()
		_, cmd := m.Update(long)
		for _, msg := range got(cmd) {
			m.Update(msg)
		}
		v := m.View()
		sound(t, v, 80, 24, false)
		if !strings.Contains(strings.Join(strings.Fields(v), " "), "not taken: that would be") {
			t.Errorf("%s does not say that nothing was taken:\n%s", name, v)
		}
		m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("k")})
		m.Update(tea.KeyMsg{Type: tea.KeyBackspace})
		if after := m.View(); after != before {
			t.Errorf("%s is not as before:\n%s\n%s", name, before, after)
		}
	}
	e, _ := quietEnv(t, termenv.Ascii, false)
	m := newModel(e, screens["start"](e), nil)
	m.w, m.h = 80, 24
	m.Update(tea.KeyMsg{Type: tea.KeyRunes, Paste: true, Runes: []rune("build-07\x1b[2J\n")})
	if v := m.View(); !strings.Contains(v, `build-07\x1b[2J`) {
		t.Errorf("a short one is taken, with its escapes to be seen:\n%s", v)
	}
}
