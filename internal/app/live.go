package app

import (
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/charmbracelet/x/ansi"

	"cordon/internal/host"
	"cordon/internal/untrusted"
)

// Live is one line at the foot of a terminal that says how far reads of hosts are. It is
// written again only where its words are others, in one piece, and it is gone before any
// other line comes (see Above). Without a terminal there is none. It is safe for
// concurrent use; a nil one does nothing.
type Live struct {
	W     io.Writer
	Width func() int // of the terminal, in cells

	mu       sync.Mutex
	sim      bool
	of, done int
	now      []host.Reading // being read, the one that began first in front
	shown    string
	held     int // somebody is asked something on this terminal
}

// Begin says how many hosts there are to read, and whether they are a lab's.
func (l *Live) Begin(of int, simulated bool) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of, l.done, l.now, l.sim = of, 0, nil, simulated
}

// Reading is for host.WithReading.
func (l *Live) Reading(r host.Reading) {
	l.mu.Lock()
	defer l.mu.Unlock()
	same := func(x host.Reading) bool { return x.Host == r.Host }
	switch i := slices.IndexFunc(l.now, same); {
	case i >= 0:
		l.now[i] = r
	case l.of > 1:
		l.now = append(l.now, r)
	default: // one at a time: whatever was read before is over
		l.now = []host.Reading{r}
	}
	l.draw()
}

// Done says that a host was read, or could not be.
func (l *Live) Done(name string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done++
	l.now = slices.DeleteFunc(l.now, func(x host.Reading) bool { return x.Host == name })
	l.draw()
}

// Clear takes the line away; what is read from now on brings it back.
func (l *Live) Clear() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.erase()
}

// Hold takes the line away until release is called: somebody is asked something.
func (l *Live) Hold() (release func()) {
	if l == nil {
		return func() {}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.erase()
	l.held++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.held--
	}
}

// Above is w, which leads to the same terminal: the line is taken away before anything
// is written there, and comes back with the next that is told.
func (l *Live) Above(w io.Writer) io.Writer {
	if l == nil {
		return w
	}
	return above{l, w}
}

type above struct {
	l *Live
	w io.Writer
}

func (a above) Write(b []byte) (int, error) {
	a.l.mu.Lock()
	defer a.l.mu.Unlock()
	a.l.erase()
	return a.w.Write(b)
}

func (l *Live) erase() {
	if l.shown != "" {
		l.shown = ""
		_, _ = io.WriteString(l.W, "\r\x1b[K") // a terminal that is gone is noticed elsewhere
	}
}

func (l *Live) draw() {
	if l.held > 0 {
		return
	}
	text := l.text()
	if w := l.Width(); w > 1 { // the last cell stays free: some terminals go to the next line behind it
		text = ansi.Truncate(text, w-1, "")
	}
	switch {
	case text == l.shown:
	case text == "":
		l.erase()
	default:
		l.shown = text
		_, _ = io.WriteString(l.W, "\r"+text+"\x1b[K")
	}
}

// text is the line. Of hosts that are read side by side it follows the one that began
// first, so that it does not jump between them.
func (l *Live) text() string {
	if len(l.now) == 0 {
		return ""
	}
	text := ""
	if l.sim {
		text = "SIMULATED  "
	}
	if l.of > 1 {
		text += fmt.Sprintf("%d/%d hosts read; ", l.done, l.of)
	}
	return text + untrusted.Clean(l.now[0].Host, 0) + ": " + HowFar(l.now[0])
}
