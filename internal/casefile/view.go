package casefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"cordon/internal/evidence"
)

// View is a case as it was when it was read. Its fields are not changed by this
// package; Blob and Heads read the disk and are safe for concurrent use.
type View struct {
	ID        string
	Opening   Opening
	Simulated bool
	Lines     []Line
	Head      string // Sum of the last line
	Raw       []byte // the whole lines, byte for byte
	Items     []evidence.Item
	Gaps      []evidence.Gap
	Torn      []byte // after the last whole line; a writer may be in the middle of it

	fs  FS
	dir string
}

// Read verifies a case without a lock and without touching it. Errors: ErrBroken,
// ErrVersion, ErrNotFound, ErrCaseID, ErrUnsafeState.
func (s *Store) Read(id string) (*View, error) {
	dir, err := s.caseDir(id)
	if err != nil {
		return nil, err
	}
	if err := s.safe(dir); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = ErrNotFound
		}
		return nil, fmt.Errorf("read case %s: %w", id, err)
	}
	v, err := s.readIn(dir, id)
	if err != nil {
		return nil, fmt.Errorf("read case %s: %w", id, err)
	}
	return v, nil
}

// readIn reads a case that lies in dir, which may not have its place yet.
func (s *Store) readIn(dir, id string) (*View, error) {
	if err := s.notPurged(dir); err != nil {
		return nil, err
	}
	c, err := s.readChain(dir, id)
	if err != nil {
		return nil, err
	}
	v := &View{ID: id, Lines: c.lines, Head: c.last().sum, Raw: c.whole, Torn: c.torn, fs: s.fs, dir: dir}
	return v, v.fill()
}

// readChain verifies the journal and that no signed head is beyond its end. A reader
// may meet a writer that cuts a torn line off: what looks broken is read once more,
// and it is broken if it has not changed.
func (s *Store) readChain(dir, id string) (chain, error) {
	name := filepath.Join(dir, journalName)
	if err := s.safeFile(name); errors.Is(err, fs.ErrNotExist) {
		return chain{}, broken(0, "there is no %s", journalName)
	} else if err != nil {
		return chain{}, err
	}
	var before []byte
	for try := 0; ; try++ {
		signed, err := signedSeqs(s.fs, dir) // before the journal, which is ahead of them
		if err != nil {
			return chain{}, err
		}
		raw, err := readAll(s.fs, name, MaxJournal)
		if err != nil {
			return chain{}, err
		}
		c, err := s.verify(raw, id)
		for _, seq := range signed {
			if err == nil && seq > len(c.lines) {
				err = broken(0, "line %d was signed and is not there: the journal was cut at line %d", seq, len(c.lines))
			}
		}
		if err == nil || bytes.Equal(before, raw) || try == 9 {
			return c, err
		}
		before = raw
	}
}

// fill reads what the lines say.
func (v *View) fill() error {
	first := v.Lines[0]
	var o openData
	if err := json.Unmarshal(first.Data, &o); err != nil {
		return broken(1, "opening: %v", err)
	}
	v.Simulated = first.Simulated
	v.Opening = Opening{
		ID: v.ID, Title: o.Title, Kind: o.Kind, Simulated: first.Simulated,
		Targets: o.Targets, Window: o.Window, Tool: o.Tool, Recipients: o.Recipients,
	}
	if p := o.Playbook; p != nil {
		b, err := v.all(p.SHA256)
		if err != nil {
			return fmt.Errorf("playbook %q: %w", clean1(p.Name), err)
		}
		v.Opening.Playbook, v.Opening.PlaybookName, v.Opening.Replaces = b, p.Name, p.Replaces
	}
	for _, l := range v.Lines {
		switch l.Kind {
		case "evidence":
			var it evidence.Item
			if err := json.Unmarshal(l.Data, &it); err != nil || !ValidItemName(it.Name) || !isDigest(it.Digest) {
				return broken(l.Seq, "not an item of evidence")
			}
			v.Items = append(v.Items, it)
		case "gap":
			var g evidence.Gap
			if err := json.Unmarshal(l.Data, &g); err != nil {
				return broken(l.Seq, "not a gap")
			}
			v.Gaps = append(v.Gaps, g)
		}
	}
	return nil
}

// PlaybookSum is the digest of the playbook that the case was opened with; empty: none.
func (v *View) PlaybookSum() string {
	if len(v.Opening.Playbook) == 0 {
		return ""
	}
	return digest(v.Opening.Playbook)
}

func (v *View) all(sum string) ([]byte, error) {
	r, err := v.Blob(sum)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(r)
	return b, errors.Join(err, r.Close())
}
