package signing

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestAKeyIsMadeOnceAndKept(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "signing.key")
	prints := make([]string, 8) // as many processes that start at once
	var wg sync.WaitGroup
	for i := range prints {
		wg.Go(func() {
			s, err := FromOrMake(path)
			if err != nil {
				t.Error(err)
				return
			}
			prints[i] = s.Fingerprint()
		})
	}
	wg.Wait()
	for _, p := range prints {
		if p == "" || p != prints[0] {
			t.Fatalf("not one key: %q", prints)
		}
	}
	if s, err := FromFile(path, nil); err != nil || s.Fingerprint() != prints[0] {
		t.Errorf("what is kept is another key: %v", err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A key that cannot be used is somebody's: it is not replaced by another.
func TestAKeyThatCannotBeUsedIsNotReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "signing.key")
	if err := os.WriteFile(path, []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := FromOrMake(path); !errors.Is(err, ErrKey) {
		t.Errorf("rubbish: %v", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "rubbish" {
		t.Errorf("it was written over: %q, %v", b, err)
	}
	other := filepath.Join(t.TempDir(), "signing.key")
	if _, err := FromOrMake(other); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(other, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := FromOrMake(other); !errors.Is(err, ErrKey) {
		t.Errorf("one that others can read: %v", err)
	}
	if _, err := FromOrMake(filepath.Join(t.TempDir(), "nowhere", "signing.key")); !errors.Is(err, ErrKey) {
		t.Errorf("no directory: %v", err)
	}
}
