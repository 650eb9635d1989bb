package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"golang.org/x/crypto/ssh"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// login is how one hop is logged in to, and what is remembered of it.
type login struct {
	hop     hop
	config  *ssh.ClientConfig
	shown   *snapshot.HostKey // what the server showed; nil: nothing yet
	userKey string            // fingerprint of what was offered, then of what signed
	server  string            // its version line
	touch   bool              // a key that may be asked for waits for a finger

	trust    *trust
	distrust error // why the host's key was not accepted
	agents   *agents
}

// prepare reads the keys and known hosts of every hop. It contacts nothing but local agents.
func (h *Hosts) prepare(ctx context.Context, r route) ([]*login, error) {
	a := &agents{patience: h.o.Timeouts.Connect + h.o.Timeouts.Handshake}
	for range r.hops {
		a.patience += touchTime + h.o.Timeouts.Handshake
	}
	var out []*login
	for _, p := range r.hops {
		l, err := h.login(ctx, p, a)
		if err != nil {
			a.close()
			if p.jump {
				return nil, fmt.Errorf("jump host %s: %w", p.address, err)
			}
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

func closeAll(all []*login) {
	for _, l := range all {
		l.agents.close()
	}
}

func (h *Hosts) login(ctx context.Context, p hop, a *agents) (*login, error) {
	l := &login{hop: p, agents: a}
	t, err := trustOf(p.host, p.known, p.trusted, h.o.Accepted)
	if err != nil {
		return nil, fmt.Errorf("%w: read known hosts: %w; the file holds one line for each key, as ssh-keyscan writes them, checked against a trusted source", ErrBadConfig, err)
	}
	l.trust = t
	signers, err := p.keys.signers(a)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	var prints []string
	for i, s := range signers {
		prints = append(prints, printOf(s))
		l.touch = l.touch || touched(s.PublicKey())
		if as, ok := s.(ssh.AlgorithmSigner); ok {
			signers[i] = signed{as, l}
		}
	}
	l.userKey = strings.Join(prints, ", ")
	auth := []ssh.AuthMethod{ssh.PublicKeys(signers...)} // a password would be handed to the attacker's sshd
	if p.jump && h.o.Ask != nil {
		auth = append(auth, ssh.KeyboardInteractive(h.questions(ctx, p)))
	}
	l.config = &ssh.ClientConfig{
		User:              p.user,
		Auth:              auth,
		HostKeyAlgorithms: t.algorithms(),
		ClientVersion:     "SSH-2.0-cordon",
		BannerCallback:    nil, // dropped
		HostKeyCallback: func(_ string, _ net.Addr, key ssh.PublicKey) error {
			k, err := t.judge(key)
			if p.jump {
				k.Hop = p.address
			}
			l.shown, l.distrust = &k, err
			var hk *HostKeyError
			if errors.As(err, &hk) {
				hk.Key = k
			}
			return err
		},
	}
	if err := p.allowed.apply(l.config); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadConfig, err)
	}
	return l, nil
}

// questions passes what a jump host asks to a person, cleaned, and the answers back. A
// target never gets so far: what is typed there is the attacker's.
func (h *Hosts) questions(ctx context.Context, p hop) ssh.KeyboardInteractiveChallenge {
	rounds := 0
	return func(name, instruction string, asked []string, echo []bool) ([]string, error) {
		if rounds++; rounds > 3 || len(asked) > 4 {
			return nil, errors.New("the jump host asks too much")
		}
		var out []string
		for i, q := range asked {
			text := untrusted.Clean(strings.TrimSpace(name+" "+instruction+" "+q), 200)
			said, err := h.o.Ask(ctx, fmt.Sprintf("jump host %s asks: %s", p.address, text), echo[i])
			if err != nil {
				return nil, err
			}
			out = append(out, said)
		}
		return out, nil
	}
}

// signed remembers which of the offered keys signed.
type signed struct {
	ssh.AlgorithmSigner
	l *login
}

func (s signed) SignWithAlgorithm(rand io.Reader, data []byte, algorithm string) (*ssh.Signature, error) {
	s.l.userKey = printOf(s.AlgorithmSigner)
	return s.AlgorithmSigner.SignWithAlgorithm(rand, data, algorithm)
}

func (s signed) Sign(rand io.Reader, data []byte) (*ssh.Signature, error) {
	s.l.userKey = printOf(s.AlgorithmSigner)
	return s.AlgorithmSigner.Sign(rand, data)
}

// printOf is the fingerprint of a key; of a certificate, of the key in it, and says so.
func printOf(s ssh.Signer) string {
	if c, ok := s.PublicKey().(*ssh.Certificate); ok {
		return ssh.FingerprintSHA256(c.Key) + " (certificate " + untrusted.Clean(c.KeyId, 60) + ")"
	}
	return ssh.FingerprintSHA256(s.PublicKey())
}

// failed keeps our own errors and cleans the library's, which carry the server's words.
func (l *login) failed(err error) error {
	if l.distrust != nil {
		return l.distrust
	}
	text := untrusted.Clean(err.Error(), 300)
	var ne net.Error
	switch {
	case strings.Contains(text, "unable to authenticate"):
		return fmt.Errorf("%w for %s with key %s: %s; is that key in the account's authorized_keys?", ErrLogin, l.hop.user, l.userKey, text)
	case strings.Contains(text, "no common algorithm for host key"):
		l.shown = &snapshot.HostKey{Shown: "none of a known kind", State: snapshot.KeyChanged, Hop: l.jumpName(), Known: l.trust.known()}
		return &HostKeyError{
			Key: *l.shown, kind: ErrHostKeyChanged,
			says: fmt.Sprintf("it no longer shows a key of a kind that is known (%s); rebuilt, or somebody in between: %s", strings.Join(l.config.HostKeyAlgorithms, ", "), text),
		}
	case errors.As(err, &ne), errors.Is(err, io.EOF):
		return fmt.Errorf("%w: the connection broke during the login: %s", ErrUnreachable, text)
	}
	return fmt.Errorf("%w: login failed: %s", ErrUnreachable, text)
}

func (l *login) jumpName() string {
	if l.hop.jump {
		return l.hop.address
	}
	return ""
}
