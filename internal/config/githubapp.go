package config

import (
	"fmt"
	"strings"

	"cordon/internal/secret"
)

// App is an installation of a GitHub App, whose tokens are made when they are needed.
type App struct {
	ID           int64  `yaml:"id"`           // of the App, as its settings show it
	Installation int64  `yaml:"installation"` // the number at the end of the installation's address
	KeyFile      string `yaml:"key_file"`     // its private key, PEM; refused if anybody else can read it
}

// Key reads the private key now. Errors wrap ErrToken, name the file and quote nothing.
func (a *App) Key() (secret.Secret, error) {
	b, err := read(a.KeyFile, 0o077, "read")
	if err == nil && !strings.Contains(string(b), "PRIVATE KEY-----") {
		err = fmt.Errorf("%s: no private key in PEM form", a.KeyFile)
	}
	if err != nil {
		return secret.Secret{}, fmt.Errorf("%w from GitHub App %d: %w", ErrToken, a.ID, err)
	}
	return secret.New(string(b)), nil
}

func (v *validator) app(here []string, a *App, p *Provider) {
	switch {
	case p.Type != "github":
		v.add(here, "an App is GitHub's; here use "+kinds["gitlab"].tokens, "an App has no token for this provider")
	case a.ID <= 0 || a.Installation <= 0:
		v.add(here, "write app: {id: 123, installation: 456, key_file: PATH}", "the App or its installation has no number")
	case a.KeyFile == "":
		v.add(here, "write key_file: PATH, never the key itself", "no place for the App's private key")
	}
	v.path(&a.KeyFile)
}
