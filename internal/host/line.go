package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// touchTime is what a key that waits for a finger adds to the time of a login.
const touchTime = 40 * time.Second

// line carries a script over SSH, through jump hosts where the person's configuration
// says so. Each hop's host key is checked here, end to end: a jump host carries bytes
// and sees none of the inner login.
type line struct {
	h *Hosts
	x Host
}

func (l line) open(ctx context.Context, g *guard, ex *Exchange) (*session, error) {
	ex.Transport = snapshot.BySSH
	r, err := l.h.route(ctx, l.x)
	if err != nil {
		return nil, err
	}
	return routed{l, r}.open(ctx, g, ex)
}

// routed is a line whose way is known.
type routed struct {
	line
	r route
}

func (l routed) open(ctx context.Context, g *guard, ex *Exchange) (*session, error) {
	r := l.r
	last := r.hops[len(r.hops)-1]
	ex.Carrier, ex.Address, ex.User = r.String(), last.address, last.user
	var wg sync.WaitGroup
	client, login, err := l.h.connect(ctx, g, &wg, r, ex)
	if err != nil {
		g.end()
		wg.Wait()
		return nil, err
	}
	sh, err := l.start(g, client, login, ex)
	if err != nil {
		g.end()
		wg.Wait()
		return nil, err
	}
	sh.reap = wg.Wait
	return sh, nil
}

// connect logs in to every hop of r in turn and returns the last one's client.
func (h *Hosts) connect(ctx context.Context, g *guard, wg *sync.WaitGroup, r route, ex *Exchange) (*ssh.Client, *login, error) {
	logins, err := h.prepare(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	defer closeAll(logins)
	ex.UserKey = logins[len(logins)-1].userKey
	conn, err := h.dial(ctx, g, wg, r)
	if err != nil {
		return nil, nil, err
	}
	if a, ok := conn.RemoteAddr().(*net.TCPAddr); ok && len(logins) == 1 {
		ex.IP = a.IP.String()
	}
	var client *ssh.Client
	for i, l := range logins {
		if i > 0 {
			if conn, err = h.through(g, client, r.hops[i-1], l.hop); err != nil {
				return nil, nil, err
			}
		}
		client, err = h.handshake(g, wg, conn, l)
		if l.shown != nil {
			ex.HostKey, ex.Trust = l.shown.Shown, l.shown
		}
		if i == len(logins)-1 {
			ex.UserKey, ex.Server = l.userKey, l.server
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return client, logins[len(logins)-1], nil
}

// dial opens the way to the first hop.
func (h *Hosts) dial(ctx context.Context, g *guard, wg *sync.WaitGroup, r route) (net.Conn, error) {
	first := r.hops[0]
	if r.command != "" {
		p, err := proxied(r.command)
		if err != nil {
			return nil, fmt.Errorf("%w: ProxyCommand: %w", ErrUnreachable, err)
		}
		g.owns(p.kill)
		wg.Go(p.drain)
		return p, nil
	}
	span := h.o.Timeouts.Connect
	if first.connect > 0 {
		span = first.connect
	}
	dctx, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	conn, err := h.o.Dial(dctx, "tcp", first.address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w; is it up, and may this machine reach it?", ErrUnreachable, err)
	}
	g.owns(func() { conn.Close() })
	return conn, nil
}

// through opens a tunnel from a jump host to the next hop.
func (h *Hosts) through(g *guard, jump *ssh.Client, by, to hop) (net.Conn, error) {
	span := h.o.Timeouts.Connect
	silent := fmt.Errorf("%w: jump host %s opens no way to %s (%s)", ErrSilent, by.address, to.address, span)
	g.watch(span, span, silent, silent)
	conn, err := jump.Dial("tcp", to.address)
	g.rest()
	if err != nil {
		return nil, fmt.Errorf("%w: jump host %s opens no way to %s: %s", ErrUnreachable, by.address, to.address, untrusted.Clean(err.Error(), 300))
	}
	return conn, nil
}

// handshake is one hop's key exchange and login.
func (h *Hosts) handshake(g *guard, wg *sync.WaitGroup, conn net.Conn, l *login) (*ssh.Client, error) {
	span := h.o.Timeouts.Handshake
	if l.touch {
		span += touchTime
	}
	if l.hop.jump && h.o.Ask != nil {
		span += touchTime // a person may have to answer
	}
	// One budget from the first byte: before the version line a server may send others for ever (RFC 4253 §4.2).
	g.watch(span, span,
		fmt.Errorf("%w during the login (%s); a tarpit, an overloaded sshd or a dead link", ErrSilent, span),
		fmt.Errorf("%w during the login (%s)", ErrSilent, span))
	c, chans, reqs, err := ssh.NewClientConn(conn, l.hop.address, l.config)
	g.rest()
	if err != nil {
		return nil, l.failed(err)
	}
	l.server = untrusted.Clean(string(c.ServerVersion()), 100)
	refuse(wg, g, chans, reqs)
	noChans, noReqs := make(chan ssh.NewChannel), make(chan *ssh.Request)
	close(noChans)
	close(noReqs)
	return ssh.NewClient(c, noChans, noReqs), nil // what the host asks for is refused above
}

// start runs a shell in one session: no pty, no environment, no forwarding.
func (l line) start(g *guard, client *ssh.Client, on *login, ex *Exchange) (*session, error) {
	span := l.h.o.Timeouts.Idle
	silent := fmt.Errorf("%w (nothing for %s)", ErrSilent, span)
	g.watch(span, span, silent, silent)
	defer g.rest()
	sess, err := client.NewSession()
	if err != nil {
		return nil, fmt.Errorf("open a session: %s", untrusted.Clean(err.Error(), 300))
	}
	sh := &session{exit: func() int { return exitOf(sess.Wait()) }, second: subsystem(client)}
	var err1, err2, err3 error
	sh.stdin, err1 = sess.StdinPipe()
	sh.stdout, err2 = sess.StdoutPipe()
	sh.stderr, err3 = sess.StderrPipe()
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, fmt.Errorf("open a session: %w", err)
	}
	ex.Sent = true
	if err := sess.Start("exec " + strings.Join(elevated([]string{"/bin/sh", "-s"}, l.x.Sudo), " ")); err != nil {
		return nil, fmt.Errorf("start /bin/sh: %s; may %s run commands there?", untrusted.Clean(err.Error(), 300), on.hop.user)
	}
	return sh, nil
}

// subsystem opens SFTP in a session of its own on the same connection: sshd reads the
// files itself then.
func subsystem(client *ssh.Client) second {
	return func() (io.WriteCloser, io.Reader, error) {
		sess, err := client.NewSession()
		if err != nil {
			return nil, nil, err
		}
		w, err1 := sess.StdinPipe()
		r, err2 := sess.StdoutPipe()
		return w, r, errors.Join(err1, err2, sess.RequestSubsystem("sftp"))
	}
}

// exitOf is the status the host claims; -1 where there is none. It decides nothing:
// whether the answer is whole is told by its frames.
func exitOf(err error) int {
	var ee *ssh.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &ee) && ee.Signal() == "":
		return ee.ExitStatus()
	}
	return -1
}
