package host

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"filippo.io/age"

	"cordon/internal/casefile"
	"cordon/internal/clock"
	"cordon/internal/evidence"
	"cordon/internal/host/snapshot"
)

// here is this machine as the host "b7", over a shell.
func here(sh shell) *Hosts {
	return New(map[string]Host{"b7": {Exec: append([]string{"env", "-i"}, sh.argv...)}}, Options{Marker: marker})
}

func fetch(t *testing.T, h *Hosts, path string, max int64, to evidence.Sink, recipients ...string) Fetched {
	t.Helper()
	f, err := h.Fetch(t.Context(), "b7", Wanted{Path: path, Max: max, Recipients: recipients}, to)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func write(t *testing.T, path string, b []byte) string {
	t.Helper()
	if err := os.WriteFile(path, b, 0o640); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAFileIsReadByteForByteUnderEveryShell(t *testing.T) {
	dir := t.TempDir()
	big := make([]byte, 1<<20+4711) // two pieces
	for i := range big {
		big[i] = byte(i * i >> 7)
	}
	for _, sh := range shells(t) {
		t.Run(sh.name, func(t *testing.T) {
			for name, b := range map[string][]byte{
				"plain": []byte("* * * * * root true\n"), "empty": {}, "zeros": {0, 0, 10, 0}, "big": big,
				"a\nb": []byte("newline"), "ends\n\n": []byte("in newlines"), `q'"$(touch ` + "`x`" + `)`: []byte("quotes"), "*": []byte("a pattern"), " -n ": []byte("an option"), "\xff\xfe": []byte("not UTF-8"),
			} {
				p := write(t, filepath.Join(dir, name), b)
				f := fetch(t, here(sh), p, 0, &sink{})
				if f.Why != "" || string(f.Path) != p || f.SHA256 != sumOf(b) || f.Read != int64(len(b)) || f.Size != f.Read || f.Truncated || f.Changed || f.Mode != 0o640 || f.Names != 1 || f.UID != os.Getuid() {
					t.Errorf("%q: %+v", name, f)
				}
			}
			if got, err := filepath.Glob(filepath.Join(dir, "x")); err != nil || len(got) > 0 {
				t.Error("a name was run")
			}
			f := fetch(t, here(sh), filepath.Join(dir, "big"), 1<<20, &sink{})
			if f.SHA256 != sumOf(big[:1<<20]) || !f.Truncated || f.Size != int64(len(big)) {
				t.Errorf("cut: %+v", f)
			}
			if f := fetch(t, here(sh), filepath.Join(dir, "plain"), int64(len("* * * * * root true\n")), &sink{}); f.Truncated {
				t.Error("a file that is exactly as long as the limit is whole")
			}
		})
	}
}

func TestWhatIsNoPlainFileIsNotRead(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink("/etc/hostname", filepath.Join(dir, "link")), os.Symlink("/proc", filepath.Join(dir, "p"))); err != nil {
		t.Fatal(err)
	}
	for _, sh := range shells(t) {
		for path, why := range map[string]string{
			dir + "/fifo": "not a regular file", dir: "not a regular file", "/dev/zero": "not a regular file", dir + "/link": "a link", dir + "/none": "not there",
			"/proc/kmsg": "a file of the kernel", "/proc/self/mem": "a file of the kernel", dir + "/p/version": "a directory on the way is a link", "/proc/self/exe": "a link", "/proc/999999999/exe": "not there",
		} {
			to := &sink{}
			f := fetch(t, here(sh), path, 0, to)
			if !strings.Contains(f.Why, why) && !(path == "/proc/kmsg" && strings.Contains(f.Why, "not there")) {
				t.Errorf("%s: %s: %+v", sh.name, path, f)
			}
			if f.SHA256 != "" || f.Read != 0 || len(to.gaps) != 1 || f.Carried.Script != fetcher().SHA256 {
				t.Errorf("%s: %s: %+v, gaps %v", sh.name, path, f, to.gaps)
			}
			if strings.HasSuffix(path, "/link") && f.Link != "/etc/hostname" {
				t.Errorf("where it leads: %q", f.Link)
			}
		}
	}
}

func TestInATreeNothingLeadsOutOfIt(t *testing.T) {
	tr := newTree(t)
	tr.file("/etc/cron.d/x", "x\n", 0o644)
	tr.link("/etc", "/out")
	h := New(map[string]Host{"b7": {Exec: tr.serving(t)}}, Options{Marker: marker})
	if f := fetch(t, h, "/etc/cron.d/x", 0, &sink{}); f.SHA256 != sumOf([]byte("x\n")) {
		t.Errorf("%+v", f)
	}
	for _, p := range []string{"/out/hostname", "/proc/1/exe"} {
		if f := fetch(t, h, p, 0, &sink{}); !strings.Contains(f.Why, "link") {
			t.Errorf("%s: %+v", p, f)
		}
	}
}

func TestADeletedExecutableComesThroughItsProcess(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	if sleep, err = filepath.EvalSymlinks(sleep); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	p := filepath.Join(t.TempDir(), "sleep")
	if err := os.WriteFile(p, b, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(p, "300")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if err := os.Remove(p); err != nil {
		t.Fatal(err)
	}
	w, err := ParseWanted(fmt.Sprintf("proc:%d", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, sh := range shells(t) {
		f := fetch(t, here(sh), w.Path, 0, &sink{})
		if f.SHA256 != sumOf(b) || f.Names != 0 || !strings.HasSuffix(string(f.Link), "/sleep (deleted)") || f.Kind != "ELF program or library" {
			t.Errorf("%s: %+v", sh.name, f)
		}
	}
}

// said makes a host that answers with what is there after the begin frame.
func said(t *testing.T, frames string) *Hosts {
	t.Helper()
	p := filepath.Join(t.TempDir(), "says")
	script := "#!/bin/sh\nIFS= read -r n\nn=${n#N=}\ncat >/dev/null\nS=0\n" +
		"f() { S=$((S + 1)); printf 'C1 %s %s %s %s %s\\n%s\\n' \"$n\" $S \"$1\" \"$2\" ${#3} \"$3\"; }\n" + frames
	if err := os.WriteFile(p, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return New(map[string]Host{"b7": {Exec: []string{p}}}, Options{Marker: marker, Timeouts: patient})
}

func TestAnAnswerAboutSomethingElseIsForged(t *testing.T) {
	const begin, stat = "f begin =fetch '=cordon-fetch 1'\n", "'=81a4 0 0 2 1 1'"
	good := begin + "f lstat =/etc/x " + stat + "\nf value =before '=81a4 0 0 2 1 1 7 1'\nf data =/etc/x '~eAo='\nf value =after '=81a4 0 0 2 1 1 7 1'\n"
	if f := fetch(t, said(t, good+"f end =fetch =5\n"), "/etc/x", 0, &sink{}); f.Why != "" || f.SHA256 != sumOf([]byte("x\n")) {
		t.Fatalf("the honest one: %+v", f)
	}
	for name, bad := range map[string]string{
		"another path":        strings.ReplaceAll(good, "=/etc/x", "=/etc/../../root/.ssh/authorized_keys") + "f end =fetch =5\n",
		"another in the data": strings.Replace(good, "data =/etc/x", "data =/etc/y", 1) + "f end =fetch =5\n",
		"no end":              good,
		"a wrong count":       good + "f end =fetch =6\n",
		"more behind":         good + "f end =fetch =5\nf data =/etc/x =more\n",
		"another script":      strings.Replace(good, "cordon-fetch", "cordon-collector", 1) + "f end =fetch =5\n",
		"nothing said":        begin + "f end =fetch =1\n",
		"data and refusal":    strings.Replace(good, "f value =after '=81a4 0 0 2 1 1 7 1'", "f nodata =/etc/x =denied", 1) + "f end =fetch =5\n",
		"a device was read":   strings.Replace(good, "=before '=81a4", "=before '=21a4", 1) + "f end =fetch =5\n",
		"data without stat":   begin + "f data =/etc/x '~eAo='\nf end =fetch =2\n",
	} {
		to := &sink{}
		f := fetch(t, said(t, bad), "/etc/x", 0, to)
		if f.Why == "" || f.SHA256 != "" || f.Print != "" || f.Read != 0 || len(to.gaps) != 1 {
			t.Errorf("%s: %+v", name, f)
		}
	}
	to := &sink{}
	if f := fetch(t, said(t, good+"f end =fetch =5\n"), "/etc/x", 1, to); !strings.Contains(f.Why, snapshot.ErrTooLarge.Error()) || f.Read != 0 {
		t.Errorf("more than was asked for: %+v", f)
	}
}

func TestASealedFileOpensAndItsClearTextIsNowhere(t *testing.T) {
	dir := t.TempDir()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	needle := "needle-" + newNonce()
	clear := []byte("machine x login y password " + needle + "\n")
	p := write(t, filepath.Join(t.TempDir(), ".netrc"), clear)
	control := write(t, filepath.Join(dir, "control"), clear)
	store, err := casefile.OpenStore(casefile.Opener{Dir: filepath.Join(dir, "state"), Clock: clock.Real{}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := store.Create(t.Context(), casefile.Opening{ID: "c1", Title: "x", Kind: "check", Recipients: []string{id.Recipient().String()}}, casefile.Actor{Name: "alice@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	v, err := c.View()
	if err != nil {
		t.Fatal(err)
	}
	f := fetch(t, here(shells(t)[0]), p, 0, c, v.Opening.Recipients...)
	if f.Secrets != SecretsPlace || f.SHA256 != "" || f.Print != marker.Print(string(clear)) || f.Sealed == "" || len(f.Recipients) != 1 {
		t.Errorf("%+v", f)
	}
	if v, err = c.View(); err != nil {
		t.Fatal(err)
	}
	var it evidence.Item
	for _, x := range v.Items {
		if x.Name == f.Sealed {
			it = x
		}
		if strings.Contains(x.Name, "netrc") {
			t.Errorf("kept under its own name: %s", x.Name)
		}
	}
	if !it.Sealed || it.Digest != f.SealedSum {
		t.Errorf("%+v", it)
	}
	b, err := v.Blob(it.Digest)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	open, err := age.Decrypt(b, id)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(open); err != nil || !bytes.Equal(got, clear) {
		t.Errorf("%q, %v", got, err)
	}
	var in []string
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		if bytes.Contains(b, []byte(needle)) || bytes.Contains(b, []byte(sumOf(clear))) {
			in = append(in, p)
		}
		return err
	})
	if err != nil || len(in) != 1 || in[0] != control {
		t.Errorf("clear text in %v, %v; want it in the control alone", in, err)
	}
}

func TestWithoutRecipientsNothingOfAFileIsKept(t *testing.T) {
	needle := "needle-" + newNonce()
	p := write(t, filepath.Join(t.TempDir(), "note"), []byte("#!/bin/sh\necho "+needle+"\n"))
	to := &sink{}
	f := fetch(t, here(shells(t)[0]), p, 0, to)
	if f.Kind != "script #!/bin/sh" || f.Secrets != SecretsNone || f.SHA256 == "" || f.Sealed != "" || len(to.items) != 1 {
		t.Errorf("%+v, %v", f, to.items)
	}
	var d Fetched
	if err := json.Unmarshal(to.data[f.Item], &d); err != nil || string(d.Path) != p || d.SHA256 != f.SHA256 || d.Carried == nil || d.Started.IsZero() || !d.Offset.Known {
		t.Errorf("description: %v %+v", err, d)
	}
	if bytes.Contains(to.data[f.Item], []byte(needle)) {
		t.Error("its content is in the description")
	}
}

func TestOnlyAPathOrAProcessIsAskedFor(t *testing.T) {
	for _, s := range []string{"", "x", "./x", "/", "/a/../b", "/a//b", "/a/", "/a\x00b", "/" + strings.Repeat("a", 4095), "proc:", "proc:1/../2", "proc:-1", "proc:self", "proc:1234567890"} {
		if w, err := ParseWanted(s); !errors.Is(err, ErrBadConfig) {
			t.Errorf("%.40q: %+v %v", s, w, err)
		}
	}
	if w, err := ParseWanted("proc:812"); err != nil || w.Path != "/proc/812/exe" {
		t.Error(w, err)
	}
	if w, err := ParseWanted("/etc/a b\n"); err != nil || w.Path != "/etc/a b\n" {
		t.Error(w, err)
	}
}
