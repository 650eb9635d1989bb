package faultfs

import (
	"io"
	"io/fs"
	"syscall"

	"cordon/internal/casefile"
)

// file is one open handle.
type file struct {
	fs     *FS
	n      *inode
	name   string
	life   int
	append bool
	at     int64
	closed bool
}

// span is a range of bytes, [from, to).
type span struct{ from, to int64 }

func (h *file) usable() error {
	switch {
	case h.closed:
		return fs.ErrClosed
	case h.fs.stopped, h.life != h.fs.life:
		return ErrStopped
	}
	return nil
}

// ReadAt implements casefile.File.
func (h *file) ReadAt(p []byte, off int64) (int, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.usable(); err != nil {
		return 0, err
	}
	if off >= int64(len(h.n.data)) {
		return 0, io.EOF
	}
	n := copy(p, h.n.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Write implements casefile.File.
func (h *file) Write(p []byte) (int, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	off := h.at
	if h.append {
		off = int64(len(h.n.data))
	}
	n, err := h.write(p, off)
	h.at = off + int64(n)
	return n, err
}

// WriteAt implements casefile.File.
func (h *file) WriteAt(p []byte, off int64) (int, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	return h.write(p, off)
}

func (h *file) write(p []byte, off int64) (int, error) {
	if err := h.usable(); err != nil {
		return 0, err
	}
	keep, err := len(p), error(nil)
	if r := h.fs.rule(OpWrite, h.name); r != nil {
		keep = min(r.Keep, len(p))
		if r.Keep < 0 {
			keep = h.fs.rng.IntN(len(p) + 1)
		}
		err = h.fs.fire(r)
	}
	if room := h.room(off, keep); room < keep {
		keep, err = room, &fs.PathError{Op: "write", Path: h.name, Err: syscall.ENOSPC}
	}
	if end := off + int64(keep); end > int64(len(h.n.data)) {
		h.n.data = append(h.n.data, make([]byte, end-int64(len(h.n.data)))...)
	}
	copy(h.n.data[off:], p[:keep])
	if keep > 0 {
		h.n.dirty = append(h.n.dirty, span{off, off + int64(keep)})
	}
	return keep, err
}

// room is how many of want bytes at off the disk has space for.
func (h *file) room(off int64, want int) int {
	if h.fs.capacity == 0 {
		return want
	}
	free := max(h.fs.capacity-h.fs.used(h.fs.root), 0)
	inside := max(int64(len(h.n.data))-off, 0) // overwriting needs none
	return int(min(int64(want), inside+free))
}

// Truncate implements casefile.File.
func (h *file) Truncate(size int64) error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.usable(); err != nil {
		return err
	}
	if err := h.fs.step(OpTruncate, h.name); err != nil {
		return err
	}
	h.n.resize(size)
	return nil
}

// Stat implements casefile.File.
func (h *file) Stat() (casefile.Info, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.usable(); err != nil {
		return casefile.Info{}, err
	}
	return h.n.info(), nil
}

// Lock implements casefile.File.
func (h *file) Lock() error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.usable(); err != nil {
		return err
	}
	if o := h.n.holder; o != nil && o != h && !o.closed && o.life == h.fs.life {
		return casefile.ErrLocked
	}
	h.n.holder = h
	return nil
}

// Close implements casefile.File. It releases the lock.
func (h *file) Close() error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if h.closed {
		return fs.ErrClosed
	}
	h.closed = true
	return nil
}
