package casefile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"cordon/internal/clock"
	"cordon/internal/statedir"
)

// Opener says where a store is and what it stands on.
type Opener struct {
	Dir   string                           // the state directory; made if it is not there
	Clock clock.Clock                      // nil: the machine's
	FS    FS                               // nil: the machine's
	Free  func(dir string) (uint64, error) // bytes that may still be written; nil: FS.Statfs
}

// Store is a state directory. It holds nothing open and is safe for concurrent use,
// also by several processes.
type Store struct {
	fs    FS
	dir   string // <state>/cases
	clock clock.Clock
	free  func(string) (uint64, error)
	group bool // shared by a group: 2770 and 0660 instead of 0700 and 0600

	mu    sync.Mutex
	known chain // the journal that was verified last: what of it is still there is not parsed again
}

// OpenStore opens the state directory, making it 0700 if it is missing. A directory
// that others may enter, that belongs to somebody else, or that is on a network file
// system is refused with ErrUnsafeState.
func OpenStore(o Opener) (*Store, error) {
	if o.FS == nil {
		o.FS = RealFS()
	}
	if o.Clock == nil {
		o.Clock = clock.Real{}
	}
	if o.Free == nil {
		o.Free = func(dir string) (uint64, error) {
			v, err := o.FS.Statfs(dir)
			return v.Free, err
		}
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil || o.Dir == "" {
		return nil, fmt.Errorf("%w: no directory was named (state_dir)", ErrUnsafeState)
	}
	s := &Store{fs: o.FS, dir: filepath.Join(dir, "cases"), clock: o.Clock, free: o.Free}
	if err := s.makeState(dir); err != nil {
		return nil, fmt.Errorf("open state directory %s: %w", dir, noSpace(err))
	}
	return s, nil
}

func (s *Store) makeState(dir string) error {
	if err := mkdirAll(s.fs, dir); err != nil {
		return err
	}
	info, err := s.fs.Stat(dir) // the directory itself may be a link: the owner's choice
	if err != nil {
		return err
	}
	s.group = statedir.Team(info.Mode)
	if err := s.safeDir(dir, info); err != nil {
		return err
	}
	if err := s.localDisk(dir); err != nil {
		return err
	}
	if err := s.mkdir(s.dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return s.safe(s.dir)
}

// mkdirAll makes dir and its missing parents, each durable in its own parent.
func mkdirAll(f FS, dir string) error {
	if _, err := f.Stat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(dir)
	if err := mkdirAll(f, parent); err != nil {
		return err
	}
	if err := f.Mkdir(dir, statedir.OwnDir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return f.SyncDir(parent)
}

// mkdir makes one directory with the store's permissions, durably.
func (s *Store) mkdir(dir string) error {
	if err := s.fs.Mkdir(dir, statedir.OwnDir); err != nil {
		return err
	}
	if s.group { // the group comes from the setgid parent, the mode would lose to the umask
		if err := s.fs.Chmod(dir, statedir.TeamDir); err != nil {
			return err
		}
	}
	return s.fs.SyncDir(filepath.Dir(dir))
}

// create opens a file that may not be there yet, with the store's permissions.
func (s *Store) create(name string, flag int) (File, error) {
	f, err := s.fs.OpenFile(name, flag|os.O_CREATE, statedir.OwnFile)
	if err != nil {
		return nil, err
	}
	if s.group {
		info, err := f.Stat()
		if err == nil && info.Mode.Perm() != statedir.TeamFile { // also a colleague's file: then it has the mode already
			err = s.fs.Chmod(name, statedir.TeamFile)
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return f, nil
}

func (s *Store) caseDir(id string) (string, error) {
	if !ValidID(id) {
		return "", fmt.Errorf("%w: %q: use letters, digits, dot, underscore and dash, at most 64", ErrCaseID, id)
	}
	return filepath.Join(s.dir, id), nil
}

// alive returns ctx's error before anything is begun.
func alive(ctx context.Context, what, id string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s case %s: %w", what, id, err)
	}
	return nil
}
