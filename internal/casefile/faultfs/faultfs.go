// Package faultfs is a file system in memory that fails as disks do: it fills up,
// tears writes, fails syncs and then forgets what it should have written, and loses
// at a power cut what nobody synced. Everything it does follows from its seed and
// from the order of the calls. Tests of casefile and of what stands on it import it;
// nothing that is shipped does.
package faultfs

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"cordon/internal/casefile"
)

// ErrStopped is what every call gets after the power went, until Reboot, and what
// handles from before a Reboot get for ever.
var ErrStopped = errors.New("faultfs: the machine is off")

// FS implements casefile.FS. It is safe for concurrent use.
type FS struct {
	mu       sync.Mutex
	rng      *rand.Rand
	root     *inode
	pending  []nameOp // changes of names that no SyncDir has made durable yet
	rules    []*Rule
	count    map[Op]int
	ops      int // operations that change something
	stopped  bool
	life     int // counts reboots
	ids      uint64
	capacity int64 // bytes; 0: no end
	magic    int64
}

type inode struct {
	id      uint64
	mode    fs.FileMode
	names   map[string]*inode // of a directory, as programs see it
	durable map[string]*inode // as a power cut leaves it
	data    []byte
	disk    []byte // data that a power cut leaves
	dirty   []span // written and not synced
	holder  *file  // who has the lock
}

var _ casefile.FS = (*FS)(nil)

// New makes an empty file system. The seed decides what a power cut leaves.
func New(seed uint64) *FS {
	f := &FS{rng: rand.New(rand.NewPCG(seed, 0x636f72646f6e)), count: map[Op]int{}}
	f.root = f.node(fs.ModeDir | 0o755)
	return f
}

func (f *FS) node(mode fs.FileMode) *inode {
	f.ids++
	n := &inode{id: f.ids, mode: mode}
	if mode.IsDir() {
		n.names, n.durable = map[string]*inode{}, map[string]*inode{}
	}
	return n
}

// find returns the inode of name, and of the directory that holds it.
func (f *FS) find(op, name string) (dir, n *inode, base string, err error) {
	name = filepath.Clean(name)
	if name == "/" {
		return nil, f.root, "/", nil
	}
	n = f.root
	for part := range strings.SplitSeq(strings.TrimPrefix(name, "/"), "/") {
		if n == nil {
			return nil, nil, "", &fs.PathError{Op: op, Path: name, Err: syscall.ENOENT}
		}
		if !n.mode.IsDir() {
			return nil, nil, "", &fs.PathError{Op: op, Path: name, Err: syscall.ENOTDIR}
		}
		dir, base = n, part
		n = n.names[part]
	}
	return dir, n, base, nil
}

func (f *FS) must(op, name string) (dir, n *inode, base string, err error) {
	dir, n, base, err = f.find(op, name)
	if err == nil && n == nil {
		err = &fs.PathError{Op: op, Path: name, Err: syscall.ENOENT}
	}
	return dir, n, base, err
}

// OpenFile implements casefile.FS.
func (f *FS) OpenFile(name string, flag int, perm fs.FileMode) (casefile.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return nil, ErrStopped
	}
	dir, n, base, err := f.find("open", name)
	if err != nil {
		return nil, err
	}
	switch {
	case n == nil && flag&os.O_CREATE == 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOENT}
	case n != nil && flag&os.O_EXCL != 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EEXIST}
	case n != nil && n.mode.IsDir() && flag&(os.O_WRONLY|os.O_RDWR) != 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EISDIR}
	case n == nil:
		if err := f.step(OpCreate, name); err != nil {
			return nil, err
		}
		n = f.node(perm)
		f.rename(nameSet{dir, base, n})
	case flag&os.O_TRUNC != 0:
		if err := f.step(OpTruncate, name); err != nil {
			return nil, err
		}
		n.resize(0)
	}
	return &file{fs: f, n: n, name: name, life: f.life, append: flag&os.O_APPEND != 0}, nil
}

// Mkdir implements casefile.FS.
func (f *FS) Mkdir(name string, perm fs.FileMode) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir, n, base, err := f.find("mkdir", name)
	if err != nil {
		return err
	}
	if n != nil {
		return &fs.PathError{Op: "mkdir", Path: name, Err: syscall.EEXIST}
	}
	if err := f.step(OpMkdir, name); err != nil {
		return err
	}
	f.rename(nameSet{dir, base, f.node(fs.ModeDir | perm)})
	return nil
}

// Chmod implements casefile.FS.
func (f *FS) Chmod(name string, mode fs.FileMode) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, n, _, err := f.must("chmod", name)
	if err != nil {
		return err
	}
	if err := f.step(OpChmod, name); err != nil {
		return err
	}
	n.mode = n.mode&fs.ModeDir | mode
	return nil
}

// Rename implements casefile.FS.
func (f *FS) Rename(from, to string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	fromDir, n, fromBase, err := f.must("rename", from)
	if err != nil {
		return err
	}
	toDir, old, toBase, err := f.find("rename", to)
	if err != nil {
		return err
	}
	if old != nil && (old.mode.IsDir() || n.mode.IsDir()) {
		return &fs.PathError{Op: "rename", Path: to, Err: syscall.EEXIST}
	}
	if err := f.step(OpRename, from); err != nil {
		return err
	}
	f.rename(nameSet{fromDir, fromBase, nil}, nameSet{toDir, toBase, n})
	return nil
}

// Remove implements casefile.FS.
func (f *FS) Remove(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir, n, base, err := f.must("remove", name)
	if err != nil {
		return err
	}
	if len(n.names) > 0 {
		return &fs.PathError{Op: "remove", Path: name, Err: syscall.ENOTEMPTY}
	}
	if err := f.step(OpRemove, name); err != nil {
		return err
	}
	f.rename(nameSet{dir, base, nil})
	return nil
}
