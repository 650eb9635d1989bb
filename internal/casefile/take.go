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

	Identity *Identity `json:"identity,omitempty"`
	Over     *overData `json:"over,omitempty"` // taken on explicit order
}

// overData says why a case was taken that another held, or that was handed over.
type overData struct {
	From string `json:"from"` // who wrote it before
	Why  string `json:"why"`
}

// Take makes this process the writer of a case. It verifies everything first and
// writes nothing if that fails. A torn last line goes to journal.torn, and a resume
// line says so. Errors: ErrHeld (with who), ErrBroken, ErrVersion, ErrNotFound,
// ErrCaseID, ErrUnsafeState, ErrNoSpace, ErrPoisoned, ErrHandedOver, ErrPurged.
func (s *Store) Take(ctx context.Context, id string, a Actor) (*Case, error) {
	return s.takeWith(ctx, id, a, "")
}

// takeWith takes; why is the reason of an explicit order, empty: there is none.
func (s *Store) takeWith(ctx context.Context, id string, a Actor, why string) (*Case, error) {
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
	if err := c.recover(why); err != nil {
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
	return fmt.Errorf("%w: %s; watch it (case show --follow), ask them to hand it over, or take it with a reason (case resume --take-over)", ErrHeld, who)
}

// recover verifies the case, puts a torn tail aside and writes the fencing line.
func (c *Case) recover(why string) error {
	if err := c.s.safeFile(c.path(lockName)); err != nil {
		return err
	}
	if err := c.s.notPurged(c.dir); err != nil {
		return err
	}
	ch, err := c.s.readChain(c.dir, c.id)
	if err != nil {
		return err
	}
	var over *overData
	if why != "" {
		over = &overData{Why: why}
	} else if h := handedOver(ch.lines); h != nil {
		return fmt.Errorf("%w %s; go on there, or take it back with a reason: --take-over --reason WHY", ErrHandedOver, h.phrase())
	}
	for _, l := range ch.lines {
		if l.Kind == "take" {
			c.epoch++
			if over != nil {
				over.From = takenBy(l)
			}
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
	return c.take(over)
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

func (c *Case) take(over *overData) error {
	d, err := json.Marshal(takeData{
		Epoch: c.epoch, Host: c.actor.Host, BootID: c.actor.BootID, PID: c.actor.PID, Actor: c.actor.Name,
		Identity: c.actor.Identity, Over: over,
	})
	if err != nil {
		return err
	}
	msg := ""
	if over != nil {
		msg = "taken over: " + over.Why
	}
	_, err = c.append(Event{Kind: "take", OK: true, Msg: msg, Data: d})
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
