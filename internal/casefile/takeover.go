package casefile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"time"
)

// takeoverName is the file in which somebody asks the holder of a case to let go. The
// lock is the system's: it cannot be taken from a process that lives, and a second
// writer beside it would break the chain. So the holder is asked, and gives way
// between two lines.
const takeoverName = "takeover"

// askEvery is how often a lock that was asked for is tried, in real time.
const askEvery = 100 * time.Millisecond

type takeoverAsk struct {
	By   string `json:"by"`
	Host string `json:"host"`
	Why  string `json:"why"`
}

// TakeOver takes a case on explicit order: one that was handed over, or that another
// holds. A holder that is dead holds no lock. One that lives is asked to give way
// (Yield) until ctx ends; if it does not, the error is ErrHeld and says who it is and
// whether its process lives on this machine. Other errors are those of Take.
func (s *Store) TakeOver(ctx context.Context, id string, a Actor, why string) (*Case, error) {
	if why = strings.TrimSpace(why); why == "" {
		return nil, fmt.Errorf("take over case %s: %w: a written reason is needed", id, ErrEvent)
	}
	c, err := s.takeWith(ctx, id, a, why)
	if !errors.Is(err, ErrHeld) {
		return c, err
	}
	if a, err = a.here(); err != nil {
		return nil, fmt.Errorf("take over case %s: %w", id, err)
	}
	dir, err := s.caseDir(id)
	if err != nil {
		return nil, err
	}
	ask := &Case{s: s, id: id, dir: dir}
	d, err := json.Marshal(takeoverAsk{By: a.Name, Host: a.Host, Why: cut(why)})
	if err == nil {
		err = ask.writeFile(takeoverName, d)
	}
	if err != nil {
		return nil, fmt.Errorf("take over case %s: ask for it: %w", id, noSpace(err))
	}
	defer func() { _ = s.fs.Remove(ask.path(takeoverName)) }() // a request that is left is answered once more and does no harm
	again := time.NewTicker(askEvery)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("take over case %s: %w: %s", id, ErrHeld, s.holder(id))
		case <-again.C:
		}
		if c, err = s.takeWith(ctx, id, a, why); !errors.Is(err, ErrHeld) && ctx.Err() == nil {
			return c, err
		}
	}
}

// holder says who has not given way, and what can be done about it.
func (s *Store) holder(id string) string {
	v, err := s.Read(id)
	if err != nil {
		return "its holder did not give way"
	}
	who := v.summary().Writer
	var d takeData
	for _, l := range v.Lines {
		if l.Kind == "take" {
			_ = json.Unmarshal(l.Data, &d) // a line that was verified
		}
	}
	here, err := Actor{Name: "x"}.here()
	if err != nil || here.Host != d.Host || here.BootID != d.BootID || d.PID <= 0 {
		return who + " did not give way; the lock is held by a process that lives on this machine: fuser -v shows it"
	}
	if err := syscall.Kill(d.PID, 0); errors.Is(err, syscall.ESRCH) {
		return fmt.Sprintf("%s is gone, and another process that it started holds the lock: fuser -v shows it", who)
	}
	return fmt.Sprintf("%s lives on this machine and did not give way; end it (kill %d) and try again", who, d.PID)
}

// Yield gives the case up if somebody asked for it with TakeOver, and says who. While
// an effect of ours has no result yet it does not: the result is written first. After
// it gave way every write is ErrFenced.
func (c *Case) Yield() (by string, err error) {
	b, err := readAll(c.s.fs, c.path(takeoverName), 64<<10)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return "", err
	}
	var ask takeoverAsk
	if err := json.Unmarshal(b, &ask); err != nil {
		return "", fmt.Errorf("case %s: %s is not understood: %w", c.id, takeoverName, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.effect || c.lock == nil {
		return "", nil
	}
	by = fmt.Sprintf("%s on %s: %s", clean1(ask.By), clean1(ask.Host), clean1(ask.Why))
	if c.j.dead == nil {
		c.j.dead = fmt.Errorf("%w: %s; read it, or take it again", ErrFenced, by)
	}
	err = c.lock.Close()
	c.lock = nil
	return by, err
}
