package host

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"cordon/internal/host/snapshot"
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
	Host      string
	Transport string // one of snapshot's
	Carrier   string // the way: user@address and its jumps, the argv, the directory
	Address   string // SSH: what was dialled last
	IP        string // SSH: what that led to; empty: somebody else looked it up
	User      string
	Script    string // name
	SHA256    string // digest of the script that was sent
	Profile   string // or the unit of an act
	At, Ended time.Time
	HostKey   string // SSH: fingerprint that the host showed; empty: not reached
	Trust     *snapshot.HostKey
	UserKey   string // fingerprint of the key that was offered, or that logged in
	Server    string // version line of the SSH server
	Sudo      bool
	Sent      bool // the script may have reached the host
	Bytes     int64
	Exit      int // as the host claims; -1: none
	Stderr    string
	Rereads   int // files that were read a second time
	Err       string
}

// carried is what a snapshot keeps of the contact.
func (ex Exchange) carried() *snapshot.Carried {
	return &snapshot.Carried{
		Transport: ex.Transport, Carrier: ex.Carrier, Script: ex.SHA256, Sudo: ex.Sudo,
		Address: ex.Address, IP: ex.IP, User: ex.user(), UserKey: ex.UserKey, Server: ex.Server, HostKey: ex.Trust,
		Ended: ex.Ended.UTC(), Bytes: ex.Bytes,
	}
}

// user is who logged in; without SSH nobody does.
func (ex Exchange) user() string {
	if ex.Transport != snapshot.BySSH {
		return ""
	}
	return ex.User
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
	// again, if not nil, runs after the answer was read, on a way that does not lead
	// through the host's shell; nil way: there is none.
	again func(g *guard, way second) int
}

// newNonce is 16 random bytes in lower-case hex.
func newNonce() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	return hex.EncodeToString(b[:])
}

// preamble is what goes before the text of a script.
func preamble(nonce, root, third string) string {
	return "N=" + nonce + "\nR=" + root + "\n" + third + "\n"
}

// run opens the way, sends the script, reads the answer and closes. It makes one
// contact and never repeats. The exchange is recorded whatever happens.
func (h *Hosts) run(ctx context.Context, x Host, j job) (Exchange, error) {
	ex := Exchange{
		Host: x.Name, Transport: x.transport(), User: x.User, Script: j.script.Name, SHA256: j.script.SHA256,
		Profile: j.profile, At: h.o.Clock.Now(), Sudo: x.Sudo, Exit: -1,
	}
	err := h.carry(ctx, h.carrierOf(x), x, j, &ex)
	ex.Ended = h.o.Clock.Now()
	if err != nil {
		ex.Err = untrusted.Clean(err.Error(), 500)
	}
	if h.o.Recorder != nil {
		h.o.Recorder(ctx, ex)
	}
	transport.Record(ctx, transport.Exchange{
		System: "ssh", At: ex.At, Method: x.method(), Path: "/" + x.Name + "/" + j.script.Name + " " + j.profile,
		Status: max(ex.Exit, 0), Bytes: ex.Bytes, Changing: j.script.Kind == KindAct, Err: ex.Err,
	})
	return ex, err
}

// carry is one contact over c.
func (h *Hosts) carry(ctx context.Context, c carrier, x Host, j job, ex *Exchange) error {
	g := &guard{}
	defer g.stop()
	defer context.AfterFunc(ctx, func() { g.fire(ctx.Err()) })()
	sh, err := c.open(ctx, g, ex)
	if err == nil {
		g.watch(j.idle, j.total,
			fmt.Errorf("%w (nothing for %s)", ErrSilent, j.idle),
			fmt.Errorf("%w (%s)", ErrTooSlow, j.total))
		err = exchange(g, sh, x, j, ex)
		g.stop()
		sh.reap()
	}
	if why := g.why(); why != nil {
		return fmt.Errorf("%s: %w", x.place(ex), why)
	}
	if done := ctx.Err(); err != nil && done != nil && !errors.Is(err, done) {
		err = fmt.Errorf("%w: %w", done, err) // the connection broke because nobody waits any more
	}
	if err != nil {
		return fmt.Errorf("%s: %w", x.place(ex), err)
	}
	return nil
}

// exchange sends the script to a started shell and has its answer read.
func exchange(g *guard, sh *session, x Host, j job, ex *Exchange) error {
	ex.Sent = true
	said := &errorStream{g: g}
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = io.Copy(said, sh.stderr) })
	wg.Go(func() {
		_, _ = io.WriteString(sh.stdin, preamble(j.nonce, x.Root, j.third)+j.script.Text) // a broken pipe shows in the answer
		_ = sh.stdin.Close()
	})
	in := &counted{r: sh.stdout, g: g}
	err := j.read(in)
	ex.Bytes = in.n
	if err == nil {
		g.waiting()
		ex.Exit = sh.exit()
		if j.again != nil && g.why() == nil {
			ex.Rereads = j.again(g, sh.second)
		}
	}
	g.end()
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
