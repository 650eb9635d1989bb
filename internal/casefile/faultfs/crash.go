package faultfs

import (
	"maps"
	"slices"
)

// nameSet gives a name in a directory to an inode; nil takes the name away.
type nameSet struct {
	dir  *inode
	name string
	n    *inode
}

// nameOp is a change of names that happens whole or not at all.
type nameOp []nameSet

func (o nameOp) touches(dirs map[*inode]bool) bool {
	return slices.ContainsFunc(o, func(s nameSet) bool { return dirs[s.dir] })
}

func (o nameOp) apply() {
	for _, s := range o {
		set(s.dir.durable, s)
	}
}

func set(m map[string]*inode, s nameSet) {
	if s.n == nil {
		delete(m, s.name)
		return
	}
	m[s.name] = s.n
}

// rename makes a change of names visible; SyncDir or luck makes it durable.
func (f *FS) rename(sets ...nameSet) {
	for _, s := range sets {
		set(s.dir.names, s)
	}
	f.pending = append(f.pending, sets)
}

func (n *inode) resize(size int64) {
	if size > int64(len(n.data)) {
		n.data = append(n.data, make([]byte, size-int64(len(n.data)))...)
		return
	}
	n.data = n.data[:size:size]
	kept := n.dirty[:0]
	for _, s := range n.dirty {
		if s.from < size {
			kept = append(kept, span{s.from, min(s.to, size)})
		}
	}
	n.dirty = kept
}

// Sync implements casefile.File. A failed sync forgets that the bytes were dirty:
// they are still read, later syncs succeed, and a power cut loses them (PostgreSQL's
// "fsyncgate"; Rebello et al., "Can Applications Recover from fsync Failures?", 2020).
func (h *file) Sync() error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.usable(); err != nil {
		return err
	}
	if err := h.fs.step(OpSync, h.name); err != nil {
		if !h.fs.stopped {
			h.n.dirty = nil
		}
		return err
	}
	h.n.settle(len(h.n.data))
	for _, s := range h.n.dirty {
		copy(h.n.disk[s.from:s.to], h.n.data[s.from:s.to])
	}
	h.n.dirty = nil
	return nil
}

// settle gives the disk's copy a size; what was never written there is zeros.
func (n *inode) settle(size int) {
	if size > len(n.disk) {
		n.disk = append(n.disk, make([]byte, size-len(n.disk))...)
	}
	n.disk = n.disk[:size:size]
}

// SyncDir implements casefile.FS: it makes the changes of names in this directory
// durable, and those that they rest on, and no others.
func (f *FS) SyncDir(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, dir, _, err := f.must("syncdir", name)
	if err != nil {
		return err
	}
	if err := f.step(OpSyncDir, name); err != nil {
		return err
	}
	dirs := map[*inode]bool{dir: true}
	take := make([]bool, len(f.pending))
	for i, o := range slices.Backward(f.pending) {
		if o.touches(dirs) {
			take[i] = true
			for _, s := range o {
				dirs[s.dir] = true
			}
		}
	}
	var rest []nameOp
	for i, o := range f.pending {
		if take[i] {
			o.apply()
		} else {
			rest = append(rest, o)
		}
	}
	f.pending = rest
	return nil
}

// Stop turns the machine off.
func (f *FS) Stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = true
}

// DropLocks releases every lock while its holder goes on, as a network file system does.
func (f *FS) DropLocks() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop(f.root)
}

func (f *FS) drop(n *inode) {
	n.holder = nil
	for _, m := range n.names {
		f.drop(m)
	}
}

// Reboot turns the machine on again, with no handle and no lock left and no rules.
// With lose it was a power cut: of what was not synced, the seed decides what the
// disk has: nothing, a part, or all. Without lose only the processes died.
func (f *FS) Reboot(lose bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped, f.rules = false, nil
	f.life++
	if !lose {
		return
	}
	for _, o := range f.pending[:f.rng.IntN(len(f.pending)+1)] {
		o.apply()
	}
	f.pending = nil
	f.lose(f.root)
}

// lose turns what is on the disk into what is seen, below n, in a fixed order.
func (f *FS) lose(n *inode) {
	if n.mode.IsDir() {
		n.names = maps.Clone(n.durable)
		for _, name := range slices.Sorted(maps.Keys(n.names)) {
			f.lose(n.names[name])
		}
		return
	}
	if len(n.data) < len(n.disk) && f.rng.IntN(2) == 0 { // the cut came through
		n.disk = n.disk[:len(n.data)]
	}
	for _, s := range n.dirty {
		end := s.to
		switch f.rng.IntN(4) {
		case 0: // nothing
			continue
		case 1: // a part
			end = s.from + f.rng.Int64N(s.to-s.from+1)
		case 2: // the size, and some of the bytes
			n.settle(max(len(n.disk), int(s.to)))
			end = s.from + f.rng.Int64N(s.to-s.from+1)
		}
		n.settle(max(len(n.disk), int(end)))
		copy(n.disk[s.from:end], n.data[s.from:end])
	}
	n.dirty = nil
	n.data = slices.Clone(n.disk)
}
