package casefile

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"syscall"
)

// RealFS is the machine's own file system.
func RealFS() FS { return osFS{} }

type osFS struct{}

type osFile struct{ *os.File }

func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag|syscall.O_NOFOLLOW, perm)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFS) Mkdir(name string, perm fs.FileMode) error { return os.Mkdir(name, perm) }
func (osFS) Chmod(name string, mode fs.FileMode) error { return os.Chmod(name, mode) }
func (osFS) Rename(from, to string) error              { return os.Rename(from, to) }
func (osFS) Remove(name string) error                  { return os.Remove(name) }

func (osFS) Stat(name string) (Info, error) { return infoOf(os.Stat(name)) }

func (osFS) Lstat(name string) (Info, error) { return infoOf(os.Lstat(name)) }

func (osFS) ReadDir(name string) ([]string, error) {
	all, err := os.ReadDir(name)
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.Name()
	}
	return names, err
}

func (osFS) SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) { // the file system has nothing to sync for directories
		err = nil
	}
	return errors.Join(err, d.Close())
}

func (osFS) Statfs(name string) (Volume, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(name, &st); err != nil {
		return Volume{}, &fs.PathError{Op: "statfs", Path: name, Err: err}
	}
	v := Volume{Magic: int64(st.Type), Free: math.MaxUint64}
	if st.Blocks > 0 { // some file systems do not tell
		v.Free = st.Bavail * uint64(st.Bsize)
	}
	return v, nil
}

func (f osFile) Stat() (Info, error) { return infoOf(f.File.Stat()) }

func (f osFile) Lock() error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var lockErr error
	err = raw.Control(func(fd uintptr) {
		for {
			lockErr = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB)
			if lockErr != syscall.EINTR {
				return
			}
		}
	})
	if err == nil {
		err = lockErr
	}
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return ErrLocked
	case err != nil:
		return &fs.PathError{Op: "flock", Path: f.Name(), Err: err}
	}
	return nil
}

func infoOf(fi fs.FileInfo, err error) (Info, error) {
	if err != nil {
		return Info{}, err
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return Info{}, fmt.Errorf("stat %s: this system does not tell owner and inode", fi.Name())
	}
	return Info{Size: fi.Size(), Mode: fi.Mode(), UID: int(st.Uid), ID: [2]uint64{uint64(st.Dev), st.Ino}}, nil
}
