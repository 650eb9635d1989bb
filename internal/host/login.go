package host

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"

	"cordon/internal/untrusted"
)

// login is how one host is logged in to, and what is remembered of it.
type login struct {
	config  *ssh.ClientConfig
	hostKey string // fingerprint that the host showed
	userKey string // fingerprint of the key that was offered
	close   func()

	distrust error         // why the host's key was not accepted
	patience time.Duration // how long the local agent may take
}

// prepare reads keys and known hosts. It contacts nothing but the local agent.
func (h Host) prepare(t Timeouts) (*login, error) {
	l := &login{close: func() {}, patience: t.Connect + t.Handshake}
	trust, err := knownhosts.New(h.KnownHosts)
	if err != nil {
		return nil, fmt.Errorf("host %s: %w: read known hosts: %w; the file holds one line for each key, as ssh-keyscan writes them, checked against a trusted source", h.Name, ErrBadConfig, err)
	}
	signer, err := h.signer(l)
	if err != nil {
		l.close()
		return nil, err
	}
	l.userKey = ssh.FingerprintSHA256(signer.PublicKey())
	l.config = &ssh.ClientConfig{
		User:              h.User,
		Auth:              []ssh.AuthMethod{ssh.PublicKeys(signer)}, // a password would be handed to the attacker's sshd
		HostKeyAlgorithms: known(trust, h.dialled()),
		ClientVersion:     "SSH-2.0-cordon",
		BannerCallback:    nil, // dropped
		Timeout:           t.Connect,
		HostKeyCallback: func(address string, remote net.Addr, key ssh.PublicKey) error {
			l.hostKey = ssh.FingerprintSHA256(key)
			l.distrust = h.judge(trust(address, remote, key), key)
			return l.distrust
		},
	}
	return l, nil
}

// nobody's key is asked about to learn which keys are known.
type noKey struct{}

func (noKey) Type() string                        { return "none" }
func (noKey) Marshal() []byte                     { return []byte("none") }
func (noKey) Verify([]byte, *ssh.Signature) error { return errors.New("no key") }

// known lists the algorithms of the keys that are known for address, so that the
// server shows one of those: x/crypto offers all and takes what the server likes,
// which then looks like a changed key (golang/go#29286). nil: any, nothing is known.
func known(trust ssh.HostKeyCallback, address string) []string {
	var ke *knownhosts.KeyError
	if !errors.As(trust(address, &net.TCPAddr{IP: net.IPv4zero}, noKey{}), &ke) {
		return nil
	}
	var out []string
	for _, k := range ke.Want {
		algos := []string{k.Key.Type()}
		if k.Key.Type() == ssh.KeyAlgoRSA {
			algos = []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}
		}
		for _, a := range algos {
			if !slices.Contains(out, a) {
				out = append(out, a)
			}
		}
	}
	return out
}

// judge turns what knownhosts says into what a person can act on.
func (h Host) judge(err error, key ssh.PublicKey) error {
	if err == nil {
		return nil
	}
	shown := ssh.FingerprintSHA256(key)
	var ke *knownhosts.KeyError
	var re *knownhosts.RevokedError
	switch {
	case errors.As(err, &re):
		return fmt.Errorf("%w: it shows %s, which %s revokes (line %d)", ErrHostKeyRevoked, shown, re.Revoked.Filename, re.Revoked.Line)
	case errors.As(err, &ke) && len(ke.Want) == 0:
		return fmt.Errorf("%w: it shows %s %s; compare it with a trusted source (cloud console, inventory), then add this line to %s: %s",
			ErrUnknownHostKey, key.Type(), shown, h.KnownHosts, knownhosts.Line([]string{h.dialled()}, key))
	case errors.As(err, &ke):
		var want []string
		for _, k := range ke.Want {
			want = append(want, fmt.Sprintf("%s (%s line %d)", ssh.FingerprintSHA256(k.Key), k.Filename, k.Line))
		}
		return fmt.Errorf("%w: it shows %s %s, known is %s; rebuilt, or somebody in between: find out which before you edit %s",
			ErrHostKeyChanged, key.Type(), shown, strings.Join(want, ", "), h.KnownHosts)
	}
	return fmt.Errorf("%w: %s", ErrUnknownHostKey, untrusted.Clean(err.Error(), 300))
}

// signer is the one key that is offered. Offering more tells the host who else we are.
func (h Host) signer(l *login) (ssh.Signer, error) {
	fail := func(format string, a ...any) (ssh.Signer, error) {
		return nil, fmt.Errorf("host %s: %w: %w", h.Name, ErrKey, fmt.Errorf(format, a...))
	}
	if h.AgentSock != "" {
		return h.fromAgent(l, fail)
	}
	b, err := os.ReadFile(h.Key)
	if err != nil {
		return fail("%w; name the file of a private key", err)
	}
	s, err := ssh.ParsePrivateKey(b)
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) {
		return fail("%s has a passphrase; load it into an agent and write agent: true", h.Key)
	} else if err != nil {
		return fail("%s: %w", h.Key, err)
	}
	return s, nil
}

func (h Host) fromAgent(l *login, fail func(string, ...any) (ssh.Signer, error)) (ssh.Signer, error) {
	conn, err := net.Dial("unix", h.AgentSock)
	if err != nil {
		return fail("SSH agent: %w; is it still there? an agent that came with your own login goes with it", err)
	}
	l.close = func() { conn.Close() }
	_ = conn.SetDeadline(time.Now().Add(l.patience)) // an agent that waits for a touch must not hold up a containment for ever
	all, err := agent.NewClient(conn).Signers()
	if err != nil {
		return fail("SSH agent: %w", err)
	}
	want := h.Key
	if want != "" && !strings.HasPrefix(want, "SHA256:") {
		b, err := os.ReadFile(want)
		if err != nil {
			return fail("%w", err)
		}
		pub, _, _, _, err := ssh.ParseAuthorizedKey(b)
		if err != nil {
			return fail("%s is not a public key: with an agent, key names one by its .pub file or its SHA256: fingerprint", want)
		}
		want = ssh.FingerprintSHA256(pub)
	}
	var have []string
	for _, s := range all {
		fp := ssh.FingerprintSHA256(s.PublicKey())
		if fp == want || want == "" && len(all) == 1 {
			return s, nil
		}
		have = append(have, fp)
	}
	if want == "" {
		return fail("the SSH agent has %d keys; name one with key: SHA256:… (it has %s)", len(all), strings.Join(have, ", "))
	}
	return fail("the SSH agent does not have %s (it has %s)", want, strings.Join(have, ", "))
}
