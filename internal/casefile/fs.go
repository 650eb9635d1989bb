package casefile

import (
	"io"
	"io/fs"
)

// FS is what a store needs of a file system. Errors keep what the system said, so
// that errors.Is works with fs.ErrNotExist, fs.ErrExist and syscall.ENOSPC. Opener
// uses the real one where none is given; tests put faults in here.
type FS interface {
	// OpenFile is os.OpenFile; it never follows a link in the last part of name.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Mkdir(name string, perm fs.FileMode) error
	Chmod(name string, mode fs.FileMode) error
	Rename(from, to string) error // replaces files, refuses to replace directories
	Remove(name string) error
	Stat(name string) (Info, error)  // follows links
	Lstat(name string) (Info, error) // does not
	ReadDir(name string) ([]string, error)
	// SyncDir makes creations, renames and removals in the directory durable.
	SyncDir(name string) error
	Statfs(name string) (Volume, error)
}

// File is an open file. Write appends where the file was opened with O_APPEND.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Writer
	io.Closer
	Sync() error
	Truncate(size int64) error
	Stat() (Info, error)
	// Lock takes the file for this handle alone without waiting; ErrLocked if another
	// handle has it. Closing the handle, or the end of the process, releases it.
	Lock() error
}

// Info is what is asked about a file.
type Info struct {
	Size int64 // bytes
	Mode fs.FileMode
	UID  int
	ID   [2]uint64 // device and inode: the same file has the same ID
}

// Volume is what is asked about a file system.
type Volume struct {
	Magic int64  // Linux statfs(2) f_type
	Free  uint64 // bytes an ordinary user may still write
}
