// Package statedir makes what lies below the state directory, with the modes that belong
// to it: a person's own is 0700 with files of 0600; a team's is setgid and 2770, with
// files of 0660, so that every colleague of the group can go on with what another began.
//
// What the state directory is says the directory itself: everything that is made gets the
// mode of the directory it lies in, whatever the umask is. Everything that writes below
// the state directory does it here or, for cases, by these modes in internal/casefile.
// The one exception is a private key, which is a person's and stays 0600. It may import
// the standard library.
package statedir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Modes of what lies below a state directory.
const (
	OwnDir   fs.FileMode = 0o700
	OwnFile  fs.FileMode = 0o600
	TeamDir              = fs.ModeSetgid | 0o770
	TeamFile fs.FileMode = 0o660
)

// Team reports whether mode is that of a team's directory.
func Team(mode fs.FileMode) bool { return mode&fs.ModeSetgid != 0 && mode.Perm() == 0o770 }

// IsTeam reports whether dir is a team's directory. What cannot be looked at is not.
func IsTeam(dir string) bool {
	st, err := os.Stat(dir)
	return err == nil && Team(st.Mode())
}

// MkdirAll makes dir and its missing parents, each with the mode of the one it lies in.
// What is there stays as it is.
func MkdirAll(dir string) error {
	_, err := os.Stat(dir)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(dir)
	if err := MkdirAll(parent); err != nil {
		return err
	}
	if err := os.Mkdir(dir, OwnDir); errors.Is(err, fs.ErrExist) {
		return nil // another process was first
	} else if err != nil {
		return err
	}
	if IsTeam(parent) {
		return os.Chmod(dir, TeamDir) // the umask would have taken the group's bits
	}
	return nil
}

// Append opens a list that lines are appended to, and makes it where it is missing. A
// link at its place is refused.
func Append(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW, OwnFile)
	if err != nil || !IsTeam(filepath.Dir(name)) {
		return f, err
	}
	st, err := f.Stat()
	if err == nil && st.Mode().Perm() != TeamFile { // a colleague's has it already, and only its owner may change it
		err = f.Chmod(TeamFile)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Make writes a file that is not there yet, whole and on the disk or not at all. Errors:
// fs.ErrExist where something is there, which is left as it is.
func Make(name string, b []byte) error {
	return place(name, b, os.Link)
}

// Replace writes a file whole over what was there.
func Replace(name string, b []byte) error {
	return place(name, b, os.Rename)
}

// place writes b beside name and then puts it there.
func place(name string, b []byte, put func(from, to string) error) error {
	dir := filepath.Dir(name)
	f, err := os.CreateTemp(dir, "."+filepath.Base(name)+".*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil && IsTeam(dir) {
		err = f.Chmod(TeamFile)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = put(f.Name(), name)
	}
	if rerr := os.Remove(f.Name()); !errors.Is(rerr, fs.ErrNotExist) { // renamed: it is gone
		err = errors.Join(err, rerr)
	}
	return err
}
