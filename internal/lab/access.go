package lab

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// access is how cordon gets in: a client key, host keys, tokens. Keys are fresh for
// each lab and do not follow from the seed.
type access struct {
	keyPath string
	known   []string          // known_hosts lines
	address map[string]string // host to address:port
}

func (l *lab) path(name string) string { return filepath.Join(l.dir, name) }

func newKey() (ssh.Signer, []byte, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	block, err := ssh.MarshalPrivateKey(private, "cordon lab")
	if err != nil {
		return nil, nil, err
	}
	signer, err := ssh.NewSignerFromKey(private)
	return signer, pem.EncodeToMemory(block), err
}

// access makes the client key and the token files.
func (l *lab) access() (*access, error) {
	signer, text, err := newKey()
	if err != nil {
		return nil, fmt.Errorf("make the lab's SSH key: %w", err)
	}
	a := &access{keyPath: l.path("ssh_key"), address: map[string]string{}}
	if err := os.WriteFile(a.keyPath, text, 0o600); err != nil {
		return nil, err
	}
	l.client = signer.PublicKey()
	if l.github != nil {
		err = l.githubAccess()
	} else {
		err = l.gitlabAccess()
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

func (l *lab) gitlabAccess() error {
	for _, p := range l.scenario.GitLab.People {
		token, err := l.gitlab.PersonToken(p.Token)
		if err != nil {
			return err
		}
		if err := l.tokenFile(p.File, token); err != nil {
			return err
		}
	}
	return nil
}

func (l *lab) githubAccess() error {
	for _, p := range l.scenario.GitHub.People {
		token, err := l.github.PersonToken(p.Token)
		if err != nil {
			return err
		}
		if err := l.tokenFile(p.File, token); err != nil {
			return err
		}
	}
	for _, app := range l.scenario.GitHub.Apps {
		if app.KeyFile == "" {
			continue
		}
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			return fmt.Errorf("make the key of the App %s: %w", app.Slug, err)
		}
		text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
		if err := os.WriteFile(l.path(app.KeyFile), text, 0o600); err != nil {
			return err
		}
		l.github.TrustApp(app.ID, &key.PublicKey)
	}
	return nil
}

// tokenFile puts a token where the scenario wants it, if anywhere.
func (l *lab) tokenFile(name, token string) error {
	if name == "" {
		return nil
	}
	return os.WriteFile(l.path(name), []byte(token+"\n"), 0o600)
}

func (a *access) host(name string, at net.Addr, key ssh.PublicKey) {
	a.address[name] = at.String()
	a.known = append(a.known, knownhosts.Line([]string{at.String()}, key))
}

// config is a cordon configuration that reaches all of the lab.
func (l *lab) config(a *access) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# A simulated world: made by cordon lab serve, good for this lab only.\nstate_dir: %s\nprincipal: responder@lab.invalid\n", l.path("state"))
	kind, scopes := "gitlab", []string{"instance"}
	if l.github != nil {
		kind, scopes = "github", l.scenario.Scopes
	}
	fmt.Fprintf(&b, "providers:\n  %s:\n    type: %s\n    url: %s\n    scopes: [%s]\n    look: {file: %s}\n    act: {file: %s}\nhosts:\n",
		l.provider(), kind, l.url, strings.Join(scopes, ", "), l.path("look.token"), l.path("act.token"))
	for _, h := range l.scenario.Hosts {
		fmt.Fprintf(&b, "  %s:\n    address: %s\n    user: ir\n    key: %s\n    known_hosts: %s\n    unit: %s\n", h.Name, a.address[h.Name], a.keyPath, l.path("known_hosts"), h.Unit)
	}
	return b.String()
}
