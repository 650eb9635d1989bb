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
)

// maxOffers is how many keys are shown to one server: each tells it who else we are, and
// OpenSSH servers hang up after six.
const maxOffers = 5

// keys says which keys log in to one hop.
type keys struct {
	one  string // configured: path of a private key; with sock a .pub file or SHA256: fingerprint
	sock string // of an SSH agent; its keys sign, it is never forwarded

	asked        bool     // by the SSH configuration: what follows counts instead of one
	files, certs []string // IdentityFile, CertificateFile
	only         bool     // IdentitiesOnly
}

// agents are the local agents of one contact, each asked once.
type agents struct {
	patience time.Duration
	conns    []net.Conn
	held     map[string][]ssh.Signer
}

// signers are the keys that an agent holds.
func (a *agents) signers(sock string) ([]ssh.Signer, error) {
	if s, ok := a.held[sock]; ok {
		return s, nil
	}
	conn, err := net.Dial("unix", sock)
	if err != nil {
		return nil, fmt.Errorf("SSH agent: %w; is it still there? an agent that came with your own login goes with it", err)
	}
	a.conns = append(a.conns, conn)
	_ = conn.SetDeadline(time.Now().Add(a.patience)) // an agent that waits for a touch must not hold up a containment for ever
	all, err := agent.NewClient(conn).Signers()
	if err != nil {
		return nil, fmt.Errorf("SSH agent: %w", err)
	}
	var out []ssh.Signer
	for _, s := range all {
		as, ok := s.(ssh.AlgorithmSigner)
		pub, err := ssh.ParsePublicKey(s.PublicKey().Marshal()) // the agent's own answer does not tell certificates from keys
		if ok && err == nil {
			out = append(out, heldKey{as, pub})
		}
	}
	if a.held == nil {
		a.held = map[string][]ssh.Signer{}
	}
	a.held[sock] = out
	return out, nil
}

// heldKey is a key or certificate of an agent, as what it is.
type heldKey struct {
	ssh.AlgorithmSigner
	pub ssh.PublicKey
}

func (k heldKey) PublicKey() ssh.PublicKey { return k.pub }

func (a *agents) close() {
	for _, c := range a.conns {
		c.Close()
	}
}

// signers are the keys that are offered, in order, certificates first.
func (k keys) signers(a *agents) ([]ssh.Signer, error) {
	if k.asked {
		return k.configured(a)
	}
	if k.sock != "" {
		s, err := k.fromAgent(a)
		return s, err
	}
	s, err := privateKey(k.one)
	if err != nil {
		return nil, err
	}
	return k.withCerts(s, nil), nil
}

// privateKey reads a private key without a passphrase.
func privateKey(path string) (ssh.Signer, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w; name the file of a private key", err)
	}
	s, err := ssh.ParsePrivateKey(b)
	var locked *ssh.PassphraseMissingError
	switch {
	case errors.As(err, &locked):
		return nil, fmt.Errorf("%s has a passphrase; load it into an agent (ssh-add) and write agent: true", path)
	case err != nil && strings.Contains(err.Error(), "unhandled key type"):
		return nil, fmt.Errorf("%s: a key of a hardware token works through an agent alone; run ssh-add %s", path, path)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// fromAgent is the one key that our configuration names, or the only one there.
func (k keys) fromAgent(a *agents) ([]ssh.Signer, error) {
	all, err := a.signers(k.sock)
	if err != nil {
		return nil, err
	}
	want := k.one
	if want != "" && !strings.HasPrefix(want, "SHA256:") {
		pub, err := publicKey(want)
		if err != nil {
			return nil, fmt.Errorf("%w: with an agent, key names one by its .pub file or its SHA256: fingerprint", err)
		}
		want = ssh.FingerprintSHA256(pub)
	}
	groups, order := byKey(all)
	if want == "" && len(order) == 1 {
		want = order[0]
	}
	switch g := groups[want]; {
	case len(g) > 0:
		return g, nil
	case want == "":
		return nil, fmt.Errorf("the SSH agent has %d keys; name one with key: SHA256:… (it has %s)", len(order), strings.Join(order, ", "))
	}
	return nil, fmt.Errorf("the SSH agent does not have %s (it has %s)", want, strings.Join(order, ", "))
}

// configured are the keys that the SSH configuration names and that can sign: from the
// agent where it holds them, else from their files. The agent's other keys are offered
// only where there is no such file, IdentitiesOnly allows it, and there is one.
func (k keys) configured(a *agents) ([]ssh.Signer, error) {
	var held []ssh.Signer
	var why []string
	if k.sock != "" {
		var err error
		if held, err = a.signers(k.sock); err != nil {
			why = append(why, err.Error())
		}
	}
	groups, order := byKey(held)
	var out []ssh.Signer
	for _, f := range k.files {
		if pub, err := publicKey(strings.TrimSuffix(f, ".pub") + ".pub"); err == nil {
			if g := groups[ssh.FingerprintSHA256(pub)]; len(g) > 0 {
				out = append(out, k.withCerts(g[len(g)-1], g[:len(g)-1], f)...)
				continue
			}
		}
		if _, err := os.Stat(f); err != nil || strings.HasSuffix(f, ".pub") {
			continue
		}
		s, err := privateKey(f)
		if err != nil {
			why = append(why, err.Error())
			continue
		}
		out = append(out, k.withCerts(s, nil, f)...)
	}
	if len(out) == 0 && !k.only && len(order) == 1 {
		out = k.withCerts(groups[order[0]][len(groups[order[0]])-1], groups[order[0]][:len(groups[order[0]])-1])
	}
	switch {
	case len(out) > 0:
		return out[:min(len(out), maxOffers)], nil
	case len(order) > 1 && !k.only:
		why = append(why, fmt.Sprintf("the SSH agent has %d keys and your SSH configuration names none of them: write IdentityFile, or key: SHA256:… (it has %s)", len(order), strings.Join(order, ", ")))
	case len(why) == 0:
		why = append(why, "your SSH configuration names no key that is there, and no agent has one")
	}
	return nil, errors.New(strings.Join(why, "; "))
}

// withCerts puts certificates of s before it: those of the agent, CertificateFile, and
// the file beside the key.
func (k keys) withCerts(s ssh.Signer, first []ssh.Signer, beside ...string) []ssh.Signer {
	out := slices.Clone(first)
	names := slices.Clone(k.certs)
	for _, f := range append(beside, k.one) {
		if f != "" {
			names = append(names, strings.TrimSuffix(f, ".pub")+"-cert.pub")
		}
	}
	for _, f := range names {
		pub, err := publicKey(f)
		cert, ok := pub.(*ssh.Certificate)
		if err != nil || !ok || cert.CertType != ssh.UserCert || string(cert.Key.Marshal()) != string(s.PublicKey().Marshal()) {
			continue
		}
		if signer, err := ssh.NewCertSigner(cert, s); err == nil {
			out = append(out, signer)
		}
	}
	return append(out, s)
}

func publicKey(path string) (ssh.PublicKey, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pub, _, _, _, err := ssh.ParseAuthorizedKey(b)
	if err != nil {
		return nil, fmt.Errorf("%s is not a public key", path)
	}
	return pub, nil
}

// byKey puts certificates with the key they are for, before it; order is that of the agent.
func byKey(all []ssh.Signer) (groups map[string][]ssh.Signer, order []string) {
	groups = map[string][]ssh.Signer{}
	for _, s := range all {
		pub := s.PublicKey()
		cert, is := pub.(*ssh.Certificate)
		if is {
			pub = cert.Key
		}
		fp := ssh.FingerprintSHA256(pub)
		if len(groups[fp]) == 0 {
			order = append(order, fp)
		}
		if is {
			groups[fp] = append([]ssh.Signer{s}, groups[fp]...)
		} else {
			groups[fp] = append(groups[fp], s)
		}
	}
	return groups, order
}

// touched reports whether a key waits for a finger before it signs: those of FIDO
// tokens do, unless they were made otherwise, which their public half does not tell.
func touched(k ssh.PublicKey) bool { return strings.HasPrefix(k.Type(), "sk-") }
