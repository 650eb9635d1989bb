package machine

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// build writes the entries under root, directories' times last, since every file
// made in a directory changes its time.
func build(root string, entries []Entry, v Vars) error {
	type stamp struct {
		path string
		at   time.Time
	}
	var dirs []stamp
	for _, e := range entries {
		p, err := clean(e.Path)
		if err != nil {
			return err
		}
		full := filepath.Join(root, p)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return fmt.Errorf("make the directory of %s: %w", p, err)
		}
		if err := e.write(full, v); err != nil {
			return fmt.Errorf("make %s of %s: %w", p, v.Host, err)
		}
		if e.Kind == KindDir {
			dirs = append(dirs, stamp{full, v.Start.Add(-e.Age)})
			continue
		}
		if err := touch(full, v.Start.Add(-e.Age)); err != nil {
			return fmt.Errorf("set the time of %s: %w", p, err)
		}
	}
	for _, d := range slices.Backward(dirs) {
		if err := touch(d.path, d.at); err != nil {
			return fmt.Errorf("set the time of %s: %w", d.path, err)
		}
	}
	return nil
}

func (e Entry) write(full string, v Vars) error {
	mode, err := e.mode()
	if err != nil {
		return err
	}
	switch e.Kind {
	case KindLink:
		to, err := v.expand(e.Path, e.To)
		if err != nil {
			return err
		}
		return os.Symlink(to, full)
	case KindDir:
		if err := os.Mkdir(full, 0o755); err != nil && !os.IsExist(err) {
			return err
		}
		return os.Chmod(full, mode)
	case KindFile, "":
		text, err := v.expand(e.Path, e.Content)
		if err != nil {
			return err
		}
		if err := writeNew(full, []byte(text), mode); err != nil || e.Size <= int64(len(text)) {
			return err
		}
		return os.Truncate(full, e.Size)
	}
	return fmt.Errorf("no such kind: %q", e.Kind)
}

func writeNew(full string, b []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(full, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Chmod(full, mode) // not subject to the umask
}

// replace writes a file anew in one step: who reads it sees the old or the new.
func replace(full string, b []byte) error {
	tmp := full + ".lab-new"
	if err := os.WriteFile(tmp, b, 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, full)
}

// touch sets the times of the path itself, not of what a link points to.
func touch(full string, at time.Time) error {
	ts := unix.NsecToTimespec(at.UnixNano())
	return unix.UtimesNanoAt(unix.AT_FDCWD, full, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
}
