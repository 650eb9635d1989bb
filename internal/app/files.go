package app

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"cordon/internal/engine"
	"cordon/internal/plainfile"
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
		b, err := plainfile.ReadItself(path, maxFile)
		if err != nil {
			return engine.File{}, fmt.Errorf("keep a file: %s", strings.ReplaceAll(err.Error(), path, shown))
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
