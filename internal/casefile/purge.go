package casefile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	tombstoneName   = "tombstone.json"
	tombstoneSchema = "cordon.tombstone/1"
)

// Tombstone is what is left of a case that was purged. Head and Lines are of the
// journal as it was, so that a bundle that left before can be told to be of it.
type Tombstone struct {
	Schema    string    `json:"schema"`
	ID        string    `json:"id"`
	Simulated bool      `json:"simulated,omitempty"`
	Opened    time.Time `json:"opened"`
	Purged    time.Time `json:"purged"`
	By        string    `json:"by"`
	Host      string    `json:"host,omitempty"`
	Reason    string    `json:"reason"`
	Head      string    `json:"head"`
	Lines     int       `json:"lines"`
}

// Tombstone reads what is left of a purged case; fs.ErrNotExist if it was not purged.
func (s *Store) Tombstone(id string) (Tombstone, error) {
	dir, err := s.caseDir(id)
	if err != nil {
		return Tombstone{}, err
	}
	b, err := readAll(s.fs, filepath.Join(dir, tombstoneName), 64<<10)
	if err != nil {
		return Tombstone{}, err
	}
	var t Tombstone
	if err := json.Unmarshal(b, &t); err != nil || t.Schema != tombstoneSchema || t.ID != id {
		return Tombstone{}, fmt.Errorf("case %s: %w", id, broken(0, "%s is not understood", tombstoneName))
	}
	return t, nil
}

// notPurged is ErrPurged where a tombstone lies.
func (s *Store) notPurged(dir string) error {
	_, err := s.fs.Lstat(filepath.Join(dir, tombstoneName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%w; case list shows its tombstone", ErrPurged)
}

// vacant reports why no case can be made at dir.
func (s *Store) vacant(dir string) error {
	if _, err := s.fs.Lstat(dir); err != nil {
		return nil // nothing is there, or whoever makes it will be told why not
	}
	if err := s.notPurged(dir); err != nil {
		return err
	}
	return fmt.Errorf("%w; resume it or choose another id", ErrExists)
}

// Purge removes the journal and the evidence of a case and leaves a tombstone, which
// is on the disk before anything is removed. Called again after a crash it removes the
// rest. Errors: ErrOnHold, ErrHeld, ErrBroken, ErrNotFound; ErrPurged if it was done.
func (s *Store) Purge(ctx context.Context, id string, a Actor, reason string) (Tombstone, error) {
	fail := func(err error) (Tombstone, error) {
		return Tombstone{}, fmt.Errorf("purge case %s: %w", id, noSpace(err))
	}
	dir, err := s.caseDir(id)
	if err != nil {
		return Tombstone{}, err
	}
	if err := alive(ctx, "purge", id); err != nil {
		return Tombstone{}, err
	}
	if a, err = a.here(); err != nil {
		return fail(err)
	}
	if reason = strings.TrimSpace(reason); reason == "" {
		return fail(fmt.Errorf("%w: a written reason is needed", ErrEvent))
	}
	if err := s.safe(dir); errors.Is(err, fs.ErrNotExist) {
		return fail(ErrNotFound)
	} else if err != nil {
		return fail(err)
	}
	c := &Case{s: s, id: id, dir: dir}
	if c.lock, err = s.create(c.path(lockName), os.O_RDWR); err != nil {
		return fail(err)
	}
	defer func() { _ = c.lock.Close() }() // it holds nothing but the lock
	if err := c.lock.Lock(); errors.Is(err, ErrLocked) {
		return fail(s.heldBy(id))
	} else if err != nil {
		return fail(err)
	}
	if err := s.notPurged(dir); err != nil {
		return fail(errors.Join(err, c.clear()))
	}
	v, err := s.readIn(dir, id)
	if err != nil {
		return fail(err)
	}
	if l := v.Held(); l != nil {
		return fail(fmt.Errorf("%w since %s by %s: %s; release it first: case hold --release", ErrOnHold, l.T.Format(time.RFC3339), clean1(l.Actor), clean1(l.Msg)))
	}
	t := Tombstone{
		Schema: tombstoneSchema, ID: id, Simulated: v.Simulated, Opened: v.Lines[0].T, Purged: s.clock.Now(),
		By: a.Name, Host: a.Host, Reason: cut(reason), Head: v.Head, Lines: len(v.Lines),
	}
	b, err := json.Marshal(t)
	if err == nil {
		err = c.writeFile(tombstoneName, append(b, '\n'))
	}
	if err == nil {
		err = c.clear()
	}
	if err != nil {
		return fail(err)
	}
	return t, nil
}

// clear removes everything but the tombstone; the lock goes last.
func (c *Case) clear() error {
	names, err := c.s.fs.ReadDir(c.dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		if n == tombstoneName || n == lockName {
			continue
		}
		if err := removeTree(c.s.fs, c.path(n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := c.s.fs.Remove(c.path(lockName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return c.s.fs.SyncDir(c.dir)
}
