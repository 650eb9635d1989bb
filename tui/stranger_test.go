package tui

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"
)

// everything is each key of the program and those of a keyboard that mean nothing to it.
func everything() []tea.KeyMsg {
	out := everyKey()
	for _, t := range []tea.KeyType{
		tea.KeyUp, tea.KeyDown, tea.KeyLeft, tea.KeyRight, tea.KeyPgUp, tea.KeyPgDown, tea.KeyHome, tea.KeyEnd, tea.KeyTab, tea.KeyShiftTab,
		tea.KeyDelete, tea.KeyInsert, tea.KeyF1, tea.KeyF12, tea.KeyCtrlA, tea.KeyCtrlD, tea.KeyCtrlU, tea.KeyCtrlW, tea.KeyCtrlH, tea.KeyBackspace, tea.KeyCtrlJ, tea.KeyCtrlAt,
	} {
		out = append(out, tea.KeyMsg{Type: t})
	}
	for _, s := range []string{"Z", "9", "é", "漢", "\u202e", "jjjj", "qqq"} {
		out = append(out, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(s)})
	}
	return append(out,
		tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("x"), Alt: true},
		tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("\x1b[2Jq\r\ny\t\a"), Paste: true}, tea.KeyMsg{Type: tea.KeyEnter}, tea.KeyMsg{Type: tea.KeyEsc})
}

// Whoever presses anything anywhere, on a terminal that changes its size meanwhile, sees a
// whole screen. No command is run: what a key leads to is not of this test.
func TestNoKeyBreaksAnyScreen(t *testing.T) {
	sizes := [][2]int{{80, 24}, {60, 15}, {61, 16}, {120, 40}, {20, 5}, {300, 15}, {1, 1}, {60, 100}}
	for name, make := range screens {
		ascii := len(name)%2 == 0 // half of them in each; the golden screens are in both
		e, wall := quietEnv(t, termenv.Ascii, ascii)
		e.simulated, e.readOnly = true, true
		m := newModel(e, make(e), nil)
		for i, k := range everything() {
			if i%2 == len(name)/2%2 && k.Type == tea.KeyRunes && len(k.Runes) == 1 {
				continue // every letter on half of the screens
			}
			size := sizes[i%len(sizes)]
			m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			wall.pass(deaf)
			m.Update(k)
			if m.tooSmall() {
				_ = m.View()
				continue
			}
			v := m.View()
			sound(t, v, size[0], size[1], true)
			if ascii && strings.ContainsFunc(v, func(r rune) bool { return r > 0x7e }) && !strings.ContainsAny(v, "é漢") {
				t.Errorf("%s after %q: not ASCII:\n%s", name, k, v)
			}
			m.left = false
		}
	}
}
