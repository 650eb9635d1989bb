// Package signing makes and checks SSH signatures (SSHSIG, OpenSSH's
// PROTOCOL.sshsig), so that responders sign with the keys, agents and security keys
// they already have and anybody checks with ssh-keygen. It may import level 0.
//
// A namespace names the kind of thing signed, so that a signature made for one
// cannot be shown for another.
package signing

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
)

// Namespaces in use.
const (
	NamespaceBundle = "cordon-bundle@v1" // over the bytes of tagmanifest-sha256.txt
	NamespaceHead   = "cordon-head@v1"   // over "<case> <seq> <head>\n"
)

// Kinds of signer.
const (
	KindAgent     = "agent"
	KindFile      = "file"
	KindEphemeral = "ephemeral" // lives as long as the process; proves one author, not who
)

var (
	// ErrAgentGone: the SSH agent could not be reached or did not answer in time.
	// Nothing was signed; the caller may go on unsigned and say so.
	ErrAgentGone = errors.New("the SSH agent is gone")
	// ErrKey: the named key is not there or cannot be used.
	ErrKey = errors.New("signing key not usable")
	// ErrPassphrase: the key is encrypted and no right passphrase was given.
	ErrPassphrase = errors.New("passphrase needed")
)

// Signer signs with one key. It is safe for concurrent use.
type Signer interface {
	// Sign returns the armored SSHSIG (with SHA-512) of msg under a namespace. The
	// errors callers test for are ErrAgentGone and ErrKey.
	Sign(namespace string, msg []byte) (armored []byte, err error)
	// Fingerprint is "SHA256:…" as ssh-keygen -l prints it.
	Fingerprint() string
	// PublicKey is the line of an authorized_keys file, without comment or line end.
	PublicKey() string
	// Kind is KindAgent, KindFile or KindEphemeral.
	Kind() string
}

// Ephemeral returns a signer with a new ed25519 key that is kept nowhere.
func Ephemeral() (Signer, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make an ephemeral signing key: %w", err)
	}
	s, err := ssh.NewSignerFromKey(key)
	if err != nil {
		return nil, fmt.Errorf("make an ephemeral signing key: %w", err)
	}
	return local{s, KindEphemeral}, nil
}

// local signs with a private key in memory.
type local struct {
	key  ssh.Signer
	kind string
}

func (l local) Sign(namespace string, msg []byte) ([]byte, error) {
	return sign(l.key, namespace, msg)
}

func (l local) Fingerprint() string { return ssh.FingerprintSHA256(l.key.PublicKey()) }
func (l local) PublicKey() string   { return keyLine(l.key.PublicKey()) }
func (l local) Kind() string        { return l.kind }

func keyLine(k ssh.PublicKey) string {
	return strings.TrimSuffix(string(ssh.MarshalAuthorizedKey(k)), "\n")
}

// sign makes the signature and checks it before anybody relies on it: an agent is
// another program and may answer anything. sshsig itself asks RSA keys for rsa-sha2-512.
func sign(key ssh.Signer, namespace string, msg []byte) ([]byte, error) {
	sig, err := sshsig.Sign(bytes.NewReader(msg), key, sshsig.HashSHA512, namespace)
	if err != nil {
		return nil, fmt.Errorf("sign for %s: %w", namespace, err)
	}
	if err := sshsig.Verify(bytes.NewReader(msg), sig, key.PublicKey(), sshsig.HashSHA512, namespace); err != nil {
		return nil, fmt.Errorf("sign for %s: %w: it made a signature that does not match: %w", namespace, ErrKey, err)
	}
	return sshsig.Armor(sig), nil
}
