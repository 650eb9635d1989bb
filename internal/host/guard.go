package host

import (
	"io"
	"sync"
	"time"
)

// guard ends a contact by closing what carries it: the socket itself, a child's whole
// process group. Closing a session or a client waits for the other side, which may be
// the one that hangs. The first cause wins.
type guard struct {
	mu    sync.Mutex
	ended bool
	cause error
	close []func()
	idle  *time.Timer
	span  time.Duration
	total *time.Timer
}

// owns adds what is closed by force when the contact ends, at once where it has.
func (g *guard) owns(end func()) {
	g.mu.Lock()
	ended := g.ended
	g.close = append(g.close, end)
	g.mu.Unlock()
	if ended {
		end()
	}
}

// fire ends the contact for the given reason.
func (g *guard) fire(why error) {
	g.mu.Lock()
	if g.cause == nil && !g.ended {
		g.cause = why
	}
	g.mu.Unlock()
	g.end()
}

// end closes everything, the newest first. What is closed twice has to bear it.
func (g *guard) end() {
	g.mu.Lock()
	g.ended = true
	all := g.close
	g.mu.Unlock()
	for i := len(all) - 1; i >= 0; i-- {
		all[i]()
	}
}

// watch starts the two limits in place of those before: idle restarts whenever we wait
// for the host.
func (g *guard) watch(idle, total time.Duration, onIdle, onTotal error) {
	g.rest()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.span = idle
	g.idle = time.AfterFunc(idle, func() { g.fire(onIdle) })
	g.total = time.AfterFunc(total, func() { g.fire(onTotal) })
}

// waiting is called before we wait for the host, and busy when something came: our
// own work on an answer is not the host's silence.
func (g *guard) waiting() { g.idle.Reset(g.span) }
func (g *guard) busy()    { g.idle.Stop() }

// rest stops the limits.
func (g *guard) rest() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.idle != nil {
		g.idle.Stop()
		g.total.Stop()
	}
}

func (g *guard) stop() {
	g.rest()
	g.end()
}

func (g *guard) why() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cause
}

// counted reads an answer, counts it, and tells the guard when it waits.
type counted struct {
	r io.Reader
	g *guard
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	c.g.waiting()
	n, err := c.r.Read(p)
	c.g.busy()
	c.n += int64(n)
	return n, err
}
