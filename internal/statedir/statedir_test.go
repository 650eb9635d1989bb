package statedir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func modeOf(t *testing.T, name string) fs.FileMode {
	t.Helper()
	st, err := os.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	return st.Mode() & (fs.ModePerm | fs.ModeSetgid)
}

// fill makes a state directory and everything of this package below it.
func fill(t *testing.T, mode fs.FileMode) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, mode); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		MkdirAll(filepath.Join(dir, "a", "b")), Make(filepath.Join(dir, "made"), []byte("1")),
		Replace(filepath.Join(dir, "replaced"), []byte("1")), Replace(filepath.Join(dir, "replaced"), []byte("2")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	f, err := Append(filepath.Join(dir, "a", "list"))
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	return dir
}

// TestWhatIsMadeHasTheModeOfItsDirectory: also under an umask that takes everything from
// the group, and never more than the directory itself gives.
func TestWhatIsMadeHasTheModeOfItsDirectory(t *testing.T) {
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	for _, x := range []struct{ state, dir, file fs.FileMode }{
		{0o700, 0o700, 0o600},
		{fs.ModeSetgid | 0o770, 0o770, 0o660},
		{0o770, 0o700, 0o600},
		{fs.ModeSetgid | 0o777, 0o700, 0o600}, // no state directory of anybody's: nothing is given away
	} {
		dir := fill(t, x.state)
		for _, n := range []string{"a", "a/b"} {
			if got := modeOf(t, filepath.Join(dir, n)); got.Perm() != x.dir {
				t.Errorf("below %v: %s is %v, not %v", x.state, n, got, x.dir)
			}
		}
		for _, n := range []string{"made", "replaced", "a/list"} {
			if got := modeOf(t, filepath.Join(dir, n)); got != x.file {
				t.Errorf("below %v: %s is %v, not %v", x.state, n, got, x.file)
			}
		}
		if Team(x.state) && !IsTeam(filepath.Join(dir, "a", "b")) {
			t.Errorf("below %v: a directory in a directory is no team's", x.state)
		}
	}
}

// TestWhatIsThereIsNotMadeAgain: and nothing is left beside it.
func TestWhatIsThereIsNotMadeAgain(t *testing.T) {
	dir := fill(t, 0o700)
	name := filepath.Join(dir, "made")
	if err := Make(name, []byte("other")); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if b, err := os.ReadFile(name); err != nil || string(b) != "1" {
		t.Errorf("%q %v", b, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "replaced")); err != nil || string(b) != "2" {
		t.Errorf("%q %v", b, err)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 3 {
		t.Errorf("left beside: %v %v", all, err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(name, link); err != nil {
		t.Fatal(err)
	}
	if f, err := Append(link); err == nil {
		f.Close()
		t.Error("a list was opened through a link")
	}
}
