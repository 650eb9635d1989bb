package signing

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/crypto/ssh"

	"cordon/internal/secret"
)

const maxKeyFile = 64 << 10 // bytes

// FromFile returns a signer with the private key in a file, in any format that
// ssh-keygen writes. An encrypted key is opened with what passphrase returns; with
// passphrase nil, or a wrong answer, the error wraps ErrPassphrase. A file that
// others can read is refused, as ssh does; such errors and those of unusable keys
// wrap ErrKey.
func FromFile(path string, passphrase func() (secret.Secret, error)) (Signer, error) {
	raw, err := readKey(path)
	if err != nil {
		return nil, fmt.Errorf("signing key %s: %w", path, err)
	}
	key, err := ssh.ParseRawPrivateKey(raw)
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) {
		if passphrase == nil {
			return nil, fmt.Errorf("signing key %s: %w; add it to an agent with ssh-add and name its fingerprint instead", path, ErrPassphrase)
		}
		pass, perr := passphrase()
		if perr != nil {
			return nil, fmt.Errorf("signing key %s: ask for its passphrase: %w", path, perr)
		}
		if key, err = ssh.ParseRawPrivateKeyWithPassphrase(raw, []byte(pass.Reveal())); err != nil {
			return nil, fmt.Errorf("signing key %s: %w: that was not it", path, ErrPassphrase)
		}
	}
	if err != nil {
		hint := ""
		if _, _, _, _, perr := ssh.ParseAuthorizedKey(raw); perr == nil {
			hint = "; this is the public half: name the private one, or its fingerprint if an agent holds it"
		}
		return nil, fmt.Errorf("signing key %s: %w: %w%s", path, ErrKey, err, hint)
	}
	s, err := ssh.NewSignerFromKey(key)
	if err != nil {
		return nil, fmt.Errorf("signing key %s: %w: %w", path, ErrKey, err)
	}
	//lint:ignore SA1019 the name is needed to refuse such keys
	if s.PublicKey().Type() == ssh.InsecureKeyAlgoDSA {
		return nil, fmt.Errorf("signing key %s: %w: OpenSSH no longer takes DSA; use ed25519", path, ErrKey)
	}
	return local{s, KindFile}, nil
}

func readKey(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrKey, strings.TrimPrefix(err.Error(), "open "+path+": "))
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: it is not a regular file", ErrKey)
	}
	if st.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%w: mode %04o lets others at it; chmod 600 it, and if it was so for long, replace it", ErrKey, st.Mode().Perm())
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	if len(raw) > maxKeyFile {
		return nil, fmt.Errorf("%w: over %d bytes, so it is no key", ErrKey, maxKeyFile)
	}
	return raw, nil
}
