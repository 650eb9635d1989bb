package casefile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"cordon/internal/evidence"
)

// Origin is the data of an import line: where the case came from.
type Origin struct {
	Bundle  string `json:"bundle"`         // SHA-256 of the archive
	Signer  string `json:"signer"`         // fingerprint
	Allowed string `json:"allowed"`        // principal, empty: the signer was not checked
	Head    string `json:"head"`           // last line that came along
	Lines   int    `json:"lines"`          // how many came along
	Why     string `json:"why,omitempty"`  // of whoever brought it here
	Lost    int    `json:"lost,omitempty"` // items that did not come along
}

// Brought is where a case was imported from last; zero: it was opened here.
func Brought(v *View) Origin {
	var o Origin
	for _, l := range v.Lines {
		if l.Kind == "import" {
			o = Origin{}
			_ = json.Unmarshal(l.Data, &o) // a line of our own kind
		}
	}
	return o
}

// Arrival takes the files of a case that is being imported. Bytes go to names of our
// own; nothing that comes in chooses a path.
type Arrival struct{ c *Case }

// Journal takes the journal, as it was.
func (a *Arrival) Journal(r io.Reader) error { return a.file(journalName, r, MaxJournal) }

// Torn takes the torn lines that the journal's resume lines speak of.
func (a *Arrival) Torn(r io.Reader) error { return a.file(tornName, r, MaxJournal) }

// Head takes the signature over line seq.
func (a *Arrival) Head(seq int, r io.Reader) error {
	if seq < 1 {
		return fmt.Errorf("%w: head of line %d", ErrEvent, seq)
	}
	return a.file(fmt.Sprintf("%s/%04d.sig", headsName, seq), r, 64<<10)
}

// Blob takes evidence, or the playbook, and names it by its digest.
func (a *Arrival) Blob(r io.Reader) error {
	in := &capped{ctx: context.Background(), r: r, left: MaxItem}
	_, _, err := a.c.store(in)
	if err == nil && in.more {
		err = fmt.Errorf("%w: a file of more than %d bytes", ErrEvent, MaxItem)
	}
	return err
}

func (a *Arrival) file(name string, r io.Reader, limit int64) error {
	f, err := a.c.s.create(a.c.path(name), os.O_WRONLY|os.O_EXCL)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, io.LimitReader(r, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("%w: %s of more than %d bytes", ErrEvent, name, limit)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Import makes a case of what fill brings, and takes it. Before it gets its place,
// everything is verified as a reader would: the chain, the signed heads, every blob.
// The first lines here are a take and an import line. What the record names and fill
// did not bring becomes a gap. Errors: ErrExists, ErrPurged, ErrBroken, and those of
// Create and fill.
func (s *Store) Import(ctx context.Context, id string, a Actor, o Origin, fill func(*Arrival) error) (*Case, error) {
	dir, err := s.caseDir(id)
	if err != nil {
		return nil, err
	}
	if err := alive(ctx, "import", id); err != nil {
		return nil, err
	}
	if a, err = a.here(); err == nil {
		err = s.vacant(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("import case %s: %w", id, err)
	}
	c := &Case{s: s, id: id, actor: a, opened: s.clock.Now()}
	if err := c.arrive(dir, o, fill); err != nil {
		return nil, fmt.Errorf("import case %s: %w", id, errors.Join(noSpace(err), c.discard()))
	}
	return c, nil
}

func (c *Case) arrive(dir string, o Origin, fill func(*Arrival) error) error {
	if err := c.hidden(); err != nil {
		return err
	}
	if err := fill(&Arrival{c}); err != nil {
		return err
	}
	for _, d := range []string{c.path(headsName), c.dir} {
		if err := c.s.fs.SyncDir(d); err != nil {
			return err
		}
	}
	lost, err := c.inspect(o)
	if err != nil {
		return err
	}
	why := o.Why
	if why == "" {
		why = "imported"
	}
	if err := c.recover(why); err != nil {
		return err
	}
	o.Lost = len(lost)
	d, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if _, err := c.append(Event{Kind: "import", OK: o.Allowed != "", Msg: o.Why, Data: d}); err != nil {
		return err
	}
	for _, g := range lost {
		if err := c.record("gap", g.Why, g); err != nil {
			return err
		}
	}
	if err := c.fill(); err != nil {
		return err
	}
	if err := c.s.fs.Rename(c.dir, dir); err != nil {
		if _, there := c.s.fs.Lstat(dir); there == nil {
			return fmt.Errorf("%w: somebody else made it just now", ErrExists)
		}
		return err
	}
	c.dir, c.j.path = dir, filepath.Join(dir, journalName)
	c.dirs.Clear() // they were durable under the old name
	return c.s.fs.SyncDir(c.s.dir)
}

// inspect verifies what has arrived, before a line is added to it.
func (c *Case) inspect(o Origin) (lost []evidence.Gap, err error) {
	v, err := c.s.readIn(c.dir, c.id)
	if err != nil {
		return nil, err
	}
	if v.Head != o.Head || len(v.Lines) != o.Lines || len(v.Torn) > 0 {
		return nil, broken(0, "the journal ends in line %d, %s; %s was announced", len(v.Lines), v.Head, o.Head)
	}
	if _, err := v.Heads(); err != nil {
		return nil, err
	}
	if err := c.tornIsWhole(v.Lines); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, it := range v.Items {
		if seen[it.Digest] {
			continue
		}
		seen[it.Digest] = true
		r, err := v.Blob(it.Digest)
		if errors.Is(err, ErrNoBlob) {
			lost = append(lost, evidence.Gap{Name: it.Name, Why: "it is on record and did not come along when the case was imported", At: c.opened})
			continue
		}
		if err == nil {
			_, err = io.Copy(io.Discard, r)
			err = errors.Join(err, r.Close())
		}
		if err != nil {
			return nil, err
		}
	}
	return lost, nil
}

// tornIsWhole compares journal.torn with what the resume lines say of it.
func (c *Case) tornIsWhole(lines []Line) error {
	b, err := readAll(c.s.fs, c.path(tornName), MaxJournal)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, l := range lines {
		var d resumeData
		if l.Kind != "resume" || json.Unmarshal(l.Data, &d) != nil || d.Torn == nil {
			continue
		}
		t := *d.Torn
		if t.Offset < 0 || t.Bytes < 0 || t.Offset > int64(len(b)) || t.Bytes > int64(len(b))-t.Offset || digest(b[t.Offset:t.Offset+t.Bytes]) != t.SHA256 {
			return broken(l.Seq, "%s does not hold the bytes that it speaks of", tornName)
		}
	}
	return nil
}

// SetAside is what was cut off the journal as torn, byte for byte; empty: nothing.
func (v *View) SetAside() ([]byte, error) {
	b, err := readAll(v.fs, filepath.Join(v.dir, tornName), MaxJournal)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}
