package casefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
)

// chain is a verified journal.
type chain struct {
	lines []Line
	whole []byte // the bytes of the lines
	torn  []byte // what follows the last whole line
}

func (c chain) last() Line { return c.lines[len(c.lines)-1] }

// lastRaw is the last line with its LF.
func (c chain) lastRaw() []byte {
	return c.whole[bytes.LastIndexByte(c.whole[:len(c.whole)-1], '\n')+1:]
}

// verify is the function verify; of a journal that begins with the bytes that were
// verified last, only the rest is parsed. What lines mean follows from their bytes
// alone, so the answer is the same.
func (s *Store) verify(raw []byte, id string) (chain, error) {
	s.mu.Lock()
	known := s.known
	s.mu.Unlock()
	if len(known.lines) == 0 || known.lines[0].Case != id || !bytes.HasPrefix(raw, known.whole) {
		known = chain{}
	}
	c, err := verifyAfter(known, raw, id)
	if err == nil {
		s.mu.Lock()
		s.known = chain{lines: slices.Clip(c.lines), whole: c.whole}
		s.mu.Unlock()
	}
	return c, err
}

// verify reads a journal. A torn tail (no LF, or bytes at the very end that are not
// JSON) is set apart; everything else that is wrong is ErrBroken with its line, or
// ErrVersion. The error never hides a tail that is valid JSON: a line that this build
// does not understand is not rubbish.
func verify(raw []byte, id string) (chain, error) { return verifyAfter(chain{}, raw, id) }

// verifyAfter is verify where the lines of known, with which raw begins, are known to
// be whole.
func verifyAfter(known chain, raw []byte, id string) (chain, error) {
	c, prev, rest := chain{lines: slices.Clip(known.lines)}, First, raw[len(known.whole):]
	if len(c.lines) > 0 {
		prev = c.last().sum
	}
	for len(rest) > 0 {
		n := len(c.lines) + 1
		end := bytes.IndexByte(rest, '\n')
		if isTorn(rest, end) {
			break
		}
		if end < 0 {
			return c, broken(n, "something stands where its line end was")
		}
		l, err := parseLine(rest[:end])
		switch {
		case errors.Is(err, ErrVersion):
			if !follows(rest[:end], rest[end+1:], n, prev) {
				return c, broken(n, "it says that a newer version wrote it, and does not fit between the lines around it")
			}
			return c, err
		case err != nil:
			return c, broken(n, "%v", err)
		case l.Seq != n:
			return c, broken(n, "seq is %d", l.Seq)
		case l.Prev != prev:
			return c, broken(n, "prev is not the digest of the line before: a line was changed, dropped or put in")
		case l.Case != id:
			return c, broken(n, "belongs to case %q", l.Case)
		case (n == 1) != (l.Kind == "open"):
			return c, broken(n, "kind is %s", l.Kind)
		case l.Simulated && n > 1:
			return c, broken(n, "only the first line says simulated")
		}
		c.lines = append(c.lines, l)
		prev, rest = l.sum, rest[end+1:]
	}
	if len(c.lines) == 0 {
		return c, broken(1, "there is no whole first line")
	}
	c.whole, c.torn = raw[:len(raw)-len(rest)], rest
	if err := c.headsMatch(); err != nil {
		return c, err
	}
	return c, nil
}

// follows reports whether a line of a newer version stands where it says, and the line
// behind it names it: one that somebody put in, or made of another, does not.
func follows(line, behind []byte, n int, prev string) bool {
	var w struct {
		Seq  int
		Prev string
	}
	if json.Unmarshal(line, &w) != nil || w.Seq != n || w.Prev != prev {
		return false
	}
	end := bytes.IndexByte(behind, '\n')
	if end < 0 || isTorn(behind, end) {
		return true
	}
	return json.Unmarshal(behind[:end], &w) == nil && w.Seq == n+1 && w.Prev == digest(append(bytes.Clone(line), '\n'))
}

// isTorn reports whether rest, whose first LF is at end, is what a crash leaves of one
// append: no LF, or nothing but bytes that are not JSON. A whole object with
// something behind it is not: that was a line once.
func isTorn(rest []byte, end int) bool {
	if end >= 0 && end < len(rest)-1 {
		return false
	}
	tail := bytes.TrimRight(bytes.TrimSuffix(rest, []byte("\n")), "\x00") // blocks that were never written
	if json.Valid(tail) && clean(tail) {
		return (end < 0 || len(tail) < end) && bytes.HasSuffix(tail, []byte("}"))
	}
	var object json.RawMessage
	return !bytes.HasPrefix(tail, []byte("{")) || json.NewDecoder(bytes.NewReader(tail)).Decode(&object) != nil
}

// headLine is the data of a head line.
type headLine struct {
	Seq  int    `json:"seq"`
	Head string `json:"head"`
	Sig  string `json:"sig"` // path in the case
	Key  string `json:"key"` // fingerprint
}

func (c chain) headsMatch() error {
	for _, l := range c.lines {
		if l.Kind != "head" {
			continue
		}
		var h headLine
		if err := json.Unmarshal(l.Data, &h); err != nil {
			return broken(l.Seq, "head: %v", err)
		}
		if h.Seq < 1 || h.Seq >= l.Seq || c.lines[h.Seq-1].sum != h.Head {
			return broken(l.Seq, "it signs another line %d than the one that is here", h.Seq)
		}
	}
	return nil
}

// tornLine is the part of a resume line's data that says what was set aside.
type tornLine struct {
	Offset int64  `json:"offset"` // in journal.torn
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

type resumeData struct {
	Torn *tornLine `json:"torn,omitempty"`
}

// accounted is how much of journal.torn the resume lines speak of.
func (c chain) accounted() int64 {
	var n int64
	for _, l := range c.lines {
		var d resumeData
		if l.Kind == "resume" && json.Unmarshal(l.Data, &d) == nil && d.Torn != nil {
			n = max(n, d.Torn.Offset+d.Torn.Bytes)
		}
	}
	return n
}
