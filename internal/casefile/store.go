package casefile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"cordon/internal/clock"
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
}

var (
	caseID   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	itemName = regexp.MustCompile(`^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$`)
)

// ValidID reports whether id can name a case: a letter or digit, then up to 63 of
// letters, digits, dot, underscore and dash.
func ValidID(id string) bool { return caseID.MatchString(id) }

// ValidItemName reports whether name can name evidence: parts of letters, digits,
// dot, underscore and dash, joined by single slashes, none of them dots alone, at
// most 255 bytes. Bundles use the names as paths.
func ValidItemName(name string) bool {
	if len(name) > 255 || !itemName.MatchString(name) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.Trim(part, ".") == "" || strings.Contains(part, "..") {
			return false
		}
	}
	return true
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
	s.group = info.Mode&fs.ModeSetgid != 0 && info.Mode.Perm() == 0o770
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
	if err := f.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return f.SyncDir(parent)
}

// mkdir makes one directory with the store's permissions, durably.
func (s *Store) mkdir(dir string) error {
	if err := s.fs.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if s.group { // the group comes from the setgid parent, the mode would lose to the umask
		if err := s.fs.Chmod(dir, fs.ModeSetgid|0o770); err != nil {
			return err
		}
	}
	return s.fs.SyncDir(filepath.Dir(dir))
}

// create opens a file that may not be there yet, with the store's permissions.
func (s *Store) create(name string, flag int) (File, error) {
	f, err := s.fs.OpenFile(name, flag|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if s.group {
		info, err := f.Stat()
		if err == nil && info.Mode.Perm() != 0o660 { // also a colleague's file: then it has the mode already
			err = s.fs.Chmod(name, 0o660)
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

// Summary is one row of a list of cases.
type Summary struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Kind      string    `json:"kind"`
	Simulated bool      `json:"simulated,omitempty"`
	Opened    time.Time `json:"opened"`
	Last      time.Time `json:"last"` // time of the last line
	Lines     int       `json:"lines"`
	Head      string    `json:"head"`
	Closed    bool      `json:"closed"`           // a close line, and no intent after it
	Writer    string    `json:"writer"`           // who took it last
	Broken    string    `json:"broken,omitempty"` // why it cannot be read; then only ID is set
}

// List reads every case of the store, by id. A case that cannot be read is in the
// list with Broken.
func (s *Store) List() ([]Summary, error) {
	names, err := s.fs.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("list cases in %s: %w", s.dir, err)
	}
	var all []Summary
	for _, id := range names {
		if !ValidID(id) {
			continue // a case in the making begins with a dot
		}
		v, err := s.Read(id)
		if err != nil {
			all = append(all, Summary{ID: id, Broken: err.Error()})
			continue
		}
		all = append(all, v.summary())
	}
	return all, nil
}

func (v *View) summary() Summary {
	first, last := v.Lines[0], v.Lines[len(v.Lines)-1]
	sum := Summary{
		ID: v.ID, Title: v.Opening.Title, Kind: v.Opening.Kind, Simulated: first.Simulated,
		Opened: first.T, Last: last.T, Lines: len(v.Lines), Head: v.Head,
	}
	for _, l := range v.Lines {
		switch l.Kind {
		case "take":
			sum.Writer = takenBy(l)
		case "close":
			sum.Closed = true
		case "intent":
			sum.Closed = false
		}
	}
	return sum
}

// takenBy says in one phrase who wrote a take line.
func takenBy(l Line) string {
	var d takeData
	if err := json.Unmarshal(l.Data, &d); err != nil {
		return l.Actor
	}
	return fmt.Sprintf("%s on %s, pid %d, since %s", clean1(l.Actor), clean1(d.Host), d.PID, l.T.Format(time.RFC3339))
}

// alive returns ctx's error before anything is begun.
func alive(ctx context.Context, what, id string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s case %s: %w", what, id, err)
	}
	return nil
}
