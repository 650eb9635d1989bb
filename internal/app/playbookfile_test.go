package app

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"cordon/internal/plainfile"
)

// A pipe as a playbook is refused, and nobody waits for what never comes out of it.
func TestAPlaybookIsAPlainFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := playbook(pipe); !errors.Is(err, ErrUsage) || !errors.Is(err, plainfile.ErrNotPlain) {
		t.Error(err)
	}
	if p, err := playbook(""); err != nil || p.ID != "contain" {
		t.Error(err)
	}
}
