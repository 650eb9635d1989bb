package operator

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// maxProgram bounds how much of a program is read to know it again, in bytes.
const maxProgram = 512 << 20

var hole = regexp.MustCompile(`\{(runner|host|case)\}`)

// argv is the command with its program found and its placeholders filled. Each stays
// inside its argument; what is put in is not looked at for placeholders again. An
// argument that looks like a secret is refused: arguments are shown, journalled and
// visible to everybody on the machine.
func (s *System) argv(cmd []string, a Args) ([]string, error) {
	if len(cmd) == 0 {
		return nil, errors.New("no command")
	}
	out := make([]string, len(cmd))
	value := map[string]string{"{runner}": a.Runner, "{host}": a.Host, "{case}": a.Case}
	for i, arg := range cmd {
		var missing string
		out[i] = hole.ReplaceAllStringFunc(arg, func(h string) string {
			v := value[h]
			if v == "" || strings.ContainsRune(v, 0) {
				missing = h
			}
			return v
		})
		if missing != "" {
			return nil, fmt.Errorf("argument %d wants %s, and there is none here", i, missing)
		}
		if _, n := s.o.Marker.Text(out[i]); n > 0 {
			return nil, fmt.Errorf("argument %d looks like a secret: pass it through env, arguments are seen by everybody", i)
		}
	}
	p, err := exec.LookPath(out[0])
	if err != nil || !filepath.IsAbs(p) {
		return nil, fmt.Errorf("there is no program %q that could be run here", out[0])
	}
	out[0] = p
	return out, nil
}

// programSum is the SHA-256 of a program, lower-case hex, so that what is run is what
// was there when the plan was made.
func programSum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read the program: %w", err)
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", path)
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, maxProgram)); err != nil {
		return "", fmt.Errorf("read the program: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
