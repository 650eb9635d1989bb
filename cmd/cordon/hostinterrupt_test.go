package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/app"
)

// whenSaid calls a function at the first write that holds a word.
type whenSaid struct {
	word string
	do   func()
}

func (w whenSaid) Write(b []byte) (int, error) {
	if strings.Contains(string(b), w.word) {
		w.do()
	}
	return len(b), nil
}

// An interrupted read of several hosts is no failure of the program: the report says
// which hosts nobody went to, and the code says that it cannot tell.
func TestAnInterruptedCheckOfHostsCannotTell(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "c.yaml")
	if err := os.WriteFile(config, []byte("hosts:\n  a: {exec: [sh, -c, \"exit 0\"]}\n  b: {exec: [sh, -c, \"exit 0\"]}\n  c: {exec: [sh, -c, \"exit 0\"]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	code := 0
	cmd := newRoot(streams{strings.NewReader(""), &out, whenSaid{"1/3 a", cancel}}, &code)
	cmd.SetArgs([]string{"--config", config, "--state-dir", filepath.Join(dir, "state"), "host", "check", "a", "b", "c", "--parallel", "1", "--yes", "--reason", "test"})
	if got := exitCode(cmd.ExecuteContext(ctx)); got != app.ExitCannotTell {
		t.Errorf("exit code %d", got)
	}
	if !strings.Contains(out.String(), "not asked, the work was interrupted: 2 b c\n") || !strings.Contains(out.String(), "could not look, or not at everything: 1 a\n") {
		t.Errorf("%s", out.String())
	}
}
