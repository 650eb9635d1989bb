package bundle

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"cordon/internal/casefile"
	"cordon/internal/evidence"
	"cordon/internal/untrusted"
)

// journal checks the chain while it is written to, a line at a time, and keeps what
// the other rows need. It never fails as a writer: the digest of the file is wanted
// whatever is in it.
type journal struct {
	line   []byte
	long   bool
	lines  int
	head   string     // of the last good line
	sums   [][32]byte // of every line; 32 bytes a line, as there may be millions
	times  []int64    // of every line, milliseconds since 1970
	broken string     // the first thing that is wrong

	caseID    string
	simulated bool
	playbook  string // digest, empty: none
	items     []evidence.Item
	gaps      int
	heads     []headData
	writers   map[string]bool // keys of those who took the case
	agreed    []agreed
}

type headData struct {
	Seq  int    `json:"seq"`
	Head string `json:"head"`
	Key  string `json:"key"`
	at   int    // the line that says so
}

// Write implements io.Writer.
func (j *journal) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		part := p
		if end >= 0 {
			part = p[:end]
		}
		if len(j.line)+len(part) > casefile.MaxLine {
			j.long = true
		} else {
			j.line = append(j.line, part...)
		}
		if end < 0 {
			break
		}
		j.next()
		p = p[end+1:]
	}
	return n, nil
}

func (j *journal) finish() {
	if len(j.line) > 0 || j.long {
		j.fail("the last line has no end")
	}
	if j.lines == 0 {
		j.fail("there is no line")
	}
	j.line = nil
}

func (j *journal) fail(format string, args ...any) {
	if j.broken == "" {
		j.broken = fmt.Sprintf(format, args...)
	}
}

func (j *journal) next() {
	raw, long := j.line, j.long
	j.line, j.long = j.line[:0], false
	j.lines++
	if j.broken != "" {
		return
	}
	if long {
		j.fail("line %d is longer than %d bytes", j.lines, casefile.MaxLine)
		return
	}
	var l casefile.Line
	if err := l.UnmarshalJSON(raw); err != nil {
		if errors.Is(err, casefile.ErrVersion) {
			j.fail("line %d was written by a newer cordon; use that to verify", j.lines)
			return
		}
		j.fail("line %d cannot be read: %s", j.lines, untrusted.Clean(err.Error(), 120))
		return
	}
	prev := j.head
	if j.lines == 1 {
		prev, j.caseID, j.simulated = casefile.First, l.Case, l.Simulated
	}
	switch {
	case l.Prev != prev:
		j.fail("line %d does not name the line before it: a line was changed, dropped or put in", j.lines)
	case l.Seq != j.lines:
		j.fail("line %d says it is %d", j.lines, l.Seq)
	case l.Case != j.caseID:
		j.fail("line %d belongs to the case %s", j.lines, untrusted.Clean(l.Case, 80))
	case (l.Kind == "open") != (j.lines == 1):
		j.fail("line %d is of the kind %s", j.lines, untrusted.Clean(l.Kind, 40))
	case l.Simulated && j.lines > 1:
		j.fail("line %d says simulated, which only the first may", j.lines)
	default:
		if err := j.note(l); err != nil {
			j.fail("line %d: its data cannot be read: %s", j.lines, untrusted.Clean(err.Error(), 120))
			return
		}
		j.head = l.Sum()
		var sum [32]byte
		_, _ = hex.Decode(sum[:], []byte(j.head)) // casefile made it
		j.sums = append(j.sums, sum)
		j.times = append(j.times, l.T.UnixMilli())
	}
}

// note keeps what a line says about files.
func (j *journal) note(l casefile.Line) error {
	switch l.Kind {
	case "open":
		var d struct {
			Playbook struct {
				SHA256 string `json:"sha256"`
			} `json:"playbook"`
		}
		err := json.Unmarshal(l.Data, &d)
		j.playbook = d.Playbook.SHA256
		return err
	case "evidence":
		var it evidence.Item
		if err := json.Unmarshal(l.Data, &it); err != nil {
			return err
		}
		if !casefile.ValidItemName(it.Name) {
			return errors.New("not a name for evidence")
		}
		j.items = append(j.items, it)
	case "gap":
		j.gaps++
	case "approve":
		return j.approved(l)
	case "take":
		if j.writers == nil {
			j.writers = map[string]bool{}
		}
		j.writers[l.Key] = true
	case "head":
		h := headData{at: l.Seq}
		if err := json.Unmarshal(l.Data, &h); err != nil {
			return err
		}
		j.heads = append(j.heads, h)
	}
	return nil
}
