package tui

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"
)

// asked is a dialog that counts how often it was said yes to.
type asked struct {
	*dialog
	wall   *wall
	yes    int
	reason string
	closed bool
}

func ask(t *testing.T, want string, held ...string) *asked {
	t.Helper()
	e, w := quietEnv(t, termenv.Ascii, false)
	a := &asked{wall: w}
	d := &dialog{th: e.th, keys: e.keys, wall: w.now, title: "remove runner 8842", want: want, why: "cannot be undone", held: held}
	d.yes = func(reason string) tea.Cmd {
		a.yes++
		a.reason = reason
		return nil
	}
	a.dialog = d.open()
	return a
}

func (a *asked) press(ks ...tea.KeyMsg) {
	for _, k := range ks {
		for _, k := range keysOf(k, a.mode()) {
			if !a.closed {
				a.closed, _ = a.key(k)
			}
		}
	}
}

var (
	enter = tea.KeyMsg{Type: tea.KeyEnter}
	ctrlJ = tea.KeyMsg{Type: tea.KeyCtrlJ}
	esc   = tea.KeyMsg{Type: tea.KeyEsc}
)

func TestADialogHearsNothingAtFirst(t *testing.T) {
	for want, key := range map[string]tea.KeyMsg{"y": runes("y"), "8842": runes("8842")} {
		a := ask(t, want)
		a.press(key)
		a.wall.pass(deaf - time.Millisecond)
		a.press(key)
		if a.yes > 0 || a.closed {
			t.Errorf("%s: a key that was typed ahead confirmed", want)
		}
		a.wall.pass(time.Millisecond)
		a.press(key)
		if a.yes != 1 || !a.closed {
			t.Errorf("%s: after %s it was said yes to %d times, want once", want, deaf, a.yes)
		}
	}
}

func TestWhatNeverConfirms(t *testing.T) {
	held := strings.Repeat("y", 40)
	for _, c := range []struct {
		name, want string
		keys       []tea.KeyMsg
	}{
		{"a held enter", "y", []tea.KeyMsg{enter, enter, enter, enter}},
		{"a held enter", "8842", []tea.KeyMsg{enter, enter, enter, enter}},
		{"a held y", "y", []tea.KeyMsg{runes(held)}},
		{"a bracketed paste", "y", []tea.KeyMsg{paste("y")}},
		{"a bracketed paste", "8842", []tea.KeyMsg{paste("8842")}},
		{"an unbracketed paste", "y", []tea.KeyMsg{runes("Dy"), ctrlJ, runes("y")}},
		{"an unbracketed paste", "y", []tea.KeyMsg{runes("D"), runes("y")}},
		{"an unbracketed paste", "8842", []tea.KeyMsg{runes("Dy"), ctrlJ, runes("8842")}},
		{"another number", "8842", []tea.KeyMsg{runes("8843")}},
		{"a longer burst with it inside", "8842", []tea.KeyMsg{runes("x8842")}},
		{"a split escape", "y", []tea.KeyMsg{esc, runes("[B")}},
	} {
		a := ask(t, c.want)
		a.wall.pass(time.Second)
		a.press(c.keys...)
		if a.yes > 0 {
			t.Errorf("%s confirmed what needs %q", c.name, c.want)
		}
	}
}

func TestTheTypedFieldTakesBurstsAndCorrections(t *testing.T) {
	a := ask(t, "8842")
	a.wall.pass(time.Second)
	a.press(runes("88"), tea.KeyMsg{Type: tea.KeyBackspace}, runes("8"), runes("42"))
	if a.yes != 1 {
		t.Errorf("said yes %d times, want once", a.yes)
	}
	a = ask(t, "8842")
	a.wall.pass(time.Second)
	a.press(runes("9999"), runes("8842"))
	if a.yes != 1 {
		t.Error("after a wrong number the right one must still do it")
	}
}

func TestAGuardAsksForAReasonFirst(t *testing.T) {
	a := ask(t, "y", "nothing is collected yet")
	a.wall.pass(time.Second)
	if a.mode() != Typing {
		t.Fatal("a reason is typed")
	}
	a.press(enter)
	if a.atField || !strings.Contains(a.said, "why") {
		t.Errorf("an empty reason went through: %q", a.said)
	}
	a.press(runes("y"), runes("es, the token is in use"), enter, runes("y"))
	if a.yes > 0 {
		t.Error("the confirmation must not hear what was typed at the reason")
	}
	a.wall.pass(time.Second)
	a.press(enter)
	if a.yes > 0 {
		t.Error("enter confirmed")
	}
	a.wall.pass(time.Second)
	a.press(runes("y"))
	if a.yes != 1 || a.reason != "yes, the token is in use" {
		t.Errorf("said yes %d times with reason %q", a.yes, a.reason)
	}
}

func TestEscAndNAreNo(t *testing.T) {
	for _, k := range []tea.KeyMsg{esc, runes("n")} {
		a := ask(t, "y")
		a.wall.pass(time.Second)
		a.press(k)
		if !a.closed || a.yes > 0 {
			t.Errorf("%s: closed %v, yes %d", k.String(), a.closed, a.yes)
		}
	}
	a := ask(t, "y")
	a.press(esc)
	if !a.closed {
		t.Error("esc has to work at once: it is harmless")
	}
}

func TestWhatBlocksAtTheLastMomentIsSaid(t *testing.T) {
	a := ask(t, "8842")
	a.blocks = func() string { return "what you see was read 2m ago: r reads it again" }
	a.wall.pass(time.Second)
	a.press(runes("8842"))
	if a.yes > 0 || a.closed || !strings.Contains(a.view(76, 20), "r reads it again") {
		t.Errorf("yes %d, closed %v:\n%s", a.yes, a.closed, a.view(76, 20))
	}
}

// However little room there is, the question itself stays on the screen.
func TestTheQuestionIsNeverCutOff(t *testing.T) {
	long := strings.Repeat("a long reason that holds this back ", 20)
	for _, h := range []int{minH - 4, 8, 20} {
		a := ask(t, "8842", long, long)
		a.facts = []string{strings.Repeat("sends something long ", 40)}
		if v := a.view(minW-2, h); !strings.Contains(v, "Why do it all the same") || strings.Count(v, "\n") >= h {
			t.Errorf("height %d:\n%s", h, v)
		}
		a.atField = true
		if v := a.view(minW-2, h); !strings.Contains(v, "type 8842") || strings.Count(v, "\n") >= h {
			t.Errorf("height %d:\n%s", h, v)
		}
	}
}
