package tui

import (
	"context"
	"runtime/debug"

	tea "github.com/charmbracelet/bubbletea"
)

// crashMsg is a command that panicked: its trace is in a file, the program goes on to
// leave in good order.
type crashMsg struct{ file string }

// safe runs f as a command. bubbletea prints the trace of a panic in a command before
// it restores the terminal, so that nobody sees it, and prints the values in clear;
// here it goes to a file, redacted. f must not touch the model.
func (e env) safe(f func(ctx context.Context) tea.Msg) tea.Cmd {
	return func() (msg tea.Msg) {
		defer func() {
			if v := recover(); v != nil {
				msg = crashMsg{e.crash(v, debug.Stack())}
			}
		}()
		return f(e.ctx)
	}
}

// turn numbers the requests of one page: an answer with an older number is stale and
// is dropped. Commands race and cannot be cancelled, so every page that asks twice
// needs one. The zero value is ready.
type turn int

// next begins a new request.
func (t *turn) next() turn {
	*t++
	return *t
}

// stale reports whether an answer belongs to an older request.
func (t turn) stale(answer turn) bool { return t != answer }
