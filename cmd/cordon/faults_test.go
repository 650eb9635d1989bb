package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cordon/internal/lab"
	"cordon/internal/lab/fault"
	"cordon/internal/testenv"
)

// demo runs cordon demo in a directory of its own.
func demo(t *testing.T, args ...string) (dir string, s said) {
	t.Helper()
	dir = t.TempDir()
	cmd := exec.Command(program(t), append([]string{"demo", "--headless", "--dir", dir}, args...)...)
	cmd.Env, cmd.Dir = account(dir), dir
	return dir, finish(t, cmd)
}

// TestEachFaultEndsInItsWord plays the demo under every fault of the scenario: the
// scenario file says how each has to end.
func TestEachFaultEndsInItsWord(t *testing.T) {
	t.Parallel()
	endings, err := lab.Endings("")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(endings)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && name != fault.None && name != fault.LosesReset {
				t.Skip("short: two of the faults")
			}
			want := endings[name]
			dir, s := demo(t, "--fault", name)
			if got := ending(s.out); s.code != want.Exit || got != fmt.Sprintf("%s (exit %d)", want.Word, want.Exit) {
				t.Errorf("ends %q with code %d, the scenario says %s (exit %d)\n%s%s", got, s.code, want.Word, want.Exit, tail(s.out), s.err)
			}
			if s.err != "" {
				t.Errorf("complains: %s", s.err)
			}
			if want.Note != "" && !noted(s.out, want.Note) {
				t.Errorf("no note says %q\n%s", want.Note, tail(s.out))
			}
			path := everyLineSimulated(t, s.out)
			if filepath.Dir(path) != dir {
				t.Fatalf("the last line is no bundle in %s: %s", dir, path)
			}
			signers := strings.TrimSuffix(path, ".tar") + ".allowed_signers"
			cmd := exec.Command(program(t), "bundle", "verify", path, "--allowed-signers", signers)
			cmd.Env = account(dir)
			if v := finish(t, cmd); v.code != 0 {
				t.Errorf("bundle verify ends with %d: %s%s", v.code, v.out, v.err)
			}
			if name == fault.None {
				everyEffectOnce(t, effects(t, filepath.Join(dir, "lab", "ledger.jsonl")), containing...)
				stockToolsAccept(t, path, signers)
			}
		})
	}
}

// everyLineSimulated returns the last line, the only one without the word.
func everyLineSimulated(t *testing.T, out string) string {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	last := len(lines) - 1
	for _, l := range lines[:last] {
		if !strings.HasPrefix(l, "SIMULATED  ") {
			t.Errorf("a line that does not say SIMULATED: %q", l)
		}
	}
	return lines[last]
}

// noted reports whether one note of the ending has every word of note.
func noted(out, note string) bool {
	for line := range strings.Lines(out) {
		_, said, ok := strings.Cut(line, " note ")
		for word := range strings.FieldsSeq(note) {
			ok = ok && strings.Contains(said, strings.Trim(word, ","))
		}
		if ok {
			return true
		}
	}
	return false
}

func tail(s string) string {
	lines := strings.Split(s, "\n")
	return strings.Join(lines[max(0, len(lines)-25):], "\n")
}

// stockToolsAccept runs the commands that VERIFY.txt in the bundle names, in one shell,
// as a stranger with neither cordon nor trust in it would.
func stockToolsAccept(t *testing.T, bundle, signers string) {
	t.Helper()
	for _, tool := range []string{"tar", "sha256sum", "ssh-keygen", "diff", "sed", "cut", "sort", "find", "grep"} {
		testenv.Need(t, tool)
	}
	dir := t.TempDir()
	text, err := exec.Command("tar", "xOf", bundle, "--wildcards", "*/VERIFY.txt").Output()
	if err != nil {
		t.Fatal(err)
	}
	script := "set -e\n"
	steps := 0
	for line := range strings.Lines(string(text)) {
		if c, ok := strings.CutPrefix(line, "    "); ok {
			script, steps = script+strings.TrimSuffix(c, "\n")+" || exit 1\necho step ok\n", steps+1
		}
	}
	for from, to := range map[string]string{bundle: filepath.Join(dir, filepath.Base(bundle)), signers: filepath.Join(dir, "allowed_signers")} {
		b, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(testenv.Need(t, "sh"), "-c", script)
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	out, _ := cmd.CombinedOutput() // the steps say how far it went
	if got := strings.Count(string(out), "step ok\n"); steps != 6 || got != steps || strings.Contains(string(out), "BROKEN") {
		t.Errorf("%d of %d steps of VERIFY.txt went through:\n%s", got, steps, out)
	}
}
