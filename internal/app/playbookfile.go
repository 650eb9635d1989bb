package app

import (
	"fmt"

	"cordon/internal/plainfile"
	"cordon/playbooks"
)

// MaxPlaybook is the largest playbook that is read from a file, in bytes.
const MaxPlaybook = 1 << 20

// playbook finds a built-in one or reads a file.
func playbook(name string) (*playbooks.Playbook, error) {
	if name == "" {
		name = "contain"
	}
	p, err := playbooks.Find(name)
	if err == nil {
		return p, nil
	}
	b, ferr := plainfile.Read(name, MaxPlaybook)
	if ferr != nil {
		return nil, fmt.Errorf("%w: %w, and no file of that name can be read: %w", ErrUsage, err, ferr)
	}
	if p, err = playbooks.Parse(name, b); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	for _, x := range playbooks.Lint(p) {
		if x.Severity == "error" {
			return nil, fmt.Errorf("%w: %s:%d:%d: %s", ErrUsage, name, x.Line, x.Col, x.Text)
		}
	}
	return p, nil
}
