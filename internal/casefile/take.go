package casefile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// takeData is the data of a take line: the fence that tells writers apart.
type takeData struct {
	Epoch  int    `json:"epoch"` // counts the takes of the case, from 1
	Host   string `json:"host"`
	BootID string `json:"boot_id"`
	PID    int    `json:"pid"`
	Actor  string `json:"actor"`
}

// Take makes this process the writer of a case. It verifies everything first and
// writes nothing if that fails. A torn last line goes to journal.torn, and a resume
// line says so. Errors: ErrHeld (with who), ErrBroken, ErrVersion, ErrNotFound,
// ErrCaseID, ErrUnsafeState, ErrNoSpace, ErrPoisoned.
func (s *Store) Take(ctx context.Context, id string, a Actor) (*Case, error) {
	dir, err := s.caseDir(id)
	if err != nil {
		return nil, err
	}
	if err := alive(ctx, "take", id); err != nil {
		return nil, err
	}
	fail := func(err error) (*Case, error) { return nil, fmt.Errorf("take case %s: %w", id, noSpace(err)) }
	if a, err = a.here(); err != nil {
		return fail(err)
	}
	c := &Case{s: s, id: id, dir: dir, actor: a, opened: s.clock.Now()}
	if err := s.safe(dir); errors.Is(err, fs.ErrNotExist) {
		return fail(ErrNotFound)
	} else if err != nil {
		return fail(err)
	}
	if c.lock, err = s.create(c.path(lockName), os.O_RDWR); err != nil {
		return fail(err)
	}
	if err := c.lock.Lock(); err != nil {
		if errors.Is(err, ErrLocked) {
			err = s.heldBy(id)
		}
		return fail(errors.Join(err, c.lock.Close()))
	}
	if err := c.recover(); err != nil {
		if c.j != nil {
			err = errors.Join(err, c.j.f.Close())
		}
		return fail(errors.Join(err, c.lock.Close()))
	}
	return c, nil
}

func (s *Store) heldBy(id string) error {
	who := "somebody"
	if v, err := s.Read(id); err == nil {
		who = v.summary().Writer
	}
	return fmt.Errorf("%w: %s; watch it, or ask them to hand it over", ErrHeld, who)
}

// recover verifies the case, puts a torn tail aside and writes the fencing line.
func (c *Case) recover() error {
	if err := c.s.safeFile(c.path(lockName)); err != nil {
		return err
	}
	ch, err := c.s.readChain(c.dir, c.id)
	if err != nil {
		return err
	}
	for _, l := range ch.lines {
		if l.Kind == "take" {
			c.epoch++
		}
	}
	c.epoch++
	if c.j, err = openJournal(c.s.fs, c.path(journalName), c.id, ch); err != nil {
		return err
	}
	if err := c.retouch(ch); err != nil {
		return err
	}
	c.sweep()
	torn, err := c.setAside(ch)
	if err != nil {
		return err
	}
	if torn != nil {
		d, err := json.Marshal(resumeData{Torn: torn})
		if err != nil {
			return err
		}
		msg := fmt.Sprintf("the last line was torn: %d bytes are in %s", torn.Bytes, tornName)
		if _, err := c.append(Event{Kind: "resume", Msg: msg, Data: d}); err != nil {
			return err
		}
	}
	return c.take()
}

// retouch writes the last whole line over itself and syncs. After a failed sync the
// page cache may show a line that the disk does not have and never would get: the
// system forgets that the page was dirty. This makes it dirty again.
func (c *Case) retouch(ch chain) error {
	f, err := c.s.fs.OpenFile(c.path(journalName), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	raw := ch.lastRaw()
	_, err = f.WriteAt(raw, int64(len(ch.whole)-len(raw)))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%w: make the last line durable: %w", ErrPoisoned, err)
	}
	return nil
}

func (c *Case) take() error {
	d, err := json.Marshal(takeData{Epoch: c.epoch, Host: c.actor.Host, BootID: c.actor.BootID, PID: c.actor.PID, Actor: c.actor.Name})
	if err != nil {
		return err
	}
	_, err = c.append(Event{Kind: "take", OK: true, Data: d})
	return err
}

// sweep removes what a killed Put left. It only tidies: failing changes nothing.
func (c *Case) sweep() {
	names, err := c.s.fs.ReadDir(c.path(blobsName))
	if err != nil {
		return
	}
	for _, n := range names {
		if strings.HasPrefix(n, tempPrefix) {
			_ = c.s.fs.Remove(c.path(blobsName, n))
		}
	}
}
