package casefile

import (
	"fmt"
	"io/fs"
	"os"

	"cordon/internal/untrusted"
)

// remote names file systems on which a lock or a sync promises less than the
// journal needs (statfs(2) magic numbers, linux/magic.h).
var remote = map[int64]string{
	0x6969:     "NFS",
	0x517b:     "SMB",
	0xff534d42: "SMB",
	0xfe534d42: "SMB",
	0x65735546: "FUSE",
	0x5346414f: "AFS",
	0x00c36400: "Ceph",
}

func (s *Store) localDisk(dir string) error {
	v, err := s.fs.Statfs(dir)
	if err != nil {
		return err
	}
	if name, bad := remote[v.Magic&0xffffffff]; bad {
		return fmt.Errorf("%w: it is on %s, where locks and syncs do not hold; name a directory on a local disk (state_dir)", ErrUnsafeState, name)
	}
	return nil
}

// safe looks at a directory of the store without following a link.
func (s *Store) safe(dir string) error {
	info, err := s.fs.Lstat(dir)
	if err != nil {
		return err
	}
	return s.safeDir(dir, info)
}

func (s *Store) safeDir(dir string, info Info) error {
	perm := info.Mode.Perm()
	switch {
	case !info.Mode.IsDir():
		return fmt.Errorf("%w: %s is not a directory; move it away", ErrUnsafeState, dir)
	case perm&0o007 != 0:
		return fmt.Errorf("%w: everybody may enter %s (mode %04o); chmod 700 it, or 2770 for a team's group", ErrUnsafeState, dir, perm)
	case perm&0o070 != 0 && !s.group:
		return fmt.Errorf("%w: its group may enter %s (mode %04o); chmod 700 it, or 2770 the whole state directory for a team", ErrUnsafeState, dir, perm)
	case perm&0o700 != 0o700:
		return fmt.Errorf("%w: its owner may not use %s (mode %04o); chmod 700 it", ErrUnsafeState, dir, perm)
	case !s.group && info.UID != os.Geteuid():
		return fmt.Errorf("%w: %s belongs to user %d and you are user %d; run as its owner, or use another directory (state_dir)", ErrUnsafeState, dir, info.UID, os.Geteuid())
	}
	return nil
}

// safeFile refuses a journal or lock that is no plain file or that others may use.
func (s *Store) safeFile(name string) error {
	info, err := s.fs.Lstat(name)
	if err != nil {
		return err
	}
	perm := info.Mode.Perm()
	switch {
	case !info.Mode.IsRegular():
		return fmt.Errorf("%w: %s is not a plain file; somebody put it there", ErrUnsafeState, name)
	case perm&0o007 != 0, perm&0o070 != 0 && !s.group:
		return fmt.Errorf("%w: others may use %s (mode %04o); chmod 600 it, or 660 for a team's group", ErrUnsafeState, name, perm)
	}
	return nil
}

// readAll reads a plain file of at most limit bytes.
func readAll(f FS, name string, limit int64) ([]byte, error) {
	file, err := f.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // only read
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode.IsRegular():
		return nil, &fs.PathError{Op: "read", Path: name, Err: ErrUnsafeState}
	case info.Size > limit:
		return nil, fmt.Errorf("read %s: %d bytes, at most %d", name, info.Size, limit)
	}
	buf := make([]byte, info.Size)
	n, err := file.ReadAt(buf, 0)
	if n < len(buf) && err != nil && !isEOF(err) {
		return nil, err
	}
	return buf[:n], nil
}

func clean1(s string) string { return untrusted.Clean(s, 80) }
