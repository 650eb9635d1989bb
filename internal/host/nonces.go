package host

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"cordon/internal/statedir"
)

// ErrUsed means that a script's answer came before: each is for one read.
var ErrUsed = errors.New("the answer to this script was taken already")

// Issued is one script that was printed, and whether its answer came.
type Issued struct {
	Nonce   string    `json:"nonce"`
	Host    string    `json:"host,omitempty"` // whom it was printed for; empty: said when its answer comes
	Profile string    `json:"profile"`
	Script  string    `json:"script"` // SHA-256 of the script's text
	Made    time.Time `json:"made"`
	Used    bool      `json:"used,omitempty"` // a whole answer was taken
}

// Nonces is the list of printed scripts: JSON lines, the last line of a nonce counts.
// Several processes may use one; the file is made when the first script is printed.
type Nonces struct{ Path string }

const maxNonces = 16 << 20 // bytes of the list

// Add notes a printed script, or that its answer was taken.
func (n Nonces) Add(is Issued) error {
	f, err := statedir.Append(n.Path)
	if err != nil {
		return fmt.Errorf("list of printed scripts: %w", err)
	}
	b, _ := json.Marshal(is) // a struct of texts and a time marshals
	_, err = f.Write(append(b, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("list of printed scripts, %s: %w", n.Path, err)
	}
	return nil
}

// Find returns the printed script of nonce: ErrNotOurs where there is none, ErrUsed
// where its answer was taken.
func (n Nonces) Find(nonce string) (Issued, error) {
	f, err := os.Open(n.Path)
	if errors.Is(err, os.ErrNotExist) {
		return Issued{}, fmt.Errorf("%w: none was printed from %s; use the state directory that printed it", ErrNotOurs, filepath.Dir(n.Path))
	}
	if err != nil {
		return Issued{}, fmt.Errorf("list of printed scripts: %w", err)
	}
	defer f.Close()
	var found Issued
	sc := bufio.NewScanner(io.LimitReader(f, maxNonces))
	for sc.Scan() {
		var is Issued
		if json.Unmarshal(sc.Bytes(), &is) == nil && is.Nonce == nonce {
			found = is
		}
	}
	switch {
	case sc.Err() != nil:
		return Issued{}, fmt.Errorf("list of printed scripts, %s: %w", n.Path, sc.Err())
	case found.Nonce == "":
		return Issued{}, fmt.Errorf("%w: nonce %s is not among those printed from %s", ErrNotOurs, nonce, filepath.Dir(n.Path))
	case found.Used:
		return found, fmt.Errorf("%w: print a new one for another read", ErrUsed)
	}
	return found, nil
}
