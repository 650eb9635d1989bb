package testenv

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

func architecture(t *testing.T) table {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, ".github", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	tab, err := readTable(string(b))
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func goList(t *testing.T, args ...string) []listed {
	t.Helper()
	// -e: a package that does not build is the compiler's to report.
	cmd := exec.Command("go", append([]string{"list", "-e", "-json=ImportPath,Doc,Imports,GoFiles"}, args...)...)
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var all []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestImportsGoDownOnly(t *testing.T) {
	pkgs := goList(t, "./...")
	if len(pkgs) < 8 {
		t.Fatalf("go list found only %d packages", len(pkgs))
	}
	for _, v := range architecture(t).violations(pkgs) {
		t.Error(v)
	}
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	for _, p := range goList(t, "./...") {
		if len(p.GoFiles) > 0 && p.Doc == "" {
			t.Errorf("%s has no package doc", p.ImportPath)
		}
	}
}

// TestTheShippedBinaryHasNoTestCode looks through everything cmd/cordon links.
func TestTheShippedBinaryHasNoTestCode(t *testing.T) {
	for _, p := range goList(t, "-deps", "./cmd/cordon") {
		for _, bad := range []string{"testing", module + "/internal/testenv", module + "/providers/providertest", "go.uber.org/goleak", "github.com/rogpeppe/", "github.com/getkin/"} {
			if p.ImportPath == bad || strings.HasSuffix(bad, "/") && strings.HasPrefix(p.ImportPath, bad) {
				t.Errorf("the binary links %s", p.ImportPath)
			}
		}
	}
}

// TestThePlantedViolationIsFound is the control of TestImportsGoDownOnly.
func TestThePlantedViolationIsFound(t *testing.T) {
	tab := architecture(t)
	for _, c := range []struct{ from, imp, want string }{
		{"internal/engine", "internal/app", "level 5 may not import it (level 7)"},
		{"internal/witness", "internal/change", "level 1 may not import it (level 1)"},
		{"playbooks", "internal/config", "level 2 may not import it (level 2)"},
		{"internal/engine", "providers/gitlab", "the second table forbids it"},
		{"internal/fleet", "providers/github", "the second table forbids it"},
		{"internal/lab", "providers", "the second table forbids it"},
		{"internal/lab/sshd", "internal/host", "the second table forbids it"},
		{"internal/bundle", "internal/engine", "level 6 may not import it (level 5)"},
		{"internal/target", "github.com/goccy/go-yaml", "level 0 has the standard library only"},
		{"internal/app", "github.com/charmbracelet/bubbletea", "the second table forbids it"},
		{"internal/config", "internal/testenv", "the second table forbids it"},
		{"internal/policy", "providers/providertest", "the second table forbids it"},
		{"internal/misc", "fmt", "internal/misc is not in the level table"},
		{"providers/bitbucket", "fmt", "providers/bitbucket is not in the level table"},

		{"internal/engine", "providers", ""},
		{"internal/casefile/faultfs", "internal/casefile", ""},
		{"internal/host", "internal/host/snapshot", ""},
		{"internal/target", "net/url", ""},
		{"internal/config", "github.com/goccy/go-yaml", ""},
		{"internal/bundle", "internal/casefile", ""},
		{"internal/bundle", "internal/redact", ""},
		{"tui", "github.com/charmbracelet/bubbletea", ""},
		{"cmd/cordon", "internal/lab", ""},
	} {
		imp := c.imp
		if first, _, _ := strings.Cut(imp, "/"); first == "internal" || first == "providers" {
			imp = module + "/" + imp
		}
		got := strings.Join(tab.violations([]listed{{ImportPath: module + "/" + c.from, Imports: []string{imp}}}), "; ")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s imports %s: got %q, want %q", c.from, c.imp, got, c.want)
		}
	}
}

func TestATableThatAllowsUpwardIsRefused(t *testing.T) {
	const bans = "| `a` | `b` | why |\n"
	if _, err := readTable("| 3 | `a` | 0–3 |\n" + bans); err == nil {
		t.Error("level 3 importing level 3 was accepted")
	}
	if _, err := readTable(bans); err == nil {
		t.Error("no level table was accepted")
	}
}
