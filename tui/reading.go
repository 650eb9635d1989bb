package tui

import (
	"context"
	"fmt"
	"slices"
	"sync"

	tea "github.com/charmbracelet/bubbletea"

	"cordon/internal/app"
	"cordon/internal/host"
)

// readings hands on how far a read is: a reader of a host must never wait for a screen,
// so that only the newest that nobody has taken yet is kept.
type readings struct {
	mu   sync.Mutex
	last host.Reading
	new  chan struct{} // holds one token while last was not taken
	over chan struct{}
}

func newReadings() *readings {
	return &readings{new: make(chan struct{}, 1), over: make(chan struct{})}
}

// tell is for host.WithReading.
func (r *readings) tell(x host.Reading) {
	r.mu.Lock()
	r.last = x
	r.mu.Unlock()
	select {
	case r.new <- struct{}{}:
	default:
	}
}

// end says that there will be no more.
func (r *readings) end() { close(r.over) }

// next waits for the newest; false: there will be no more.
func (r *readings) next(ctx context.Context) (host.Reading, bool) {
	select {
	case <-r.new:
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.last, true
	case <-r.over:
	case <-ctx.Done():
	}
	return host.Reading{}, false
}

// readingMsg is how far the read of a host's card is.
type readingMsg struct {
	page *hostCard
	of   *readings
	at   host.Reading
}

// follow waits for the next word of a read.
func (p *hostCard) follow(r *readings) tea.Cmd {
	return p.e.safe(func(ctx context.Context) tea.Msg {
		if at, more := r.next(ctx); more {
			return readingMsg{p, r, at}
		}
		return nil
	})
}

// howFar is how far a read is, and "" while its host has not answered.
func howFar(r *host.Reading) string {
	if r == nil {
		return ""
	}
	return clean(app.HowFar(*r))
}

// howFar is the read of a host in a case: which of its hosts, and how far. Its lines
// stand still but for the words that change.
func (p *stepper) howFar(w int) []string {
	r := p.reads
	name := clean(r.Host)
	if n, of := slices.Index(p.about.Hosts, r.Host), len(p.about.Hosts); n >= 0 && of > 1 {
		name = fmt.Sprintf("%s, host %d of %d of this case", name, n+1, of)
	}
	out := append([]string{""}, wrap(name, w)...)
	out = append(out, wrap(howFar(r), w)...)
	return append(out, "", "what came is kept once the last of it is in")
}
