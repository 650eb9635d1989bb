package casefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"cordon/internal/target"
)

// Limits of one line, in bytes.
const (
	MaxLine = 1 << 20 // a longer line is refused by Append and by every reader
	MaxMsg  = 8 << 10 // a longer Msg is cut and says so
)

const cutMark = " [cut]"

// Event is what a caller has to say; the journal adds who, when and where.
type Event struct {
	Step     string          // step of the playbook; empty: none
	Kind     string          // "intent", "result", …: a lower-case word
	OK       bool            // how it ended, for kinds that end
	Target   target.Ref      // zero: none
	Req      *Request        // nil: no request was made
	Status   int             // HTTP status or exit code; 0: none
	Evidence []Ref           // what in the case it rests on
	Msg      string          // one line for a person; may hold foreign text
	Data     json.RawMessage // any JSON without fractions; empty: none
}

// Request is one request as it is recorded, never with headers or a body.
type Request struct {
	Method    string    `json:"method"`
	Path      string    `json:"path"`
	IdemKey   string    `json:"idem_key,omitempty"`
	RequestID string    `json:"request_id,omitempty"` // the provider's
	Date      time.Time `json:"date,omitzero"`        // the provider's clock
}

// Ref points at evidence in the case: the item's name and the digest of its blob.
type Ref struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// Actor is who writes. Host, BootID and PID are filled in from this machine where
// they are zero; Name must be set.
type Actor struct {
	Name    string
	Key     string // fingerprint of the signing key; empty: none
	Host    string
	Session string
	BootID  string
	PID     int

	Identity *Identity // who that is and by which clock, for the take line; nil: not recorded
}

func (a Actor) here() (Actor, error) {
	if a.Name == "" {
		return a, fmt.Errorf("%w: the actor has no name", ErrEvent)
	}
	if a.Host == "" {
		a.Host, _ = os.Hostname() // an unnamed machine stays unnamed
	}
	if a.BootID == "" {
		b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // not on every system
		a.BootID = strings.TrimSpace(string(b))
	}
	if a.PID == 0 {
		a.PID = os.Getpid()
	}
	return a, nil
}

var kindShape = regexp.MustCompile(`^[a-z][a-z-]{0,31}$`)

// own are the kinds that only this package writes, because readers rely on their data.
var own = map[string]string{
	"open": "Create", "take": "Take", "evidence": "Put", "gap": "Miss", "head": "SignHead",
	"handover": "HandOver", "import": "Import", "hold": "Hold",
}

func (e Event) check() error {
	if !kindShape.MatchString(e.Kind) {
		return fmt.Errorf("kind %q is not a lower-case word", clean1(e.Kind))
	}
	if len(e.Data) > 0 {
		if err := plainJSON(e.Data); err != nil {
			return fmt.Errorf("data of %s: %w", e.Kind, err)
		}
	}
	return nil
}

// plainJSON accepts one JSON value whose numbers are whole and fit every reader.
func plainJSON(b []byte) error {
	if !json.Valid(b) {
		return errors.New("not JSON")
	}
	for len(b) > 0 {
		switch c := b[0]; {
		case c == '"':
			end := 1
			for b[end] != '"' { // it is valid JSON: there is an end, and an escape has a byte behind it
				if b[end] == '\\' {
					end++
				}
				end++
			}
			b = b[end+1:]
		case c == '-' || c >= '0' && c <= '9':
			n := b[:1+len(b[1:])-len(bytes.TrimLeft(b[1:], "0123456789.eE+-"))]
			if bytes.ContainsAny(n, ".eE") {
				return fmt.Errorf("number %s: fractions and exponents read differently elsewhere, write a string", n)
			}
			b = b[len(n):]
		default:
			b = b[1:]
		}
	}
	return nil
}

// cut shortens s to MaxMsg bytes at a character boundary and marks it.
func cut(s string) string {
	if len(s) <= MaxMsg {
		return s
	}
	s = s[:MaxMsg-len(cutMark)]
	for len(s) > 0 && !utf8.RuneStart(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	if r, w := utf8.DecodeLastRuneInString(s); r == utf8.RuneError && w == 1 {
		s = s[:len(s)-1]
	}
	return s + cutMark
}
