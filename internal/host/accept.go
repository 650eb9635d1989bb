package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"cordon/internal/host/snapshot"
	"cordon/internal/statedir"
	"cordon/internal/transport"
	"cordon/internal/untrusted"
)

// ErrNotThatKey means that a host shows other keys than the one that was to be accepted.
var ErrNotThatKey = errors.New("the host does not show that key")

var fingerprintRE = regexp.MustCompile(`^SHA256:[A-Za-z0-9+/]{43}$`)

// keyKinds are asked for one after the other: a server shows one key of those named.
var keyKinds = [][]string{
	{ssh.KeyAlgoED25519},
	{ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521},
	{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256},
}

// Accept adds the host's key to Options.Accepted, if it shows one with that
// fingerprint, which a person had from source. It asks the server for its keys (up to
// three connections, no login: sshd may log them as closed before authentication). A
// host for which another key is known is refused with ErrHostKeyChanged: that is for a
// person to settle in the known_hosts file.
func (h *Hosts) Accept(ctx context.Context, name, fingerprint, source, by string) (snapshot.HostKey, error) {
	x, err := h.find(ref(name))
	if err != nil {
		return snapshot.HostKey{}, err
	}
	bad := func(format string, a ...any) (snapshot.HostKey, error) {
		return snapshot.HostKey{}, fmt.Errorf("accept a key of %s: %w: %s", name, ErrBadConfig, fmt.Sprintf(format, a...))
	}
	switch {
	case x.transport() != snapshot.BySSH:
		return bad("it is reached by %s and shows none", x.transport())
	case h.o.Accepted == "":
		return bad("there is no place to keep it")
	case !fingerprintRE.MatchString(fingerprint):
		return bad("the fingerprint has to be SHA256: and 43 characters, as ssh-keygen -lf prints it")
	case strings.TrimSpace(source) == "":
		return bad("say where the fingerprint is from: a key that is taken from the host itself proves nothing")
	}
	r, err := h.route(ctx, x)
	if err != nil {
		return snapshot.HostKey{}, fmt.Errorf("host %s: %w", name, err)
	}
	last := &r.hops[len(r.hops)-1]
	var seen []string
	for _, kinds := range keyKinds {
		key, err := h.shownKey(ctx, x, r, kinds)
		if err != nil {
			return snapshot.HostKey{}, fmt.Errorf("host %s (%s): %w", name, r, err)
		}
		if key == nil { // it has none of that kind
			continue
		}
		if fp := ssh.FingerprintSHA256(key); fp != fingerprint {
			seen = append(seen, key.Type()+" "+fp)
			continue
		}
		return h.take(last, key, source, by)
	}
	return snapshot.HostKey{}, fmt.Errorf("host %s (%s): %w: it shows %s, not %s; do not log in before you know why", name, r, ErrNotThatKey, strings.Join(seen, ", "), fingerprint)
}

// take writes the key down, unless another one is known.
func (h *Hosts) take(p *hop, key ssh.PublicKey, source, by string) (snapshot.HostKey, error) {
	t, err := trustOf(p.host, p.known, p.trusted, h.o.Accepted)
	if err != nil {
		return snapshot.HostKey{}, fmt.Errorf("read known hosts: %w", err)
	}
	k, err := t.judge(key)
	if !errors.Is(err, ErrUnknownHostKey) { // known already, or never to be taken here
		return k, err
	}
	why := fmt.Sprintf("%s by %s, source: %s", h.o.Clock.Now().UTC().Format(time.RFC3339), untrusted.Clean(by, 80), untrusted.Clean(source, 200))
	f, err := statedir.Append(h.o.Accepted)
	if err != nil {
		return k, fmt.Errorf("keep the accepted key: %w", err)
	}
	_, err = f.WriteString("# accepted " + why + "\n" + knownhosts.Line([]string{p.known}, key) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return k, fmt.Errorf("keep the accepted key in %s: %w", h.o.Accepted, err)
	}
	k.State, k.Why = snapshot.KeyAccepted, why
	return k, nil
}

// errSeen ends a login once the key was shown.
var errSeen = errors.New("the key was shown")

// shownKey has the host show a key of one of the kinds; nil where it has none.
func (h *Hosts) shownKey(ctx context.Context, x Host, r route, kinds []string) (ssh.PublicKey, error) {
	g := &guard{}
	defer g.stop()
	defer context.AfterFunc(ctx, func() { g.fire(ctx.Err()) })()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer g.end()
	at := h.o.Clock.Now()
	key, err := h.handshakeOnly(ctx, g, &wg, r, kinds)
	if why := g.why(); why != nil {
		key, err = nil, why
	}
	e := transport.Exchange{System: "ssh", At: at, Method: "SSH", Path: "/" + x.Name + "/host-key"}
	if err != nil {
		e.Err = untrusted.Clean(err.Error(), 300)
	}
	transport.Record(ctx, e)
	return key, err
}

func (h *Hosts) handshakeOnly(ctx context.Context, g *guard, wg *sync.WaitGroup, r route, kinds []string) (ssh.PublicKey, error) {
	last := r.hops[len(r.hops)-1]
	var conn net.Conn
	var err error
	if before := (route{hops: slices.Clone(r.hops[:len(r.hops)-1]), command: r.command}); len(before.hops) > 0 {
		var ex Exchange
		client, _, cerr := h.connect(ctx, g, wg, before, &ex)
		if cerr != nil {
			return nil, cerr
		}
		conn, err = h.through(g, client, before.hops[len(before.hops)-1], last)
	} else {
		conn, err = h.dial(ctx, g, wg, r)
	}
	if err != nil {
		return nil, err
	}
	var shown ssh.PublicKey
	l := &login{hop: last, trust: &trust{}, config: &ssh.ClientConfig{
		User: last.user, HostKeyAlgorithms: kinds, ClientVersion: "SSH-2.0-cordon",
		HostKeyCallback: func(_ string, _ net.Addr, key ssh.PublicKey) error {
			shown = key
			return errSeen
		},
	}}
	_, err = h.handshake(g, wg, conn, l)
	if shown != nil || errors.Is(err, ErrHostKeyChanged) { // shown, or none of that kind
		return shown, nil
	}
	return nil, err
}
