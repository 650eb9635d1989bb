package signing

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/crypto/ssh"
)

// FromOrMake returns the signer of the private key at path, and first makes one there
// where nothing is: ed25519, in OpenSSH's format, mode 0600, on the disk before it is
// used. Of several processes that start at once one makes the key and all use it. The
// directory must be there and nobody else's. Errors wrap ErrKey.
func FromOrMake(path string) (Signer, error) {
	s, err := FromFile(path, nil)
	if err == nil {
		return s, nil
	}
	if _, serr := os.Lstat(path); !errors.Is(serr, fs.ErrNotExist) {
		return nil, err
	}
	if err := makeKey(path); err != nil && !errors.Is(err, fs.ErrExist) { // else another process was first
		return nil, fmt.Errorf("signing key %s: %w: make it: %w", path, ErrKey, err)
	}
	return FromFile(path, nil)
}

// makeKey writes a key beside path and links it there whole, over nothing.
func makeKey(path string) error {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	block, err := ssh.MarshalPrivateKey(key, "cordon")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".signing-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(pem.EncodeToMemory(block))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Link(f.Name(), path)
	}
	if err = errors.Join(err, os.Remove(f.Name())); err != nil {
		return err
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
