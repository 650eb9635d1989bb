package tui

import tea "github.com/charmbracelet/bubbletea"

// Mode says who gets a key first, and what becomes of keys that arrive in one read.
type Mode int

// Modes.
const (
	// Normal: each rune of a burst is a key of its own.
	Normal Mode = iota
	// Typing: a text field has the focus; bursts and pastes are handed over whole, and
	// no key but esc, enter and ctrl+c means anything else.
	Typing
	// Asking: a confirmation is open; bursts and pastes are dropped.
	Asking
)

// page is one screen on the root's stack. It changes through its pointer. Update does
// no I/O and changes nothing outside the page; work goes into commands (see safe).
// Keys reach the page on top, every other message reaches every page.
type page interface {
	Init() tea.Cmd
	Update(tea.Msg) tea.Cmd
	View(w, h int) string // at most h lines of at most w cells; w or h may be 0
	Title() string        // for the header, plain text
	Hint() string         // one line of what to do now, plain text; may be empty
	Keys() []Binding      // for the footer, the most important first
	Mode() Mode
}

// inner is a page that wants esc and q for itself while it returns true.
type inner interface{ Holds() bool }

// shower is a page that wants to know when it is on top again.
type shower interface{ Shown() tea.Cmd }

type (
	pushMsg struct{ page page }
	popMsg  struct{}
	sayMsg  struct{ text string }
	quitMsg struct{}
)

// push opens a page on top of this one.
func push(p page) tea.Cmd { return func() tea.Msg { return pushMsg{p} } }

// pop goes back to the page below. On the last page it asks for ctrl+c instead.
func pop() tea.Msg { return popMsg{} }

// say shows one line until the next key.
func say(text string) tea.Cmd { return func() tea.Msg { return sayMsg{text} } }

// quit leaves the screen; a run in flight is brought to a safe point first.
func quit() tea.Msg { return quitMsg{} }
