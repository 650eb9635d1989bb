package app

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"unicode/utf8"

	"cordon/internal/engine"
	"cordon/internal/redact"
	"cordon/internal/untrusted"
)

// maxFile is the largest file that a person keeps with a step, in bytes.
const maxFile = 32 << 20

// CheckFile says why a file could not be kept with a step, nil if it can.
func CheckFile(path string) error {
	_, err := personal(redact.Marker{})(path)
	return err
}

// personal reads a file that a person keeps with a step: a regular one, whole, not
// through a link at its end. Secrets in text are replaced; the record then says what
// the digest of the file was as it lay on the person's machine.
func personal(m redact.Marker) func(string) (engine.File, error) {
	return func(path string) (engine.File, error) {
		shown := untrusted.Clean(path, 300)
		// O_NONBLOCK: a pipe is refused, and not waited for.
		f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
		if errors.Is(err, syscall.ELOOP) {
			return engine.File{}, fmt.Errorf("keep %s: a symbolic link; name the file itself", shown)
		}
		if err != nil {
			return engine.File{}, fmt.Errorf("keep a file: %w", err)
		}
		defer f.Close()
		st, err := f.Stat()
		switch {
		case err != nil:
			return engine.File{}, fmt.Errorf("keep %s: %w", shown, err)
		case !st.Mode().IsRegular():
			return engine.File{}, fmt.Errorf("keep %s: not a regular file", shown)
		}
		b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
		switch {
		case err != nil:
			return engine.File{}, fmt.Errorf("keep %s: %w", shown, err)
		case len(b) == 0:
			return engine.File{}, fmt.Errorf("keep %s: it is empty", shown)
		case len(b) > maxFile:
			return engine.File{}, fmt.Errorf("keep %s: more than %d MiB", shown, maxFile>>20)
		}
		sum := sha256.Sum256(b)
		out := engine.File{Name: filepath.Base(path), Source: "from a person's machine: " + untrusted.Clean(filepath.Base(path), 200), Media: http.DetectContentType(b), Body: b}
		if utf8.Valid(b) && !bytes.ContainsRune(b, 0) {
			text, n := m.Text(string(b))
			if n > 0 {
				out.Body, out.Redacted = []byte(text), n
				out.Source += fmt.Sprintf(", %d secrets taken out; sha256 there: %s", n, hex.EncodeToString(sum[:]))
			}
		}
		return out, nil
	}
}
