package tui

import (
	"fmt"
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"cordon/internal/untrusted"
)

// field is one line of text that is being typed. The zero value is ready.
type field struct {
	text string
	max  int    // runes; 0: 400
	why  string // why the last key brought nothing
}

// key takes a key and reports whether it was text or editing. A paste is cleaned to
// one line; where it may not be pasted at all, the caller looks first.
func (f *field) key(k tea.KeyMsg) bool {
	limit := f.max
	if limit == 0 {
		limit = 400
	}
	f.why = ""
	switch k.Type {
	case tea.KeyRunes, tea.KeySpace:
		if k.Alt {
			return false
		}
		add := untrusted.Clean(strings.TrimRight(string(k.Runes), "\r\n"), 0)
		if n := utf8.RuneCountInString(f.text + add); n > limit { // half of a text may say something else
			f.why = fmt.Sprintf("not taken: that would be %d characters, and %d are the most here", n, limit)
			return true
		}
		f.text += add
	case tea.KeyBackspace, tea.KeyCtrlH:
		_, n := utf8.DecodeLastRuneInString(f.text)
		f.text = f.text[:len(f.text)-n]
	case tea.KeyCtrlU:
		f.text = ""
	case tea.KeyCtrlW:
		s := strings.TrimRight(f.text, " ")
		f.text = s[:strings.LastIndexByte(s, ' ')+1]
	default:
		return false
	}
	return true
}

// view shows the end of the text in w cells, with a mark where the next key goes.
func (f *field) view(th Theme, w int, focus bool) string {
	text := f.text
	if n := utf8.RuneCountInString(text); n > w-2 && w > 2 {
		text = string([]rune(text)[n-w+2:])
	}
	if focus {
		return th.Field.Render(fit(th, text+"_", w))
	}
	return th.Field.Render(fit(th, text, w))
}
