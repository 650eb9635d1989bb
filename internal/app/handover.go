package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"cordon/internal/bundle"
)

// Handed is a bundle that was written and then checked as a stranger would check it.
type Handed struct {
	Exported
	Signers string        // file with the line of who may sign; hand it over by another way
	Report  bundle.Report // of the check, against Signers
}

// HandOver writes the bundle of a case into dir under a name that is not taken, with
// the signer's line beside it, and verifies it.
func (a *App) HandOver(ctx context.Context, id, dir string) (Handed, error) {
	path, err := freeName(dir, id)
	if err != nil {
		return Handed{}, err
	}
	x, err := a.Export(ctx, id, path+".tar")
	if err != nil {
		return Handed{}, err
	}
	h := Handed{Exported: x, Signers: path + ".allowed_signers"}
	if err := os.WriteFile(h.Signers, []byte(x.Allowed+"\n"), 0o600); err != nil {
		return h, fmt.Errorf("export %s: %w", id, err)
	}
	h.Report, err = Verify(x.Path, h.Signers)
	return h, err
}

// freeName is DIR/ID, or DIR/ID-2 and so on where a bundle of that name is there.
func freeName(dir, id string) (string, error) {
	for n := 1; n < 1000; n++ {
		path := filepath.Join(dir, id)
		if n > 1 {
			path = fmt.Sprintf("%s-%d", path, n)
		}
		if _, err := os.Lstat(path + ".tar"); errors.Is(err, fs.ErrNotExist) {
			return path, nil
		} else if err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("export %s: a thousand bundles of it are in %s", id, dir)
}
