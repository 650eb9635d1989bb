package tui

import (
	"context"
	"io"
	"time"

	"cordon/internal/app"
	"cordon/internal/clock"
)

// env is what every page is made with. It is handed down by value and changed by
// nobody; what it points to is safe for concurrent use.
type env struct {
	ctx  context.Context // ends with the screen: reads made for a page stop with it
	app  *app.App
	th   Theme
	keys KeyMap
	desk *desk // the cases that are open in this process

	// wall is the clock of the person at the keyboard: how long a dialog has been open,
	// how old what he reads is. It is never a lab's, whose minutes pass in a blink.
	wall func() time.Time

	// simulated and readOnly are in the header of every screen.
	simulated, readOnly bool

	clock clock.Clock // by which facts are judged, a lab's where there is one
	state string      // where cases are kept

	questions <-chan question // secrets that are asked for; nil: none ever are

	alone func() bool // whether the last key came without others; nil: it always does

	raw    io.Writer // the terminal, for sequences that are not a frame; nil in tests
	getenv func(string) string

	crash func(v any, stack []byte) string // keeps a redacted trace, returns where
	demo  *Demo                            // the guided tour, nil outside it
}

// now is the time by which facts are judged.
func (e env) now() time.Time { return e.clock.Now() }
