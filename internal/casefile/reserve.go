package casefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ReserveSize is how many bytes a case keeps for itself on the disk, so that the
// result of an effect can be written when the disk is full. spare is what must be
// free beside it before an intent.
const (
	ReserveSize = 256 << 10
	spare       = 64 << 10
)

// Reserve makes sure that there is room to say how an effect ended: the reserve is
// on the disk and some space is free beside it. ErrNoSpace: do not begin. Append of an intent does it by itself.
func (c *Case) Reserve() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return fmt.Errorf("case %s: %w", c.id, ErrClosed)
	}
	if c.j.dead != nil {
		return c.j.dead
	}
	if err := c.reserve(); err != nil {
		return fmt.Errorf("case %s: %w", c.id, err)
	}
	return nil
}

func (c *Case) reserve() error {
	need := uint64(spare)
	info, err := c.s.fs.Lstat(c.path(reserveName))
	have := err == nil && info.Mode.IsRegular() && info.Size == ReserveSize
	if !have {
		need += ReserveSize
	}
	free, err := c.s.free(c.dir)
	if err != nil {
		return fmt.Errorf("ask for free space: %w", err)
	}
	if free < need {
		return fmt.Errorf("%w: %d KiB free, an effect needs %d to be recorded; %s", ErrNoSpace, free>>10, need>>10, elsewhere)
	}
	if have {
		return nil
	}
	return c.fill()
}

// fill writes the reserve. Its bytes look random, so that neither holes nor
// compression make it cheaper than it must be.
func (c *Case) fill() (err error) {
	name := c.path(reserveName)
	f, err := c.s.create(name, os.O_WRONLY|os.O_TRUNC)
	if err != nil {
		return fmt.Errorf("reserve space: %w", noSpace(err))
	}
	buf := make([]byte, ReserveSize)
	x := uint32(2463534242) // xorshift: the bytes need no meaning
	for i := range buf {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		buf[i] = byte(x)
	}
	_, err = f.Write(buf)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = c.s.fs.SyncDir(c.dir)
	}
	if err != nil {
		_ = c.s.fs.Remove(name) // half a reserve is none; the first error is the one to tell
		return fmt.Errorf("reserve space: %w", noSpace(err))
	}
	return nil
}

// spend gives the reserve back to the disk and reports whether there was one.
func (c *Case) spend() bool {
	name := c.path(reserveName)
	f, err := c.s.fs.OpenFile(name, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err == nil {
		// Blocks of an emptied file are free once that is synced; a removed one may wait.
		err = errors.Join(f.Truncate(0), f.Sync(), f.Close())
	}
	err = errors.Join(err, c.s.fs.Remove(name), c.s.fs.SyncDir(c.dir))
	return err == nil
}
