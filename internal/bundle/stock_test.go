package bundle

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/casefile"
	"cordon/internal/signing"
	"cordon/internal/testenv"
)

// commands are the indented lines of VERIFY.txt, as a stranger would paste them.
func commands(t *testing.T, text string) []string {
	t.Helper()
	var out []string
	for _, l := range strings.Split(text, "\n") {
		if c, ok := strings.CutPrefix(l, "    "); ok {
			out = append(out, c)
		}
	}
	if len(out) != 6 {
		t.Fatalf("%d commands in VERIFY.txt", len(out))
	}
	return out
}

func TestTheFormatDocumentHasTheSameCommands(t *testing.T) {
	m := fullCase(t, nil)
	doc, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range commands(t, unpacked(t, m.export(t))[verifyName]) {
		if !strings.Contains(string(doc), "\n"+c+"\n") {
			t.Errorf("FORMAT.md does not have: %s", c)
		}
	}
}

// stock runs the commands one after the other in one shell and returns how many
// succeeded, and what they wrote.
func stock(t *testing.T, bundle []byte, cmds []string, allowed string) (int, string) {
	t.Helper()
	for _, tool := range []string{"tar", "sha256sum", "ssh-keygen", "diff", "sed", "cut", "sort", "find", "grep"} {
		testenv.Need(t, tool)
	}
	dir := t.TempDir()
	for name, body := range map[string][]byte{"INC-2026-0142.tar": bundle, "allowed_signers": []byte(allowed + "\n")} {
		if err := os.WriteFile(filepath.Join(dir, name), body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	script := "mv INC-2026-0142.tar empty/ && cd empty || exit 9\n"
	for _, c := range cmds {
		script += c + " || exit 1\necho step ok\n"
	}
	cmd := exec.Command(testenv.Need(t, "sh"), "-c", script)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TZ=UTC"}
	out, _ := cmd.CombinedOutput() // the steps say how far it went
	return strings.Count(string(out), "step ok\n"), string(out)
}

func TestTheSixStockCommandsAcceptAWholeBundle(t *testing.T) {
	for _, simulated := range []bool{false, true} {
		m := fullCase(t, func(o *casefile.Opening) { o.Simulated = simulated })
		m.keep(t, strings.Repeat("long/", 40)+"name.txt", "a name that needs a pax header")
		good := m.export(t)
		line, _ := signing.AllowedLine(alice, m.key)
		steps, out := stock(t, good, commands(t, unpacked(t, good)[verifyName]), line)
		if steps != 6 || strings.Contains(out, "BROKEN") || !strings.Contains(out, `Good "cordon-bundle@v1" signature for alice@example.org`) ||
			!strings.Contains(out, "Journal-Head: "+m.view(t).Head) {
			t.Errorf("%d steps:\n%s", steps, out)
		}
	}
}

// What Verify refuses, the stock tools refuse too, at the step named here.
func TestTheSixStockCommandsRefuseTampering(t *testing.T) {
	m := fullCase(t, nil)
	good := m.export(t)
	line, _ := signing.AllowedLine(alice, m.key)
	cmds := commands(t, unpacked(t, good)[verifyName])
	forger := signer(t)
	steps := map[string]int{ // how many steps succeed before the one that fails
		"a journal line is edited": 1, "a journal line is dropped": 1, "a file more": 3, "a tag file more": 3, "a file less": 1,
		"evidence is changed": 1, "the report is changed": 1, "bag-info is changed": 1, "VERIFY.txt is changed": 1, "no signature": 2,
		"the author rewrites a line and signs again": 4, "the author drops the last line and signs again": 5, "the head is wrong": 5, "the event count is wrong": 5,
		"cut in the middle": 0, "not a tar": 0,
	}
	all := map[string][]byte{}
	for _, c := range tamperings() {
		if _, ok := steps[c.name]; ok {
			all[c.name] = c.do(t, m, good)
		}
	}
	all["re-signed by another key"] = resealed(t, entries(t, good), forger, signing.NamespaceBundle)
	all["signed for another purpose"] = resealed(t, entries(t, good), m.key, signing.NamespaceHead)
	steps["re-signed by another key"], steps["signed for another purpose"] = 2, 2
	if len(all) != len(steps) {
		t.Fatalf("%d of %d tamperings are there", len(all), len(steps))
	}
	for name, b := range all {
		t.Run(name, func(t *testing.T) {
			if n, out := stock(t, b, cmds, line); n != steps[name] {
				t.Errorf("%d steps succeeded, want %d:\n%s", n, steps[name], out)
			}
			if _, err := Verify(bytes.NewReader(b), VerifyOptions{Allowed: m.allowed(t)}); err == nil {
				t.Error("Verify accepts it")
			}
		})
	}
}

// Somebody may unpack a bundle, look, and pack it again: what counts is inside.
func TestABundlePackedAgainByTarIsStillGood(t *testing.T) {
	m := fullCase(t, nil)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.tar"), m.export(t), 0o600); err != nil {
		t.Fatal(err)
	}
	tar := testenv.Need(t, "tar")
	for _, args := range [][]string{{"xf", "a.tar"}, {"cf", "b.tar", "INC-2026-0142"}} {
		cmd := exec.Command(tar, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if rep, err := VerifyFile(filepath.Join(dir, "b.tar"), VerifyOptions{Allowed: m.allowed(t)}); err != nil || !rep.Trusted() {
		t.Error(err, rep.Checks)
	}
}
