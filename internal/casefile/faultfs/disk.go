package faultfs

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cordon/internal/casefile"
)

// Stat implements casefile.FS. There are no links here.
func (f *FS) Stat(name string) (casefile.Info, error) { return f.Lstat(name) }

// Lstat implements casefile.FS. Every file is ours.
func (f *FS) Lstat(name string) (casefile.Info, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return casefile.Info{}, ErrStopped
	}
	_, n, _, err := f.must("lstat", name)
	if err != nil {
		return casefile.Info{}, err
	}
	return n.info(), nil
}

func (n *inode) info() casefile.Info {
	return casefile.Info{Size: int64(len(n.data)), Mode: n.mode, UID: os.Geteuid(), ID: [2]uint64{1, n.id}}
}

// ReadDir implements casefile.FS.
func (f *FS) ReadDir(name string) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return nil, ErrStopped
	}
	_, n, _, err := f.must("readdir", name)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(n.names)), nil
}

// Statfs implements casefile.FS.
func (f *FS) Statfs(string) (casefile.Volume, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v := casefile.Volume{Magic: f.magic, Free: math.MaxInt64}
	if f.capacity > 0 {
		v.Free = uint64(max(f.capacity-f.used(f.root), 0))
	}
	return v, nil
}

// SetCapacity makes the disk this large, in bytes of file content; 0: no end.
func (f *FS) SetCapacity(bytes int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.capacity = bytes
}

// SetMagic sets what Statfs says the file system is.
func (f *FS) SetMagic(magic int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.magic = magic
}

// Used is how many bytes of file content there are.
func (f *FS) Used() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.used(f.root)
}

func (f *FS) used(n *inode) int64 {
	sum := int64(len(n.data))
	for _, m := range n.names {
		sum += f.used(m)
	}
	return sum
}

// Disk is what a power cut now would surely leave of a file: the bytes that were synced
// under a name that was; nil where that is no file.
func (f *FS) Disk(name string) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.root
	for part := range strings.SplitSeq(strings.TrimPrefix(filepath.Clean(name), "/"), "/") {
		if n = n.durable[part]; n == nil {
			return nil
		}
	}
	return slices.Clone(n.disk)
}
