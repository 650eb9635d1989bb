// Package secret holds values that must never be seen outside memory.
//
// A Secret prints, logs and marshals as a placeholder. Only Reveal gives the
// value, and only the code that puts it on a wire calls that. Standard library only.
package secret

import "fmt"

// Placeholder is what a Secret looks like everywhere but in Reveal.
const Placeholder = "[secret]"

// Secret is one credential in memory. The zero value is "none". Values are
// immutable and safe for concurrent use.
type Secret struct{ v *string }

// New wraps a value; the empty string gives the zero Secret.
func New(v string) Secret {
	if v == "" {
		return Secret{}
	}
	return Secret{v: &v}
}

// IsZero reports whether there is no value.
func (s Secret) IsZero() bool { return s.v == nil }

// Reveal returns the value in clear. Call it only where the value leaves for the
// service it belongs to.
func (s Secret) Reveal() string {
	if s.v == nil {
		return ""
	}
	return *s.v
}

// Format implements fmt.Formatter for every verb, so that no verb prints the value.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(Placeholder)) }

// String returns the placeholder.
func (s Secret) String() string { return Placeholder }

// MarshalText returns the placeholder; JSON and YAML encoders use it.
func (s Secret) MarshalText() ([]byte, error) { return []byte(Placeholder), nil }
