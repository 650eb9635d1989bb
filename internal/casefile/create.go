package casefile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"cordon/internal/target"
)

// Create makes a case and takes it. Its directory appears whole, with the open and
// the take line, or not at all. Errors: ErrCaseID, ErrExists, ErrNoSpace, ErrEvent.
func (s *Store) Create(ctx context.Context, o Opening, a Actor) (*Case, error) {
	dir, err := s.caseDir(o.ID)
	if err != nil {
		return nil, err
	}
	if err := alive(ctx, "create", o.ID); err != nil {
		return nil, err
	}
	if a, err = a.here(); err != nil {
		return nil, fmt.Errorf("create case %s: %w", o.ID, err)
	}
	if err := s.vacant(dir); err != nil {
		return nil, fmt.Errorf("create case %s: %w", o.ID, err)
	}
	c := &Case{s: s, id: o.ID, actor: a, epoch: 1, opened: s.clock.Now()}
	if err := c.build(o, dir); err != nil {
		return nil, fmt.Errorf("create case %s: %w", o.ID, errors.Join(noSpace(err), c.discard()))
	}
	return c, nil
}

// build makes the case in a hidden directory and moves it into place.
func (c *Case) build(o Opening, dir string) error {
	if err := c.hidden(); err != nil {
		return err
	}
	data := openData{Format: format, Title: o.Title, Kind: o.Kind, Targets: o.Targets, Window: o.Window, Tool: o.Tool, Recipients: o.Recipients}
	if data.Targets == nil {
		data.Targets = []target.Ref{}
	}
	if len(o.Playbook) > 0 {
		sum, err := c.putBytes(o.Playbook)
		if err != nil {
			return err
		}
		data.Playbook = &playbookData{Name: o.PlaybookName, SHA256: sum, Size: int64(len(o.Playbook)), Replaces: o.Replaces}
	}
	if err := c.firstLine(data, o.Simulated); err != nil {
		return err
	}
	if err := c.take(nil); err != nil {
		return err
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
	return c.s.fs.SyncDir(c.s.dir)
}

// hidden makes the empty case, locked, in a directory that no listing shows.
func (c *Case) hidden() error {
	if err := c.hiddenDir(); err != nil {
		return err
	}
	lock, err := c.s.create(c.path(lockName), os.O_RDWR)
	if err != nil {
		return err
	}
	c.lock = lock
	if err := lock.Lock(); err != nil {
		return err
	}
	for _, d := range []string{headsName, blobsName, filepath.Join(blobsName, "sha256")} {
		if err := c.s.mkdir(c.path(d)); err != nil {
			return err
		}
	}
	return nil
}

func (c *Case) hiddenDir() error {
	for n := range 1000 { // left over from a crash, or another process with our pid elsewhere
		c.dir = filepath.Join(c.s.dir, fmt.Sprintf(".new-%s-%d-%d", c.id, os.Getpid(), n))
		err := c.s.mkdir(c.dir)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return fmt.Errorf("%s: remove the directories .new-%s-*", c.s.dir, c.id)
}

func (c *Case) firstLine(data openData, simulated bool) error {
	d, err := json.Marshal(data)
	if err == nil {
		err = json.Unmarshal(d, &openData{}) // what would not be read again is not written
	}
	if err != nil {
		return fmt.Errorf("%w: opening: %w", ErrEvent, err)
	}
	l, _, err := c.next(Event{Kind: "open", OK: true, Data: d}, 1, First)
	if err != nil {
		return err
	}
	l.Simulated = simulated
	raw, err := l.encode()
	if err != nil {
		return err
	}
	f, err := c.s.create(c.path(journalName), os.O_WRONLY|os.O_EXCL)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := c.s.fs.SyncDir(c.dir); err != nil {
		return err
	}
	ch, err := verify(raw, c.id)
	if err != nil {
		return fmt.Errorf("%w: opening: %w", ErrEvent, err)
	}
	c.j, err = openJournal(c.s.fs, c.path(journalName), c.id, ch)
	return err
}

// discard removes what build made, as far as it goes, before the lock is let go.
func (c *Case) discard() error {
	err := removeTree(c.s.fs, c.dir)
	if err == nil {
		err = c.s.fs.SyncDir(c.s.dir)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if c.j != nil {
		_ = c.j.f.Close() // removed
	}
	if c.lock != nil {
		_ = c.lock.Close() // removed
	}
	if err != nil {
		return fmt.Errorf("and %s could not be removed: %w", c.dir, err)
	}
	return nil
}

func removeTree(f FS, name string) error {
	info, err := f.Lstat(name)
	if err != nil {
		return err
	}
	if info.Mode.IsDir() {
		names, err := f.ReadDir(name)
		if err != nil {
			return err
		}
		for _, n := range names {
			if err := removeTree(f, filepath.Join(name, n)); err != nil {
				return err
			}
		}
	}
	return f.Remove(name)
}
