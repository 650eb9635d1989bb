package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cordon/internal/app"
	"cordon/internal/casefile"
	"cordon/internal/signing"
)

var headLine = regexp.MustCompile(`HEAD +line \d+, ([0-9a-f]{16}), (.*Z)`)

// finished is a lab with one case T that has ended, its bundle, who may have signed it,
// and the head that its brief showed, with the time of that.
type finished struct {
	*world
	tar, signers, pasted string
}

func finishedCase(t testing.TB) finished {
	t.Helper()
	w := newWorld(t, "--scale", "1000")
	if s := w.cordon("contain", "gitlab-lab/45", "--case", "T", "--yes", "--option", "host=none", "--reason", "EDR alert 991"); s.code != 4 {
		t.Fatalf("ends with %d: %s%s", s.code, tail(s.out), s.err)
	}
	f := finished{world: w, tar: filepath.Join(w.dir, "good.tar"), signers: filepath.Join(w.dir, "signers")}
	f.pasted = w.head(w.state())
	e := w.cordon("case", "export", "T", "-o", f.tar, "--json")
	var x app.Exported
	if err := json.Unmarshal([]byte(e.out), &x); err != nil {
		t.Fatalf("%v: %s", err, e.err)
	}
	if err := os.WriteFile(f.signers, []byte(x.Allowed+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return f
}

// copied is a copy of the whole state directory.
func (f finished) copied(t testing.TB) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "state")
	copyCase(t, f.state(), to)
	return to
}

// at is a cordon on another state directory.
func (f finished) at(state string, args ...string) said {
	f.t.Helper()
	return finish(f.t, f.command(append([]string{"--state-dir", state}, args...)...))
}

func edit(t testing.TB, name string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	after := change(bytes.Clone(b))
	if bytes.Equal(after, b) {
		t.Fatalf("%s: nothing was changed", name)
	}
	if err := os.WriteFile(name, after, 0o600); err != nil {
		t.Fatal(err)
	}
}

func swap(from, to string) func([]byte) []byte {
	return func(b []byte) []byte { return bytes.Replace(b, []byte(from), []byte(to), 1) }
}

// TestEveryTamperingHasItsWordAndExitCode8 does to a case on the disk, and to its bundle,
// what a thief of either can do without the key, and then what the one with the key can.
func TestEveryTamperingHasItsWordAndExitCode8(t *testing.T) {
	t.Parallel()
	f := finishedCase(t)
	lines := func(change func(l [][]byte) [][]byte) func([]byte) []byte {
		return func(b []byte) []byte {
			l := bytes.SplitAfter(b, []byte("\n"))
			return bytes.Join(change(l[:len(l)-1]), nil)
		}
	}
	for _, c := range []struct {
		name, word string
		change     func([]byte) []byte
	}{
		{"a letter", `journal line \d+`, swap("EDR alert 991", "EDR alert 992")},
		{"the first line gone", "journal line 1", lines(func(l [][]byte) [][]byte { return l[1:] })},
		{"a line gone", "journal line 4", lines(func(l [][]byte) [][]byte { return slices.Delete(l, 3, 4) })},
		{"a line twice", "journal line 5", lines(func(l [][]byte) [][]byte { return slices.Insert(l, 3, l[3]) })},
		{"two lines changed round", "journal line 4", lines(func(l [][]byte) [][]byte { l[3], l[4] = l[4], l[3]; return l })},
		{"a line put in", "journal line 4", lines(func(l [][]byte) [][]byte { return slices.Insert(l, 3, []byte("{}\n")) })},
		{"an empty line", "journal line 4", lines(func(l [][]byte) [][]byte { return slices.Insert(l, 3, []byte("\n")) })},
		{"the end cut off", `line \d+ was signed and is not there`, lines(func(l [][]byte) [][]byte { return l[:5] })},
		{"chained anew", `journal line \d`, func(b []byte) []byte { return rechained(swap("EDR alert 991", "EDR alert 992")(b)) }},
		{"not simulated", `journal line \d`, swap(`"simulated":true`, `"simulated":false`)},
		{"another case's name", `journal line 1`, swap(`"case":"T"`, `"case":"U"`)},
		{"a control character", `journal line \d`, swap("EDR alert 991", "EDR\x1b[2Jalert")},
		{"emptied", "journal", func([]byte) []byte { return nil }},
	} {
		t.Run("the journal/"+c.name, func(t *testing.T) {
			state := f.copied(t)
			edit(t, filepath.Join(state, "cases", "T", "journal.jsonl"), c.change)
			f.refused(t, state, c.word)
		})
	}
	for _, c := range []struct {
		name, word string
		do         func(dir string) error
	}{
		{"the journal is gone", "there is no journal.jsonl", func(d string) error { return os.Remove(filepath.Join(d, "journal.jsonl")) }},
		{"under another name", "journal line 1", func(d string) error {
			return os.Rename(filepath.Join(filepath.Dir(d), "U"), d) // U was copied from T
		}},
	} {
		t.Run("the directory/"+c.name, func(t *testing.T) {
			state := f.copied(t)
			dir := filepath.Join(state, "cases", "T")
			if c.name == "under another name" {
				dir = filepath.Join(state, "cases", "V")
				if err := os.Rename(filepath.Join(state, "cases", "T"), filepath.Join(state, "cases", "U")); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.do(dir); err != nil {
				t.Fatal(err)
			}
			f.refused(t, state, c.word)
		})
	}
	t.Run("evidence", func(t *testing.T) {
		state := f.copied(t)
		blobs, err := filepath.Glob(filepath.Join(state, "cases", "T", "blobs", "sha256", "*", "*"))
		if err != nil || len(blobs) == 0 {
			t.Fatal(err)
		}
		for _, b := range blobs {
			edit(t, b, func(b []byte) []byte { return append(b, ' ') })
		}
		out := filepath.Join(t.TempDir(), "x.tar")
		if x := f.at(state, "case", "export", "T", "-o", out); x.code != 8 {
			t.Errorf("it is exported: %d %s%s", x.code, x.out, x.err)
		}
		if _, err := os.Stat(out); err == nil {
			t.Error("and a bundle of it lies there")
		}
	})
	for word, c := range map[string]struct {
		code  int
		spoil func(string) error
	}{
		"changed": {8, func(p string) error { return os.WriteFile(p, []byte("{}"), 0o600) }},
		"gone":    {4, os.Remove},
	} {
		t.Run("one item "+word, func(t *testing.T) { f.oneItem(t, word, c.code, c.spoil) })
	}
	f.bundles(t)
}

// oneItem loses a single piece of evidence: what is left can be exported, verified and
// imported, and each of them says it and does not end with 0.
func (f finished) oneItem(t *testing.T, word string, code int, spoil func(string) error) {
	state := f.copied(t)
	b, err := os.ReadFile(filepath.Join(state, "cases", "T", "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	item := regexp.MustCompile(`"data":\{"name":"(provider/[^"]+)"[^}]*"digest":"([0-9a-f]{64})"`).FindStringSubmatch(string(b))
	if item == nil {
		t.Fatal("no evidence in the journal")
	}
	if err := spoil(filepath.Join(state, "cases", "T", "blobs", "sha256", item[2][:2], item[2])); err != nil {
		t.Fatal(err)
	}
	says := item[1] + " is " + word
	out := filepath.Join(t.TempDir(), "x.tar")
	if x := f.at(state, "case", "export", "T", "-o", out); x.code != code || !strings.Contains(x.err, says) {
		t.Errorf("export: %d, want %d and %q: %s", x.code, code, says, x.err)
	}
	if x := f.at(state, "bundle", "verify", out, "--allowed-signers", f.signers); x.code != code || !strings.Contains(x.err, says) || !strings.Contains(x.out, "PARTIAL") {
		t.Errorf("verify: %d, want %d and %q: %s%s", x.code, code, says, x.out, x.err)
	}
	other := filepath.Join(t.TempDir(), "other")
	if x := f.at(other, "case", "import", out, "--allowed-signers", f.signers); x.code != code || !strings.Contains(x.err, "--incomplete") {
		t.Errorf("import: %d, want %d: %s", x.code, code, x.err)
	}
	if x := f.at(other, "case", "import", out, "--allowed-signers", f.signers, "--incomplete"); x.code != 0 || !strings.Contains(x.out, "1 items are on record and did not come along") {
		t.Errorf("import of what is left: %d: %s%s", x.code, x.out, x.err)
	}
}

// refused runs commands that read a case: each ends with 8 and the word.
func (f finished) refused(t *testing.T, state, word string) {
	t.Helper()
	id := cases(t, state)
	name := "T"
	if len(id) == 1 {
		name = id[0]
	}
	out := filepath.Join(t.TempDir(), "x.tar")
	for _, args := range [][]string{
		{"case", "show", name},
		{"case", "resume", name, "--yes", "--reason", "x"},
		{"case", "export", name, "-o", out},
		{"case", "brief", name},
		{"case", "list"},
	} {
		s := f.at(state, args...)
		if said := s.out + s.err; s.code != 8 || !regexp.MustCompile(word).MatchString(said) {
			t.Errorf("%s ends with %d, want 8 and %q: %s", args[1], s.code, word, said)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a bundle of it lies there")
	}
}

// bundles does the same to the archive.
func (f finished) bundles(t *testing.T) {
	good, err := os.ReadFile(f.tar)
	if err != nil {
		t.Fatal(err)
	}
	other := f.copied(t)
	mine := filepath.Join(t.TempDir(), "key")
	stranger, err := signing.FromOrMake(mine)
	if err != nil {
		t.Fatal(err)
	}
	byStranger := filepath.Join(t.TempDir(), "s.tar")
	conf := filepath.Join(f.labDir(), "cordon.yaml")
	was, err := os.ReadFile(conf)
	if err != nil {
		t.Fatal(err)
	}
	edit(t, conf, func(b []byte) []byte {
		return regexp.MustCompile(`signing: .*`).ReplaceAll(b, []byte("signing: {key: "+mine+"}"))
	})
	if x := f.at(other, "case", "export", "T", "-o", byStranger); x.code != 0 {
		t.Fatalf("%d %s", x.code, x.err)
	}
	if err := os.WriteFile(conf, was, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, row string
		make      func(t *testing.T) []byte
	}{
		{"a letter of the journal", "digests", func(*testing.T) []byte { return swap("EDR alert 991", "EDR alert 992")(good) }},
		{"a file more", "listed", func(t *testing.T) []byte { return repacked(t, good, "", "T/data/evidence/more.txt") }},
		{"a file less", "listed", func(t *testing.T) []byte { return repacked(t, good, "data/report.md", "") }},
		{"no signature", "signature", func(t *testing.T) []byte { return repacked(t, good, ".sig", "") }},
		{"a climbing name", "archive", func(t *testing.T) []byte { return repacked(t, good, "", "T/../../etc/cron.d/x") }},
		{"cut in the middle", "archive", func(*testing.T) []byte { return good[:len(good)/2] }},
		{"something behind it", "archive", func(*testing.T) []byte { return append(bytes.Clone(good), "more"...) }},
		{"no archive", "archive", func(*testing.T) []byte { return []byte("<html>") }},
		{"signed by a stranger", "signer", func(t *testing.T) []byte {
			b, err := os.ReadFile(byStranger)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}},
	} {
		t.Run("the bundle/"+c.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "x.tar")
			if err := os.WriteFile(name, c.make(t), 0o600); err != nil {
				t.Fatal(err)
			}
			s := f.cordon("bundle", "verify", name, "--allowed-signers", f.signers)
			if s.code != 8 || !regexp.MustCompile(`(?m)FAILED +`+c.row+` `).MatchString(s.out) {
				t.Errorf("ends with %d, want 8 and %s FAILED: %s%s", s.code, c.row, s.out, s.err)
			}
			if s := f.cordon("--state-dir", filepath.Join(t.TempDir(), "new"), "case", "import", name, "--allowed-signers", f.signers); s.code != 8 {
				t.Errorf("it is imported: %d %s", s.code, s.err)
			}
		})
	}
	if s := f.cordon("bundle", "verify", f.tar, "--allowed-signers", f.signers); s.code != 0 {
		t.Errorf("the control: %d %s", s.code, s.out)
	}
	_ = stranger
}

// repacked leaves the files out whose name ends so, and puts one more in.
func repacked(t testing.TB, bundle []byte, less, more string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	put := func(h *tar.Header, body []byte) {
		if err := errors.Join(w.WriteHeader(h), func() error { _, err := w.Write(body); return err }()); err != nil {
			t.Fatal(err)
		}
	}
	for r := tar.NewReader(bytes.NewReader(bundle)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		body, rerr := io.ReadAll(r)
		if err = errors.Join(err, rerr); err != nil {
			t.Fatal(err)
		}
		if less != "" && strings.HasSuffix(h.Name, less) {
			continue
		}
		put(h, body)
	}
	if more != "" {
		put(&tar.Header{Typeflag: tar.TypeReg, Name: more, Mode: 0o644, Size: 1}, []byte("x"))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// rechained makes every line name the one before it.
func rechained(journal []byte) []byte {
	var out []byte
	prev := strings.Repeat("0", 64)
	for line := range bytes.Lines(journal) {
		_, rest, _ := bytes.Cut(line, []byte(`"prev":"`))
		line = bytes.Replace(line, rest[:64], []byte(prev), 1)
		sum := sha256.Sum256(line)
		prev = hex.EncodeToString(sum[:])
		out = append(out, line...)
	}
	return out
}

// TestACustodianWhoDropsAnEventIsCaughtByOnePastedHead has the key, the program and the
// disk: he takes the waiver out of the journal, chains the rest anew, signs every head of
// it again, and has cordon itself export it. All of it is perfect, but for one head that
// was pasted into the channel before.
func TestACustodianWhoDropsAnEventIsCaughtByOnePastedHead(t *testing.T) {
	t.Parallel()
	f := finishedCase(t)
	key, err := signing.FromFile(filepath.Join(f.labDir(), "signing_key"), nil)
	if err != nil {
		t.Fatal(err)
	}
	state := f.copied(t)
	dir := filepath.Join(state, "cases", "T")
	edit(t, filepath.Join(dir, "journal.jsonl"), func(b []byte) []byte { return without(t, b, `"kind":"waive"`, dir, key) })
	if s := f.at(state, "case", "show", "T"); s.code != 0 {
		t.Fatalf("what he made is not whole, so this proves nothing: %d %s", s.code, s.err)
	}
	forged := filepath.Join(f.dir, "forged.tar")
	if s := f.at(state, "case", "export", "T", "-o", forged); s.code != 0 {
		t.Fatalf("%d %s", s.code, s.err)
	}
	verify := func(name string, more ...string) said {
		return f.cordon(append([]string{"bundle", "verify", name, "--allowed-signers", f.signers}, more...)...)
	}
	if s := verify(forged); s.code != 0 || strings.Contains(s.out, "FAILED") {
		t.Fatalf("without a head it is not perfect: %d %s", s.code, s.out)
	}
	if s := verify(forged, "--head", f.pasted); s.code != 8 || !strings.Contains(s.out, "written anew") {
		t.Errorf("with the head %s: %d %s", f.pasted, s.code, s.out)
	}
	if s := verify(f.tar, "--head", f.pasted); s.code != 0 {
		t.Errorf("the true one: %d %s", s.code, s.out)
	}
	if s := f.at(filepath.Join(f.dir, "new"), "case", "import", forged, "--allowed-signers", f.signers, "--head", f.pasted); s.code != 8 {
		t.Errorf("it is imported all the same: %d %s", s.code, s.err)
	}
}

// without is a journal without its first line that has part, numbered, chained and signed
// anew into dir.
func without(t testing.TB, journal []byte, part, dir string, key signing.Signer) []byte {
	t.Helper()
	var out []byte
	prev, dropped, n := strings.Repeat("0", 64), false, 0
	now := map[int]int{}     // the number a line had → the one it has
	sums := map[int]string{} // the number it has → its digest
	if err := os.RemoveAll(filepath.Join(dir, "heads")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "heads"), 0o700); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(journal)) {
		var l casefile.Line
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if !dropped && strings.Contains(line, part) {
			dropped = true
			continue
		}
		n++
		now[l.Seq] = n
		line = strings.Replace(line, fmt.Sprintf(`"seq":%d,"prev":"%s"`, l.Seq, l.Prev), fmt.Sprintf(`"seq":%d,"prev":"%s"`, n, prev), 1)
		if l.Kind == "head" {
			var d struct {
				Seq       int
				Head, Sig string
			}
			if err := json.Unmarshal(l.Data, &d); err != nil {
				t.Fatal(err)
			}
			seq := now[d.Seq]
			name := fmt.Sprintf("heads/%04d.sig", seq)
			sig, err := key.Sign(signing.NamespaceHead, casefile.HeadMessage("T", seq, sums[seq]))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, name), sig, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			line = strings.NewReplacer(fmt.Sprintf(`"data":{"seq":%d`, d.Seq), fmt.Sprintf(`"data":{"seq":%d`, seq), d.Head, sums[seq], d.Sig, name).Replace(line)
		}
		sum := sha256.Sum256([]byte(line))
		prev = hex.EncodeToString(sum[:])
		sums[n] = prev
		out = append(out, line...)
	}
	if !dropped {
		t.Fatalf("no line has %s", part)
	}
	return out
}
