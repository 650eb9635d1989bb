package plainfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOnlyAPlainFileOfItsSizeIsRead: a pipe that nobody writes to would otherwise hold the
// reader for ever; this test ends, which is the point of it.
func TestOnlyAPlainFileOfItsSizeIsRead(t *testing.T) {
	dir := t.TempDir()
	name := func(n string) string { return filepath.Join(dir, n) }
	for n, text := range map[string]string{"full": "0123456789", "long": "0123456789x", "empty": ""} {
		if err := os.WriteFile(name(n), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(syscall.Mkfifo(name("pipe"), 0o600), os.Symlink(name("full"), name("link")), os.Symlink(name("pipe"), name("topipe"))); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[string]struct{ followed, itself error }{
		"full": {}, "long": {ErrSize, ErrSize}, "empty": {nil, ErrSize}, "pipe": {ErrNotPlain, ErrNotPlain},
		"link": {nil, ErrNotPlain}, "topipe": {ErrNotPlain, ErrNotPlain}, ".": {ErrNotPlain, ErrNotPlain}, "no": {fs.ErrNotExist, fs.ErrNotExist},
	} {
		b, err := Read(name(n), 10)
		c, cerr := ReadItself(name(n), 10)
		if !errors.Is(err, want.followed) || !errors.Is(cerr, want.itself) {
			t.Errorf("%s: %v; itself: %v", n, err, cerr)
		}
		if err == nil && n != "empty" && string(b) != "0123456789" || cerr == nil && string(c) != "0123456789" {
			t.Errorf("%s: read %q %q", n, b, c)
		}
		for _, e := range []error{err, cerr} {
			if e != nil && (strings.Count(e.Error(), "\n") > 0 || !strings.Contains(e.Error(), dir)) {
				t.Errorf("%s: %v does not say in one line which file", n, e)
			}
		}
	}
	if _, err := Read("/dev/zero", 10); !errors.Is(err, ErrNotPlain) {
		t.Error(err)
	}
}
