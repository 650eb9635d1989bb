package tui

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

func runes(s string) tea.KeyMsg { return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(s)} }

func paste(s string) tea.KeyMsg {
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(s), Paste: true}
}

func names(ks []tea.KeyMsg) string {
	var out []string
	for _, k := range ks {
		out = append(out, k.String())
	}
	return strings.Join(out, " ")
}

func TestABurstIsTheKeysThatWereHeld(t *testing.T) {
	for _, c := range []struct {
		name string
		key  tea.KeyMsg
		mode Mode
		want string
	}{
		{"held j on a list", runes("jjj"), Normal, "j j j"},
		{"one key", runes("j"), Normal, "j"},
		{"an arrow", tea.KeyMsg{Type: tea.KeyDown}, Normal, "down"},
		{"held y at a confirmation", runes("yyy"), Asking, ""},
		{"one y at a confirmation", runes("y"), Asking, "y"},
		{"typed fast into a field", runes("42"), Typing, "42"},
		{"a paste on a list", paste("qDy"), Normal, ""},
		{"a paste at a confirmation", paste("y"), Asking, ""},
		{"a paste into a field", paste("build-07"), Typing, "[build-07]"},
	} {
		if got := names(keysOf(c.key, c.mode)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A terminal that answers late must not press keys.
func TestALateAnswerOfTheTerminalIsNotTyped(t *testing.T) {
	alt := func(s string) tea.KeyMsg { return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(s), Alt: true} }
	for name, keys := range map[string][]tea.KeyMsg{
		"ended by ST":       {alt("]"), runes("11;rgb:0000/0000/0000"), alt(`\`)},
		"ended by BEL":      {alt("]"), runes("11;rgb:1e1e/1e1e/1e1e"), {Type: tea.KeyCtrlG}},
		"its head was lost": {runes("11;rgb:0000/0000/0000")},
		"a key at a time":   {alt("]"), runes("1"), runes("1"), runes(";"), alt(`\`)},
	} {
		var f keyFilter
		for _, k := range keys {
			if f.pass(k) {
				t.Errorf("%s: %q was typed", name, k.String())
			}
		}
		if !f.pass(runes("q")) {
			t.Errorf("%s: the next real key was lost", name)
		}
	}
	var f keyFilter
	for i := 0; i < 20; i++ {
		f.pass(alt("]"))
	}
	f = keyFilter{}
	f.pass(alt("]"))
	for i := 0; i < 8; i++ {
		f.pass(runes("x"))
	}
	if !f.pass(runes("q")) {
		t.Error("one alt+] made the keyboard deaf for good")
	}
	if !f.pass(paste("see 11;rgb: in the log")) {
		t.Error("a paste that mentions a colour was lost")
	}
}

func TestAFieldTakesTextAndNothingElse(t *testing.T) {
	var f field
	for _, k := range []tea.KeyMsg{runes("build"), runes("-07"), {Type: tea.KeySpace, Runes: []rune(" ")}, paste("a\x1b[31mb\nc\n"), {Type: tea.KeyBackspace}} {
		if !f.key(k) {
			t.Errorf("%q is text", k.String())
		}
	}
	if want := `build-07 a\x1b[31mb\n`; f.text != want {
		t.Errorf("the field holds %q, want %q", f.text, want)
	}
	f.key(tea.KeyMsg{Type: tea.KeyCtrlW})
	if f.text != "build-07 " {
		t.Errorf("after ctrl+w: %q", f.text)
	}
	if f.key(tea.KeyMsg{Type: tea.KeyEnter}) || f.key(tea.KeyMsg{Type: tea.KeyEsc}) {
		t.Error("enter and esc are not text")
	}
	f = field{max: 3}
	f.key(runes("12345"))
	if f.text != "" {
		t.Errorf("more than fits was taken in part: %q", f.text)
	}
}
