// Package plainfile reads files that people name: plain ones, of a bounded size.
//
// A pipe, a device or a directory is refused at once and never waited for: os.ReadFile on
// a pipe that nobody writes to hangs for ever, and no interrupt ends it. It may import
// the standard library.
package plainfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrNotPlain means that a name is that of a pipe, a device, a directory or, where the
// file itself was asked for, of a link. ErrSize means that a file is too long, or empty
// where something was to be in it.
var (
	ErrNotPlain = errors.New("not a plain file")
	ErrSize     = errors.New("not of a size that is taken")
)

// Open opens a plain file of at most limit bytes for reading. A link is followed.
func Open(name string, limit int64) (*os.File, error) {
	return open(name, limit, 0)
}

// OpenItself is Open for what is kept as evidence: a link at the end of name is refused,
// as what it leads to may be another file a moment later, and so is an empty file, which
// is evidence of nothing.
func OpenItself(name string, limit int64) (*os.File, error) {
	f, err := open(name, limit, syscall.O_NOFOLLOW)
	if errors.Is(err, syscall.ELOOP) {
		return nil, bad(name, fmt.Errorf("%w: a symbolic link; name the file itself", ErrNotPlain))
	}
	if err != nil {
		return nil, err
	}
	if st, err := f.Stat(); err != nil || st.Size() == 0 {
		if err == nil {
			err = bad(name, fmt.Errorf("%w: it is empty", ErrSize))
		}
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Read is the content of a plain file of at most limit bytes. A link is followed.
func Read(name string, limit int64) ([]byte, error) {
	f, err := Open(name, limit)
	if err != nil {
		return nil, err
	}
	return whole(f, name, limit)
}

// ReadItself is Read for what OpenItself opens.
func ReadItself(name string, limit int64) ([]byte, error) {
	f, err := OpenItself(name, limit)
	if err != nil {
		return nil, err
	}
	return whole(f, name, limit)
}

func open(name string, limit int64, flag int) (*os.File, error) {
	// O_NONBLOCK: a pipe opens at once, and is refused below.
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY|flag, 0)
	if err != nil {
		return nil, err
	}
	switch st, serr := f.Stat(); {
	case serr != nil:
		err = serr
	case st.IsDir():
		err = bad(name, fmt.Errorf("%w: it is a directory", ErrNotPlain))
	case !st.Mode().IsRegular():
		err = bad(name, ErrNotPlain)
	case st.Size() > limit:
		err = bad(name, tooLong(st.Size(), limit))
	default:
		return f, nil
	}
	return nil, errors.Join(err, f.Close())
}

// whole reads and closes f, which may have grown since it was opened.
func whole(f *os.File, name string, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = bad(name, tooLong(int64(len(b)), limit))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return b, nil
}

func tooLong(n, limit int64) error {
	return fmt.Errorf("%w: %d bytes, at most %d", ErrSize, n, limit)
}

func bad(name string, err error) error { return &fs.PathError{Op: "read", Path: name, Err: err} }
