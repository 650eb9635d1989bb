package tui

import (
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	tea "github.com/charmbracelet/bubbletea"
)

// input is the terminal's input with its end made known: bubbletea swallows io.EOF
// and lives on without a terminal. It embeds the file so that raw mode and the
// cancellable reader still find a descriptor.
type input struct {
	*os.File
	once sync.Once
	gone func()       // called once, at the end of the input
	last atomic.Int64 // bytes that the last read brought
}

// alone reports whether the last read brought one byte: a key of a person, and no text
// that is pasted as keys. The bytes of one read are all handled before the next.
func (i *input) alone() bool { return i.last.Load() <= 1 }

// Read implements io.Reader.
func (i *input) Read(b []byte) (int, error) {
	n, err := i.File.Read(b)
	i.last.Store(int64(n))
	if err != nil && (errors.Is(err, io.EOF) || n == 0) {
		i.once.Do(i.gone) // EIO on a closed pty, EOF on a pipe
	}
	return n, err
}

// keyFilter drops what no person typed. A terminal that answers a question late sends
// ESC ] 11 ; rgb:… ESC \, which bubbletea reads as the keys alt+], 11;rgb:… and alt+\.
type keyFilter struct{ reply int }

// pass reports whether a key is to be handed on.
func (f *keyFilter) pass(k tea.KeyMsg) bool {
	s := string(k.Runes)
	switch {
	case k.Alt && k.Type == tea.KeyRunes && (s == "]" || s == "P" || s == "_" || s == "^"):
		f.reply = 8 // parts at most, so that a lone alt+] cannot swallow the evening
		return false
	case f.reply > 0:
		f.reply--
		if k.Alt && s == `\` || k.Type == tea.KeyCtrlG || k.Type != tea.KeyRunes {
			f.reply = 0
		}
		return k.Type != tea.KeyRunes && k.Type != tea.KeyCtrlG
	}
	return !(len(k.Runes) > 1 && !k.Paste && strings.Contains(s, ";rgb:"))
}

// keysOf is what one message means in a mode. Several keys that arrive in one read
// come as one message whose name matches nothing; over a slow link that is every held
// key.
func keysOf(k tea.KeyMsg, m Mode) []tea.KeyMsg {
	burst := k.Type == tea.KeyRunes && len(k.Runes) > 1
	switch {
	case m == Typing:
		return []tea.KeyMsg{k}
	case k.Paste:
		return nil // text, and nobody asked for text
	case burst && m == Asking:
		return nil
	case burst:
		var ks []tea.KeyMsg
		for _, r := range k.Runes {
			ks = append(ks, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: k.Alt})
		}
		return ks
	}
	return []tea.KeyMsg{k}
}
