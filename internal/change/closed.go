package change

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"cordon/internal/untrusted"
)

// Strict reads arguments or a Before into v, which points to a closed struct. A field that
// it lacks, or anything that follows, is an error: what is not understood was not approved.
func Strict(raw json.RawMessage, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("arguments: %s", untrusted.Clean(err.Error(), 200))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("arguments: something follows")
	}
	return nil
}

// Parse is Strict for what another build may have written: the error is ErrStale.
func Parse[T any](op string, raw json.RawMessage) (T, error) {
	var v T
	if err := Strict(raw, &v); err != nil {
		return v, fmt.Errorf("%w: arguments of %s are not those of this build", ErrStale, untrusted.Text(op))
	}
	return v, nil
}

// Pack writes a closed struct, which always marshals.
func Pack(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("change: a closed struct did not marshal: %v", err))
	}
	return b
}
