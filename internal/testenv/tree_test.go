package testenv

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tracked is every file of the commit, by slash path. Files that git knows and the
// tree has lost are left out.
func tracked(t *testing.T) map[string][]byte {
	t.Helper()
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil && os.Getenv("CORDON_CI") != "1" {
		t.Skip("not a git clone")
	}
	cmd := exec.Command(Need(t, "git"), "ls-files", "-z")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	files := map[string][]byte{}
	for _, name := range strings.Split(strings.Trim(string(out), "\x00"), "\x00") {
		b, err := os.ReadFile(filepath.Join(root, name))
		if err == nil {
			files[name] = b
		}
	}
	if len(files) < 10 {
		t.Fatalf("git knows only %d files", len(files))
	}
	return files
}

// top is all there may be at the top of the repository, dotfiles apart.
var top = []string{"cmd", "tui", "providers", "playbooks", "internal", "testdata", "go.mod", "go.sum", "README.md", "LICENSE", "CHANGELOG.md"}

// maxLines: a file of more is two rooms.
const maxLines = 400

// untidy lists what the house rules do not allow, one line each.
func untidy(files map[string][]byte) []string {
	var found []string
	for name, b := range files {
		first, _, _ := strings.Cut(name, "/")
		if !strings.HasPrefix(name, ".") && !slices.Contains(top, first) {
			found = append(found, name+": not one of the things at the top")
		}
		test := strings.HasSuffix(name, "_test.go") || strings.Contains("/"+name, "/testdata/")
		written := slices.Contains([]string{".go", ".sh", ".yaml", ".md"}, filepath.Ext(name))
		if n := bytes.Count(b, []byte("\n")); written && !test && n > maxLines {
			found = append(found, fmt.Sprintf("%s: %d lines, more than %d", name, n, maxLines))
		}
		for _, word := range [][2]string{{"InsecureIgnore", "HostKey"}, {"InsecureSkip", "Verify"}} {
			if bytes.Contains(b, []byte(word[0]+word[1])) {
				found = append(found, name+": "+word[0]+word[1]+" has no place here, not in a test either")
			}
		}
	}
	slices.Sort(found)
	return found
}

func TestTheTreeIsTidy(t *testing.T) {
	for _, u := range untidy(tracked(t)) {
		t.Error(u)
	}
}

// TestThePlantedMessIsFound is the control of TestTheTreeIsTidy.
func TestThePlantedMessIsFound(t *testing.T) {
	long := bytes.Repeat([]byte("x\n"), maxLines+1)
	for _, c := range []struct {
		name string
		b    []byte
		bad  bool
	}{
		{"scripts/x.sh", nil, true},
		{"notes.txt", nil, true},
		{".ci/run", nil, false},
		{"internal/a/a.go", long, true},
		{"internal/a/a_test.go", long, false},
		{"internal/a/testdata/a.yaml", long, false},
		{"internal/a/a.go", long[2:], false},
		{"internal/a/a_test.go", []byte("ssh.Insecure" + "IgnoreHostKey()"), true},
		{"internal/a/a.go", []byte("Insecure" + "SkipVerify: true"), true},
	} {
		if got := untidy(map[string][]byte{c.name: c.b}); (len(got) > 0) != c.bad {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
