package host

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// printed is a script of ours with a stream that answers it.
func printed(t *testing.T, h *Hosts) (Printed, string) {
	t.Helper()
	p, err := h.Print("b7", snapshot.ProfileWatch, "")
	if err != nil {
		t.Fatal(err)
	}
	return p, watchStream(p.Text)
}

func TestAPrintedScriptIsWhatASSHSessionWouldSend(t *testing.T) {
	h := New(nil, Options{})
	p, _ := printed(t, h)
	lines := strings.SplitN(p.Text, "\n", 4)
	if len(lines) != 4 || lines[0] != "N="+p.Nonce || lines[1] != "R=" || lines[2] != "P=watch" || lines[3] != collector().Text || p.Script != collector().SHA256 {
		t.Errorf("%q", lines[:3])
	}
	if q, _ := printed(t, h); q.Nonce == p.Nonce {
		t.Error("two scripts with one nonce")
	}
	for _, bad := range [][3]string{{"../x", "watch", ""}, {"b7", "everything", ""}, {"b7", "image", ""}, {"b7", "watch", "/mnt"}, {"b7", "image", "/mnt/$(id)"}, {"b7", "image", "mnt"}, {"b7", "image", "/a b"}} {
		if _, err := h.Print(bad[0], bad[1], bad[2]); !errors.Is(err, ErrBadConfig) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// The same checks as on any other way, and whatever is wrong keeps "complete" away.
func TestAnAnswerThatWasTamperedWithIsNotWhole(t *testing.T) {
	h := New(nil, Options{Marker: marker})
	p, good := printed(t, h)
	_, other := printed(t, h)
	cut := good[:strings.LastIndex(good, "C1 ")]
	for name, c := range map[string]struct {
		answer string
		want   string
	}{
		"as it came":             {good, ""},
		"with a console's lines": {"Last login: today\r\n" + strings.ReplaceAll(good, "\n", "\r\n"), ""},
		"cut":                    {cut, "stream ended"},
		"another nonce":          {other, "another nonce"},
		"something behind it":    {good + "root@b7:~# \n", "follows the end"},
		"twice":                  {good + good, "follows the end"},
		"an edited value":        {strings.Replace(good, "value =uid 2\n=0", "value =uid 2\n=00", 1), "not what our script writes"},
		"nothing":                {"", "stream ended"},
		"escapes":                {strings.Replace(good, "=ok", "="+escapes, 1), "not what our script writes"},
	} {
		to := &sink{}
		gaps, whole, err := h.Ingest(t.Context(), "b7", "kim"+escapes, p.Issued, strings.NewReader(c.answer), to)
		if err != nil || whole != (c.want == "") {
			t.Errorf("%s: whole %v, err %v", name, whole, err)
			continue
		}
		said := ""
		for _, g := range gaps {
			said += g.Why
		}
		if !strings.Contains(said, c.want) || untrusted.Clean(said, 0) != said {
			t.Errorf("%s: says %q, want %q", name, said, c.want)
		}
		for _, it := range to.items {
			if untrusted.Clean(it.Source, 0) != it.Source || it.Name != "host/b7/snapshot.json" {
				t.Errorf("%s: kept as %+v", name, it)
			}
		}
	}
}

// Paths in an answer are data (facts/host.md §4.5): nothing is ever written where they
// say, and one that is no path of a host is a forgery.
func TestPathsInAnAnswerAreNeverUsed(t *testing.T) {
	h := New(nil, Options{Marker: marker})
	p, err := h.Print("b7", snapshot.ProfileTriage, "")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	outside := filepath.Join(dir, "owned")
	for name, path := range map[string]string{
		"absolute": outside, "up": "/../../../../../.." + outside, "up in the middle": "/etc/../.." + outside,
		"long": "/" + strings.Repeat("a/", 3000) + "b", "reserved": "/CON", "stream": "/a:b", "escapes": "/" + escapes, "NUL": "/a\x00b",
		"newline": "/a\nC1 x", "relative": "owned", "dot": ".", "empty": "",
	} {
		to := &sink{}
		answer := withFile(p.Nonce, path)
		_, whole, err := h.Ingest(t.Context(), "b7", "kim", p.Issued, strings.NewReader(answer), to)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if forged := !strings.HasPrefix(path, "/"); whole == forged {
			t.Errorf("%s: whole %v", name, whole)
		}
		for _, it := range to.items {
			if it.Name != "host/b7/snapshot.json" {
				t.Errorf("%s: kept as %q", name, it.Name)
			}
		}
		for _, b := range to.data {
			if i := bytes.IndexFunc(b, func(r rune) bool { return r < 0x20 && r != '\n' || r == 0x7f || r == 0x202e }); i >= 0 {
				t.Errorf("%s: a control character is in the evidence", name)
			}
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("files were written: %v %v", left, err)
	}
	for _, bad := range []string{"..", "../x", "a/b", "", "/etc", "-x", "a\nb", strings.Repeat("a", 200)} {
		if _, _, err := h.Ingest(t.Context(), bad, "kim", p.Issued, strings.NewReader(""), &sink{}); !errors.Is(err, ErrBadConfig) {
			t.Errorf("as host %q: %v", bad, err)
		}
	}
}

// withFile is a whole triage answer with one file of that path in cron.
func withFile(nonce, path string) string {
	f := &framer{nonce: nonce}
	f.frame("begin", "triage", "cordon-collector 1")
	for _, s := range snapshot.SectionsOf("triage") {
		f.frame("enter", s, "")
		if s == snapshot.SectionIdent {
			f.frame("value", "uid", "0")
		}
		if s == snapshot.SectionCron {
			f.frame("lstat", path, "81a4 0 0 2 1 1")
			f.frame("data", path, "x\n")
		}
		f.frame("section", s, "ok")
	}
	f.frame("end", "triage", itoa(f.n))
	return f.b.String()
}

func TestANonceCountsOnce(t *testing.T) {
	n := Nonces{filepath.Join(t.TempDir(), "printed.jsonl")}
	h := New(nil, Options{Marker: marker})
	p, answer := printed(t, h)
	if _, err := n.Find(p.Nonce); !errors.Is(err, ErrNotOurs) {
		t.Errorf("before any was printed: %v", err)
	}
	if err := n.Add(p.Issued); err != nil {
		t.Fatal(err)
	}
	nonce, err := NonceOf(strings.NewReader("motd\n" + answer))
	if err != nil || nonce != p.Nonce {
		t.Fatalf("%q %v", nonce, err)
	}
	is, err := n.Find(nonce)
	if err != nil || is != p.Issued {
		t.Errorf("%+v %v", is, err)
	}
	if _, err := n.Find(newNonce()); !errors.Is(err, ErrNotOurs) {
		t.Errorf("somebody else's: %v", err)
	}
	is.Used = true
	if err := n.Add(is); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Find(nonce); !errors.Is(err, ErrUsed) {
		t.Errorf("a second time: %v", err)
	}
	if st, err := os.Stat(n.Path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", st.Mode(), err)
	}
	for _, bad := range []string{"", "C1 zz 1 begin =watch 3\n", strings.Repeat("a", 70<<10), "C1 " + nonce + " 2 begin =watch 20\n", "C1 " + nonce + " 1 begin =../x 20\n"} {
		if _, err := NonceOf(strings.NewReader(bad)); !errors.Is(err, ErrNotOurs) {
			t.Errorf("%.40q: %v", bad, err)
		}
	}
}

// A file that somebody brought may be a pipe that never answers, or a disk.
func TestOnlyARegularFileOfBoundedSizeIsOpened(t *testing.T) {
	dir := t.TempDir()
	fifo, big, ok := filepath.Join(dir, "fifo"), filepath.Join(dir, "big"), filepath.Join(dir, "ok")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, size := range map[string]int64{big: maxAnswer + 1, ok: 3} {
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.Truncate(size), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for _, bad := range []string{fifo, big, dir, filepath.Join(dir, "none"), "/dev/zero"} {
		if f, err := OpenAnswer(bad); err == nil {
			f.Close()
			t.Errorf("%s was opened", bad)
		}
	}
	f, err := OpenAnswer(ok)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}
