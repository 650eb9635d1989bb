package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"cordon/internal/untrusted"
)

// MaxJSON is how many bytes of the JSON form Decode reads at most.
const MaxJSON = 64 << 20

// ErrNotSnapshot is wrapped by every error of Decode that is not the reader's.
var ErrNotSnapshot = errors.New("not a snapshot that this build reads")

// Encode writes the JSON form, with unprintable characters escaped.
func (s *Snapshot) Encode(w io.Writer) error {
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("write snapshot of %s: %w", s.Host, err)
	}
	if _, err := w.Write(append(untrusted.EscapeJSON(b), '\n')); err != nil {
		return fmt.Errorf("write snapshot of %s: %w", s.Host, err)
	}
	return nil
}

// Decode reads what Encode wrote. Unknown fields, another schema, anything behind
// the document and more than MaxJSON bytes are refused.
func Decode(r io.Reader) (*Snapshot, error) {
	b, err := io.ReadAll(io.LimitReader(r, MaxJSON+1))
	if err != nil {
		return nil, fmt.Errorf("read snapshot: %w", err)
	}
	if len(b) > MaxJSON {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrNotSnapshot, MaxJSON)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var s Snapshot
	if err := d.Decode(&s); err != nil {
		return nil, fmt.Errorf("%w: %s", ErrNotSnapshot, untrusted.Clean(err.Error(), 200))
	}
	if s.Schema != Schema {
		return nil, fmt.Errorf("%w: schema %s, want %s", ErrNotSnapshot, untrusted.Clean(s.Schema, 40), Schema)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: something follows the document", ErrNotSnapshot)
	}
	return &s, nil
}
