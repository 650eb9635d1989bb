package casefile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"cordon/internal/target"
	"cordon/internal/untrusted"
)

// Version is the v of every line that this build writes and reads.
const Version = 1

// First is the prev of the first line.
var First = strings.Repeat("0", 64)

const stamp = "2006-01-02T15:04:05.000Z"

// Line is one line of a journal. Its JSON is the form on disk, without the LF.
type Line struct {
	V         int
	Seq       int    // from 1
	Prev      string // SHA-256 of the line before with its LF, lower-case hex; First on line 1
	T         time.Time
	MonoMS    int64 // milliseconds on the writer's clock since it opened the case; steps of the wall clock do not show here
	Actor     string
	Key       string
	Host      string
	Session   string
	Case      string
	Simulated bool // only on line 1
	Event

	sum string
}

// Sum is the SHA-256 of the line with its LF, lower-case hex: the prev of the next
// line, and the head of the chain if this is the last. Empty for a Line that was
// not read from or written to a journal.
func (l Line) Sum() string { return l.sum }

// wire fixes the names and the order of the keys.
type wire struct {
	V         int             `json:"v"`
	Seq       int             `json:"seq"`
	Prev      string          `json:"prev"`
	T         string          `json:"t"`
	MonoMS    int64           `json:"mono_ms"`
	Actor     string          `json:"actor"`
	Key       string          `json:"key,omitempty"`
	Host      string          `json:"host,omitempty"`
	Session   string          `json:"session,omitempty"`
	Case      string          `json:"case"`
	Simulated bool            `json:"simulated,omitempty"`
	Step      string          `json:"step,omitempty"`
	Kind      string          `json:"kind"`
	OK        bool            `json:"ok"`
	Target    target.Ref      `json:"target,omitzero"`
	Req       *Request        `json:"req,omitempty"`
	Status    int             `json:"status,omitempty"`
	Evidence  []Ref           `json:"evidence,omitempty"`
	Msg       string          `json:"msg,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
}

var keys = []string{
	"v", "seq", "prev", "t", "mono_ms", "actor", "key", "host", "session", "case", "simulated",
	"step", "kind", "ok", "target", "req", "status", "evidence", "msg", "data",
}

// MarshalJSON implements json.Marshaler.
func (l Line) MarshalJSON() ([]byte, error) {
	b, err := l.encode()
	return bytes.TrimSuffix(b, []byte("\n")), err
}

// UnmarshalJSON implements json.Unmarshaler; it is as strict as a reader of journals.
func (l *Line) UnmarshalJSON(b []byte) error {
	v, err := parseLine(b)
	if err == nil {
		*l = v
	}
	return err
}

// encode gives the bytes on disk, with the LF. No byte of it can act on a terminal.
func (l Line) encode() ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // journals are read by people too
	err := enc.Encode(wire{
		V: l.V, Seq: l.Seq, Prev: l.Prev, T: l.T.UTC().Format(stamp), MonoMS: l.MonoMS,
		Actor: l.Actor, Key: l.Key, Host: l.Host, Session: l.Session, Case: l.Case, Simulated: l.Simulated,
		Step: l.Step, Kind: l.Kind, OK: l.OK, Target: l.Target, Req: l.Req, Status: l.Status,
		Evidence: l.Evidence, Msg: l.Msg, Data: l.Data,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEvent, err)
	}
	out := untrusted.EscapeJSON(buf.Bytes())
	if len(out) > MaxLine {
		return nil, fmt.Errorf("%w: the line would be %d bytes, at most %d; keep it as evidence and refer to it", ErrEvent, len(out), MaxLine)
	}
	return out, nil
}
