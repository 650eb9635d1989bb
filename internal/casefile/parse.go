package casefile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cordon/internal/untrusted"
)

// parseLine reads one line without its LF. It is strict, so that no two readers can
// understand the same bytes differently: exact key names, each once, in the fixed
// order, nothing after the object, no raw control characters.
func parseLine(b []byte) (Line, error) {
	if len(b) >= MaxLine {
		return Line{}, fmt.Errorf("longer than %d bytes", MaxLine)
	}
	if !clean(b) {
		return Line{}, errors.New("raw control characters or invalid UTF-8")
	}
	if err := orderedKeys(b); err != nil {
		return Line{}, err
	}
	var w wire
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&w); err != nil {
		return Line{}, err
	}
	if w.V < Version {
		return Line{}, fmt.Errorf("v is %d: there is no such version", w.V)
	}
	if w.V > Version {
		return Line{}, fmt.Errorf("%w: v %d, this build reads %d", ErrVersion, w.V, Version)
	}
	if !bytes.HasPrefix(b, fmt.Appendf(nil, `{"v":%d,"seq":%d,"prev":"%s","t":"`, w.V, w.Seq, w.Prev)) {
		return Line{}, errors.New("does not begin with v, seq, prev and t as they are written")
	}
	t, err := time.Parse(stamp, w.T)
	if err != nil {
		return Line{}, fmt.Errorf("time %q is not UTC with milliseconds", w.T)
	}
	l := Line{
		V: w.V, Seq: w.Seq, Prev: w.Prev, T: t, MonoMS: w.MonoMS, Actor: w.Actor, Key: w.Key, Host: w.Host,
		Session: w.Session, Case: w.Case, Simulated: w.Simulated,
		Event: Event{
			Step: w.Step, Kind: w.Kind, OK: w.OK, Target: w.Target, Req: w.Req, Status: w.Status,
			Evidence: w.Evidence, Msg: w.Msg, Data: w.Data,
		},
		sum: digest(append(slices.Clip(b), '\n')),
	}
	return l, l.check()
}

func orderedKeys(b []byte) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return errors.New("not a JSON object")
	}
	next := 0
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		i := slices.Index(keys[next:], name)
		if i < 0 {
			return fmt.Errorf("key %q is unknown, repeated or out of order", untrusted.Clean(name, 40))
		}
		next += i + 1
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("something follows the object")
	}
	return nil
}

// clean reports whether b is UTF-8 that no terminal acts on, on one line.
func clean(b []byte) bool {
	return utf8.Valid(b) && !bytes.ContainsAny(b, "\n\t") && bytes.Equal(untrusted.EscapeJSON(b), b)
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// isDigest reports whether s is a SHA-256 in lower-case hex.
func isDigest(s string) bool {
	if len(s) != 64 {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}
