package tui

import (
	"context"
	"os"
	"sync"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// output is the terminal's output with a lock: a frame of the renderer and a sequence
// for the clipboard never interleave. It embeds the file so that its size is found.
type output struct {
	*os.File
	mu *sync.Mutex
}

// Write implements io.Writer.
func (o output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.File.Write(b)
}

// copy puts text on the clipboard of the terminal in front of the person, over any
// number of ssh hops (OSC 52), and shows it as well: whether a terminal obeys cannot
// be known. Inside tmux the sequence goes both ways that a tmux may be set to pass.
func (e env) copy(text string) tea.Cmd { return e.copyAs(text, text) }

// copyAs is copy of what the page shows already: only its name is said.
func (e env) copyAs(name, text string) tea.Cmd {
	return e.safe(func(context.Context) tea.Msg {
		seq := ansi.SetSystemClipboard(text)
		if e.getenv("TMUX") != "" {
			seq += ansi.TmuxPassthrough(ansi.SetSystemClipboard(text))
		}
		if e.raw != nil {
			if _, err := e.raw.Write([]byte(seq)); err != nil {
				return sayMsg{"not copied: " + name}
			}
		}
		return sayMsg{"copied if the terminal allows it: " + name}
	})
}
