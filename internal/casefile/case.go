package casefile

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"cordon/internal/clock"
)

// Files of a case. MaxJournal is the most that is read of one, in bytes.
const (
	journalName = "journal.jsonl"
	tornName    = "journal.torn"
	lockName    = "lock"
	reserveName = "reserve"
	headsName   = "heads"
	blobsName   = "blobs"

	MaxJournal = 256 << 20
)

// Case is a case that this process writes. It is safe for concurrent use; lines get
// the order in which their calls got through. After ErrPoisoned, ErrFenced or
// ErrBroken every further write returns the same error.
type Case struct {
	s      *Store
	id     string
	dir    string
	actor  Actor
	epoch  int
	opened time.Time // on the store's clock
	lock   File
	puts   atomic.Int64
	dirs   sync.Map // directories of blobs that are durable

	mu     sync.Mutex
	j      *journal
	closed bool
	began  time.Duration // steady time of the first line; 0: none was written yet, or the clock has none
	effect bool          // an intent of ours has no result yet
	tell   func(Line)    // nil: nobody listens
}

// Observe hands every line that is on the disk from now on to f, in order, under the
// lock of the case: f must return at once and must not call the case.
func (c *Case) Observe(f func(Line)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tell = f
}

// ID is the id of the case.
func (c *Case) ID() string { return c.id }

// Head is the number and the digest of the last line.
func (c *Case) Head() (seq int, sum string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.j.last.Seq, c.j.last.sum
}

// Append writes one line. When it returns nil the line is on the disk; when it
// returns an error for an intent, the effect must not happen. For an intent, Reserve
// is called first. A result or settle line for which there is no room is written in
// the reserve. Errors: ErrEvent, ErrNoSpace, ErrPoisoned, ErrFenced, ErrBroken, ErrClosed.
func (c *Case) Append(e Event) (Line, error) {
	if by, is := own[e.Kind]; is {
		return Line{}, fmt.Errorf("case %s: %w: %s lines are written by %s", c.id, ErrEvent, e.Kind, by)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.append(e)
}

// afterwards are the kinds that say what has happened already, or that are needed to
// come to say it: they may use up the reserve.
var afterwards = map[string]bool{"result": true, "settle": true, "take": true, "resume": true}

func (c *Case) append(e Event) (Line, error) {
	l, err := c.tryAppend(e)
	if err != nil {
		return Line{}, fmt.Errorf("case %s: write %s: %w", c.id, clean1(e.Kind), err)
	}
	switch e.Kind {
	case "intent":
		c.effect = true
	case "result", "settle":
		c.effect = false
	}
	if c.tell != nil {
		c.tell(l)
	}
	return l, nil
}

func (c *Case) tryAppend(e Event) (Line, error) {
	if c.closed {
		return Line{}, ErrClosed
	}
	l, raw, err := c.next(e, c.j.last.Seq+1, c.j.last.sum)
	if err != nil {
		return Line{}, err
	}
	if e.Kind == "intent" {
		if err := c.reserve(); err != nil {
			return Line{}, err
		}
	}
	err = c.j.append(l, raw)
	if errors.Is(err, ErrNoSpace) && !errors.Is(err, ErrPoisoned) && afterwards[e.Kind] && c.spend() {
		err = c.j.append(l, raw)
	}
	return l, err
}

// next makes the line and its bytes. What would not be read again is not written.
func (c *Case) next(e Event, seq int, prev string) (Line, []byte, error) {
	if err := e.check(); err != nil {
		return Line{}, nil, fmt.Errorf("%w: %w", ErrEvent, err)
	}
	now := c.s.clock.Now()
	ran := now.Sub(c.opened)
	if s, ok := c.s.clock.(clock.Steady); ok {
		if c.began == 0 {
			c.began = s.Steady()
		}
		ran = s.Steady() - c.began
	}
	e.Msg = cut(e.Msg)
	raw, err := Line{
		V: Version, Seq: seq, Prev: prev, T: now, MonoMS: max(ran.Milliseconds(), 0),
		Actor: c.actor.Name, Key: c.actor.Key, Host: c.actor.Host, Session: c.actor.Session, Case: c.id, Event: e,
	}.encode()
	if err != nil {
		return Line{}, nil, err
	}
	l, err := parseLine(raw[:len(raw)-1])
	if err != nil {
		return Line{}, nil, fmt.Errorf("%w: %s: %w", ErrEvent, e.Kind, err)
	}
	return l, raw, nil
}

// View reads the case as any reader would, from the disk.
func (c *Case) View() (*View, error) { return c.s.Read(c.id) }

// Close releases the case for others. It writes nothing; closing twice is fine.
func (c *Case) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	err := c.j.f.Close()
	if c.lock != nil {
		err = errors.Join(err, c.lock.Close())
	}
	if err != nil {
		return fmt.Errorf("close case %s: %w", c.id, err)
	}
	return nil
}

func (c *Case) path(parts ...string) string {
	return filepath.Join(append([]string{c.dir}, parts...)...)
}
