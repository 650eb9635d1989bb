package casefile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// setAside moves a torn tail to journal.torn and cuts it off the journal. It returns
// what the resume line has to say, nil if there is nothing to say. A crash at any
// point in between loses no byte: what journal.torn holds and no resume line speaks
// of is found by the next take.
func (c *Case) setAside(ch chain) (*tornLine, error) {
	name := c.path(tornName)
	saved, err := readAll(c.s.fs, name, MaxJournal)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	from := ch.accounted()
	if from > int64(len(saved)) {
		return nil, broken(0, "%s has %d bytes, the journal speaks of %d", tornName, len(saved), from)
	}
	if !bytes.HasSuffix(saved[from:], ch.torn) {
		saved = append(saved, ch.torn...)
	}
	rest := saved[from:]
	if len(rest) == 0 {
		return nil, nil
	}
	// Also what is there already: a take whose sync failed may have left it in memory only.
	if err := c.saveTorn(name, from, rest); err != nil {
		return nil, fmt.Errorf("set the torn line aside: %w", err)
	}
	if len(ch.torn) > 0 {
		if err := c.j.takeBack(); err != nil {
			return nil, fmt.Errorf("%w: cut off the torn line: %w", ErrPoisoned, err)
		}
	}
	return &tornLine{Offset: from, Bytes: int64(len(rest)), SHA256: digest(rest)}, nil
}

// saveTorn writes b into the file of torn lines, in the reserve if there is no room.
func (c *Case) saveTorn(name string, at int64, b []byte) error {
	f, err := c.s.create(name, os.O_RDWR)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, at)
	if full(err) && c.spend() {
		_, err = f.WriteAt(b, at)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return noSpace(err)
	}
	return c.s.fs.SyncDir(c.dir)
}
