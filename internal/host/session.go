package host

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"cordon/internal/transport"
	"cordon/internal/untrusted"
)

const (
	maxStderr      = 1 << 20 // bytes that are read from the error stream before the host counts as hostile
	keptStderr     = 4 << 10
	maxUnsolicited = 64 // global requests and channels that a host may ask for; OpenSSH asks for one or two
)

// Exchange is one contact with a host, for the record. All texts are cleaned.
type Exchange struct {
	Host    string
	Address string
	User    string
	Script  string // name
	SHA256  string // digest of the script that was sent
	Profile string // or the unit of an act
	At      time.Time
	HostKey string // fingerprint that the host showed; empty: not reached
	UserKey string // fingerprint of the key that was offered
	Sudo    bool
	Sent    bool // the script may have reached the host
	Bytes   int64
	Exit    int // as the host claims; -1: none
	Stderr  string
	Err     string
}

// job is one script for one host.
type job struct {
	script  Script
	nonce   string
	third   string // third line of the preamble
	profile string
	idle    time.Duration
	total   time.Duration
	read    func(io.Reader) error // takes the answer to its end
}

// newNonce is 16 random bytes in lower-case hex.
func newNonce() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	return hex.EncodeToString(b[:])
}

// run logs in, sends the script, reads the answer and closes. It makes one connection
// and never repeats. The exchange is recorded whatever happens.
func (h *Hosts) run(ctx context.Context, x Host, j job) (Exchange, error) {
	ex := Exchange{
		Host: x.Name, Address: x.dialled(), User: x.User, Script: j.script.Name, SHA256: j.script.SHA256,
		Profile: j.profile, At: h.o.Clock.Now(), Sudo: x.Sudo, Exit: -1,
	}
	err := h.contact(ctx, x, j, &ex)
	if err != nil {
		ex.Err = untrusted.Clean(err.Error(), 500)
	}
	if h.o.Recorder != nil {
		h.o.Recorder(ctx, ex)
	}
	transport.Record(ctx, transport.Exchange{
		System: "ssh", At: ex.At, Method: "SSH", Path: "/" + x.Name + "/" + j.script.Name + " " + j.profile,
		Status: max(ex.Exit, 0), Bytes: ex.Bytes, Changing: j.script.Kind == KindAct, Err: ex.Err,
	})
	return ex, err
}

func (h *Hosts) contact(ctx context.Context, x Host, j job, ex *Exchange) error {
	l, err := x.prepare(h.o.Timeouts)
	if err != nil {
		return err
	}
	defer l.close()
	ex.UserKey = l.userKey
	at := fmt.Sprintf("host %s (%s)", x.Name, x.dialled())

	dctx, cancel := context.WithTimeout(ctx, h.o.Timeouts.Connect)
	conn, err := h.o.Dial(dctx, "tcp", x.dialled())
	cancel()
	if err != nil {
		return fmt.Errorf("%s: %w: %w; is it up, and may this machine reach it?", at, ErrUnreachable, err)
	}
	g := &guard{conn: conn}
	defer g.stop()
	defer context.AfterFunc(ctx, func() { g.fire(ctx.Err()) })()

	err = h.talk(g, l, x, j, ex)
	ex.HostKey = l.hostKey
	if why := g.why(); why != nil {
		return fmt.Errorf("%s: %w", at, why)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	return nil
}

// talk is everything after the connection stands. Whatever it started ends when the
// guard closes the socket, and it waits for that.
func (h *Hosts) talk(g *guard, l *login, x Host, j job, ex *Exchange) error {
	// One budget from the first byte: before the version line a server may send others for ever (RFC 4253 §4.2).
	g.watch(h.o.Timeouts.Handshake, h.o.Timeouts.Handshake,
		fmt.Errorf("%w during the login (%s); a tarpit, an overloaded sshd or a dead link", ErrSilent, h.o.Timeouts.Handshake),
		fmt.Errorf("%w during the login (%s)", ErrSilent, h.o.Timeouts.Handshake))
	c, chans, reqs, err := ssh.NewClientConn(g.conn, x.dialled(), l.config)
	if err != nil {
		return loginError(x, l, err)
	}
	g.idle.Stop()
	g.total.Stop()
	g.watch(j.idle, j.total,
		fmt.Errorf("%w (nothing for %s)", ErrSilent, j.idle),
		fmt.Errorf("%w (%s)", ErrTooSlow, j.total))

	var wg sync.WaitGroup
	defer wg.Wait()
	defer g.conn.Close()
	refuse(&wg, g, chans, reqs)

	noChans, noReqs := make(chan ssh.NewChannel), make(chan *ssh.Request)
	close(noChans)
	close(noReqs)
	client := ssh.NewClient(c, noChans, noReqs) // what the host asks for is refused above
	sess, err := client.NewSession()
	if err != nil {
		return fmt.Errorf("open a session: %s", untrusted.Clean(err.Error(), 300))
	}
	return exchange(&wg, g, sess, x, j, ex)
}

// exchange runs the script in one session: no pty, no environment, no forwarding.
func exchange(wg *sync.WaitGroup, g *guard, sess *ssh.Session, x Host, j job, ex *Exchange) error {
	stdin, err1 := sess.StdinPipe()
	stdout, err2 := sess.StdoutPipe()
	stderr, err3 := sess.StderrPipe()
	if err := errors.Join(err1, err2, err3); err != nil {
		return fmt.Errorf("open a session: %w", err)
	}
	command := "exec /bin/sh -s"
	if x.Sudo {
		command = "exec sudo -n /bin/sh -s"
	}
	ex.Sent = true
	if err := sess.Start(command); err != nil {
		return fmt.Errorf("start /bin/sh: %s; may %s run commands there?", untrusted.Clean(err.Error(), 300), x.User)
	}
	said := &errorStream{g: g}
	wg.Go(func() { _, _ = io.Copy(said, stderr) })
	wg.Go(func() {
		_, _ = io.WriteString(stdin, "N="+j.nonce+"\nR=\n"+j.third+"\n"+j.script.Text) // a broken pipe shows in the answer
		_ = stdin.Close()
	})
	in := &counted{r: stdout, g: g}
	err := j.read(in)
	ex.Bytes = in.n
	if err == nil {
		g.waiting()
		ex.Exit = exitOf(sess.Wait())
	}
	g.conn.Close()
	wg.Wait()
	ex.Stderr = said.String()
	if err != nil && ex.Stderr != "" {
		err = fmt.Errorf("%w (it said: %s)", err, ex.Stderr)
	}
	return err
}

// refuse answers everything the host asks for with no, and ends the connection with
// one that does not stop asking.
func refuse(wg *sync.WaitGroup, g *guard, chans <-chan ssh.NewChannel, reqs <-chan *ssh.Request) {
	enough := fmt.Errorf("%w: more than %d channels or requests of its own", ErrIntrusive, maxUnsolicited)
	wg.Go(func() {
		n := 0
		for c := range chans {
			if n++; n > maxUnsolicited {
				g.fire(enough)
			}
			_ = c.Reject(ssh.Prohibited, "") // the connection may be gone
		}
	})
	wg.Go(func() {
		n := 0
		for r := range reqs {
			if n++; n > maxUnsolicited {
				g.fire(enough)
			}
			if r.WantReply {
				_ = r.Reply(false, nil)
			}
		}
	})
}

// errorStream keeps the front of what the host says on its error stream.
type errorStream struct {
	g    *guard
	n    int
	kept strings.Builder
}

func (e *errorStream) Write(p []byte) (int, error) {
	if e.n += len(p); e.n > maxStderr {
		e.g.fire(fmt.Errorf("%w (over %d bytes)", ErrNoisy, maxStderr))
	}
	if room := keptStderr - e.kept.Len(); room > 0 {
		e.kept.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (e *errorStream) String() string {
	return untrusted.Clean(strings.TrimSpace(e.kept.String()), 500)
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

// loginError keeps our own errors and cleans the library's, which carry the server's words.
func loginError(x Host, l *login, err error) error {
	if l.distrust != nil {
		return l.distrust
	}
	text := untrusted.Clean(err.Error(), 300)
	var ne net.Error
	switch {
	case strings.Contains(text, "unable to authenticate"):
		return fmt.Errorf("%w for %s with key %s: %s; is that key in the account's authorized_keys?", ErrLogin, x.User, l.userKey, text)
	case strings.Contains(text, "no common algorithm for host key"):
		return fmt.Errorf("%w: it no longer shows a key of a kind that is known (%s); rebuilt, or somebody in between: %s",
			ErrHostKeyChanged, strings.Join(l.config.HostKeyAlgorithms, ", "), text)
	case errors.As(err, &ne), errors.Is(err, io.EOF):
		return fmt.Errorf("%w: the connection broke during the login: %s", ErrUnreachable, text)
	}
	return fmt.Errorf("%w: login failed: %s", ErrUnreachable, text)
}
