package signing

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// How long an agent may take. Listing needs no person; signing may wait for a touch
// or a PIN. Real time: these are network timeouts.
const (
	listWait = 5 * time.Second
	signWait = 90 * time.Second
)

// FromAgent returns a signer with a key held by the agent at the Unix socket sock
// (SSH_AUTH_SOCK), chosen by its "SHA256:…" fingerprint; with none, the agent must
// hold exactly one key. No connection is kept: each signature connects anew, so an
// agent that comes back with the next login works again. Security keys work, as
// the agent talks to them. Errors wrap ErrAgentGone or ErrKey.
func FromAgent(sock, fingerprint string) (Signer, error) {
	return fromAgent(sock, fingerprint, listWait, signWait)
}

func fromAgent(sock, fingerprint string, list, sign time.Duration) (Signer, error) {
	if sock == "" {
		return nil, fmt.Errorf("signing key %s: %w: SSH_AUTH_SOCK is not set; start an agent or name a key file", fingerprint, ErrAgentGone)
	}
	s := &fromSock{sock: sock, wait: sign}
	err := s.with(list, func(a agent.ExtendedAgent) error {
		keys, err := a.List()
		if err != nil {
			return err
		}
		s.key, err = choose(keys, fingerprint)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// choose finds the key. Certificates are passed over: what they sign needs an
// authority to check, which Verify does not follow.
func choose(keys []*agent.Key, fingerprint string) (ssh.PublicKey, error) {
	var have []string
	var found ssh.PublicKey
	for _, k := range keys {
		pub, err := ssh.ParsePublicKey(k.Blob)
		if err != nil {
			continue
		}
		if _, cert := pub.(*ssh.Certificate); cert {
			continue
		}
		fp := ssh.FingerprintSHA256(pub)
		have = append(have, fp)
		if fp == fingerprint || fingerprint == "" && found == nil {
			found = pub
		}
	}
	switch {
	case len(have) == 0:
		return nil, fmt.Errorf("signing key: %w: the agent holds no key; ssh-add one", ErrKey)
	case fingerprint == "" && len(have) > 1:
		return nil, fmt.Errorf("signing key: %w: the agent holds %d keys; name one of %s", ErrKey, len(have), strings.Join(have, ", "))
	case found == nil:
		return nil, fmt.Errorf("signing key %s: %w: not in the agent, which holds %s", fingerprint, ErrKey, strings.Join(have, ", "))
	}
	return found, nil
}

type fromSock struct {
	sock string
	key  ssh.PublicKey
	wait time.Duration
}

func (s *fromSock) Fingerprint() string { return ssh.FingerprintSHA256(s.key) }
func (s *fromSock) PublicKey() string   { return keyLine(s.key) }
func (s *fromSock) Kind() string        { return KindAgent }

func (s *fromSock) Sign(namespace string, msg []byte) (armored []byte, err error) {
	err = s.with(s.wait, func(a agent.ExtendedAgent) error {
		armored, err = sign(agentKey{a, s.key}, namespace, msg)
		return err
	})
	return armored, err
}

// with connects, bounds everything by one deadline and tells a lost agent from one
// that says no.
func (s *fromSock) with(wait time.Duration, do func(agent.ExtendedAgent) error) error {
	conn, err := net.DialTimeout("unix", s.sock, wait)
	if err != nil {
		return fmt.Errorf("%w: %w; log in again or start an agent", ErrAgentGone, err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(wait)); err != nil {
		return fmt.Errorf("%w: %w", ErrAgentGone, err)
	}
	link := &wire{rw: conn}
	err = do(agent.NewClient(link))
	switch {
	case err == nil:
		return nil
	case link.broken.Load():
		return fmt.Errorf("%w: no answer within %s: %w", ErrAgentGone, wait, err)
	case errors.Is(err, ErrKey):
		return err
	}
	return fmt.Errorf("%w: the agent refused: %w", ErrKey, err)
}

// wire remembers that the connection failed; the client's errors do not say. Having
// no Close, it also makes the client work without a goroutine of its own.
type wire struct {
	rw     io.ReadWriter
	broken atomic.Bool
}

func (w *wire) Read(b []byte) (int, error) {
	n, err := w.rw.Read(b)
	if err != nil {
		w.broken.Store(true)
	}
	return n, err
}

func (w *wire) Write(b []byte) (int, error) {
	n, err := w.rw.Write(b)
	if err != nil {
		w.broken.Store(true)
	}
	return n, err
}

// agentKey is the one key of an agent that we use, as an ssh.AlgorithmSigner.
type agentKey struct {
	a   agent.ExtendedAgent
	pub ssh.PublicKey
}

func (k agentKey) PublicKey() ssh.PublicKey { return k.pub }

func (k agentKey) Sign(_ io.Reader, data []byte) (*ssh.Signature, error) {
	return k.a.Sign(k.pub, data)
}

func (k agentKey) SignWithAlgorithm(_ io.Reader, data []byte, algorithm string) (*ssh.Signature, error) {
	if algorithm == ssh.KeyAlgoRSASHA512 {
		return k.a.SignWithFlags(k.pub, data, agent.SignatureFlagRsaSha512)
	}
	return k.a.Sign(k.pub, data)
}
