package host

import (
	"io"
	"net"
	"sync"
	"time"
)

// guard ends a connection by closing the socket itself: closing a session or a client
// waits for the other side, which may be the one that hangs. The first cause wins.
type guard struct {
	conn net.Conn

	mu    sync.Mutex
	cause error
	idle  *time.Timer
	span  time.Duration
	total *time.Timer
}

// fire ends the connection for the given reason.
func (g *guard) fire(why error) {
	g.mu.Lock()
	if g.cause == nil {
		g.cause = why
	}
	g.mu.Unlock()
	g.conn.Close()
}

// watch starts the two limits: idle restarts whenever we wait for the host.
func (g *guard) watch(idle, total time.Duration, onIdle, onTotal error) {
	g.span = idle
	g.idle = time.AfterFunc(idle, func() { g.fire(onIdle) })
	g.total = time.AfterFunc(total, func() { g.fire(onTotal) })
}

// waiting is called before we wait for the host, and busy when something came: our
// own work on an answer is not the host's silence.
func (g *guard) waiting() { g.idle.Reset(g.span) }
func (g *guard) busy()    { g.idle.Stop() }

func (g *guard) stop() {
	if g.idle != nil {
		g.idle.Stop()
		g.total.Stop()
	}
	g.conn.Close()
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
