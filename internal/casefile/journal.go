package casefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// journal appends to journal.jsonl. It is not safe for concurrent use; Case locks.
// Once dead is set nothing is written any more.
type journal struct {
	fs   FS
	path string
	id   string // case
	f    File
	file [2]uint64 // which file we opened
	size int64     // bytes that are synced
	last Line
	raw  []byte // last, with its LF
	dead error
}

// openJournal opens a journal that was verified as c, for appending.
func openJournal(f FS, path, id string, c chain) (*journal, error) {
	file, err := f.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &journal{
		fs: f, path: path, id: id, f: file, file: info.ID,
		size: int64(len(c.whole)), last: c.last(), raw: bytes.Clone(c.lastRaw()),
	}, nil
}

// append writes l, whose bytes are raw, and syncs. ErrNoSpace means that the file is
// as it was. ErrPoisoned means that nobody knows: the system may have dropped the
// bytes and call the next sync good, so nothing follows.
func (j *journal) append(l Line, raw []byte) error {
	if j.dead != nil {
		return j.dead
	}
	if err := j.unchanged(); err != nil {
		if errors.Is(err, ErrFenced) || errors.Is(err, ErrBroken) {
			j.dead = err
		}
		return err
	}
	n, err := j.f.Write(raw)
	if err == nil && n < len(raw) {
		err = io.ErrShortWrite
	}
	if err != nil {
		if full(err) && j.takeBack() == nil {
			return noSpace(err)
		}
		return j.poison(err)
	}
	if err := j.f.Sync(); err != nil {
		return j.poison(err)
	}
	j.size, j.last, j.raw = j.size+int64(len(raw)), l, raw
	return nil
}

// takeBack returns the file to its synced size after a write for which there was no
// room. Nothing of the lines before was touched, so a good sync here is to be trusted.
func (j *journal) takeBack() error {
	if err := j.f.Truncate(j.size); err != nil {
		return err
	}
	return j.f.Sync()
}

func (j *journal) poison(err error) error {
	j.dead = fmt.Errorf("%w: %w; nothing more is written here, open the case again to verify it", ErrPoisoned, noSpace(err))
	return j.dead
}

// unchanged compares the file with what we wrote: the path still leads to our file,
// its size is ours, and its last line is ours.
func (j *journal) unchanged() error {
	info, err := j.fs.Lstat(j.path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: its directory was moved or removed", ErrFenced)
	}
	if err != nil {
		return fmt.Errorf("look at %s before writing: %w", j.path, err)
	}
	if info.ID != j.file {
		return j.changed("the directory was moved or replaced by a copy")
	}
	if info.Size != j.size {
		return j.changed(fmt.Sprintf("it has %d bytes, we wrote %d", info.Size, j.size))
	}
	tail := make([]byte, len(j.raw))
	if _, err := j.f.ReadAt(tail, j.size-int64(len(tail))); err != nil && !isEOF(err) {
		return fmt.Errorf("read %s before writing: %w", j.path, err)
	}
	if !bytes.Equal(tail, j.raw) {
		return j.changed("its last line is not the one we wrote")
	}
	return nil
}

// changed tells a rightful new writer from damage.
func (j *journal) changed(how string) error {
	raw, err := readAll(j.fs, j.path, MaxJournal)
	if err != nil {
		return broken(0, "journal changed under us: %s, and cannot be read: %v", how, err)
	}
	c, err := verify(raw, j.id)
	if err != nil {
		return broken(0, "journal changed under us: %s; %v", how, err)
	}
	if len(c.lines) < j.last.Seq || c.lines[j.last.Seq-1].sum != j.last.sum {
		return broken(0, "journal changed under us: %s, and our line %d is gone", how, j.last.Seq)
	}
	who := how
	for _, l := range c.lines[j.last.Seq:] {
		if l.Kind == "take" {
			who = takenBy(l)
		}
	}
	return fmt.Errorf("%w: %s; read it, or take it again", ErrFenced, who)
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) }
