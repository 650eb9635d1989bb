package host

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"cordon/internal/host/snapshot"
	"cordon/internal/redact"
	"cordon/internal/testenv"
)

const testNonce = "00112233445566778899aabbccddeeff"

// tree is a host as files under root.
type tree struct {
	t    *testing.T
	root string
}

// newTree makes a host with one process, a clock, two accounts and nothing else.
func newTree(t *testing.T) *tree {
	t.Helper()
	dir, err := os.MkdirTemp("", "cordon-tree")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // also an ordinary user reads it in one test
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	tr := &tree{t: t, root: dir}
	tr.file("/proc/stat", "cpu  1 2 3\nintr 5\nbtime 1796000000\nprocesses 9\n", 0o444)
	tr.file("/proc/uptime", "7605.25 100.00\n", 0o444)
	tr.file("/proc/sys/kernel/hostname", "build-07\n", 0o444)
	tr.file("/proc/sys/kernel/osrelease", "6.1.0\n", 0o444)
	tr.file("/proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n", 0o444)
	tr.file("/etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n", 0o644)
	tr.file("/etc/machine-id", "0123456789abcdef\n", 0o444)
	tr.file("/etc/passwd", "root:x:0:0:root:/root:/bin/bash\nrunner:x:998:998::/home/gitlab-runner:/bin/bash\nsync:x:4:65534::/:/bin/sync\n", 0o644)
	tr.file("/proc/net/tcp", "  sl  local_address rem_address\n   0: 0200000A:D431 070200C0:01BB 01 00000000:00000000 00:00000000 00000000     0        0 4711 1\n", 0o444)
	tr.process(1, 0, 0, "systemd", "/usr/lib/systemd/systemd", "/init.scope", nil, "/sbin/init")
	for _, d := range []string{"/root", "/home/gitlab-runner", "/etc/systemd/system", "/var/log"} {
		tr.dir(d, 0o755)
	}
	return tr
}

func (tr *tree) must(err error) {
	tr.t.Helper()
	if err != nil {
		tr.t.Fatal(err)
	}
}

func (tr *tree) path(p string) string { return tr.root + p }

func (tr *tree) dir(p string, mode fs.FileMode) {
	tr.t.Helper()
	tr.must(os.MkdirAll(tr.path(p), 0o755))
	tr.must(os.Chmod(tr.path(p), mode))
}

func (tr *tree) file(p, content string, mode fs.FileMode) {
	tr.t.Helper()
	tr.must(os.MkdirAll(filepath.Dir(tr.path(p)), 0o755))
	_ = os.Remove(tr.path(p)) // it may be there and read-only
	tr.must(os.WriteFile(tr.path(p), []byte(content), 0o600))
	tr.must(os.Chmod(tr.path(p), mode))
}

func (tr *tree) link(target, p string) {
	tr.t.Helper()
	tr.must(os.MkdirAll(filepath.Dir(tr.path(p)), 0o755))
	tr.must(os.Symlink(target, tr.path(p)))
}

// process writes /proc/<pid> as the kernel shows it.
func (tr *tree) process(pid, ppid, uid int, comm, exe, cgroup string, env []string, args ...string) {
	tr.t.Helper()
	d := fmt.Sprintf("/proc/%d/", pid)
	tr.file(d+"stat", fmt.Sprintf("%d (%s) S %d %d %d 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 4200 12582912 2048\n", pid, comm, ppid, pid, pid), 0o444)
	tr.file(d+"status", fmt.Sprintf("Name:\t%s\nPid:\t%d\nUid:\t%d\t%d\t%d\t%d\n", comm, pid, uid, uid, uid, uid), 0o444)
	tr.file(d+"cmdline", strings.Join(args, "\x00")+"\x00", 0o444)
	tr.file(d+"environ", strings.Join(append(env, ""), "\x00"), 0o400)
	tr.file(d+"cgroup", "0::"+cgroup+"\n", 0o444)
	tr.link(exe, d+"exe")
	tr.link("/", d+"cwd")
	tr.dir(d+"fd", 0o755)
}

// listing is everything about the tree that writing to it would change.
func (tr *tree) listing() string {
	tr.t.Helper()
	var b strings.Builder
	tr.must(filepath.WalkDir(tr.root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		i, err := d.Info()
		if err != nil {
			return err
		}
		st := i.Sys().(*syscall.Stat_t)
		fmt.Fprintf(&b, "%q %o %d %d %d\n", p, st.Mode, st.Size, st.Mtim.Nano(), st.Ctim.Nano())
		return nil
	}))
	return b.String()
}

// shell is one of the shells that /bin/sh may be.
type shell struct {
	name string
	argv []string
}

func shells(t *testing.T) []shell {
	t.Helper()
	out := []shell{
		{"dash", []string{testenv.Need(t, "dash"), "-s"}},
		{"bash", []string{testenv.Need(t, "bash"), "--posix", "-s"}},
	}
	if p, err := exec.LookPath("busybox"); err != nil && os.Getenv("CORDON_CI") == "1" {
		testenv.Need(t, "busybox") // fails, and says what to install
	} else if err == nil {
		out = append(out, shell{"busybox", []string{p, "sh", "-s"}})
	}
	return out
}

// run sends the collector to a shell as the transport does and returns what it wrote.
func (tr *tree) run(sh shell, profile string, env []string, as *syscall.Credential) (stdout, stderr []byte) {
	tr.t.Helper()
	cmd := exec.Command(sh.argv[0], sh.argv[1:]...)
	cmd.Env = append([]string{}, env...)
	cmd.Dir = "/"
	cmd.Stdin = strings.NewReader("N=" + testNonce + "\nR=" + tr.root + "\nP=" + profile + "\n" + collector().Text)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	if err := cmd.Run(); err != nil {
		tr.t.Fatalf("%s: %v: %s", sh.name, err, errs.String())
	}
	return out.Bytes(), errs.Bytes()
}

func read(t *testing.T, stream []byte, profile string) *snapshot.Snapshot {
	t.Helper()
	at := time.Unix(1796007605, 0).UTC()
	s, err := snapshot.Parse(bytes.NewReader(stream), snapshot.Expect{
		Host: "build-07", Nonce: testNonce, Profile: profile, Sent: at, Now: func() time.Time { return at },
		Marker: redact.NewMarker([]byte("test key test key test key test!")),
	})
	if err != nil || !s.Complete {
		t.Fatalf("complete %v: %v\n%.2000s", s.Complete, err, stream)
	}
	return s
}

// at returns the file of that path in any section, nil where it was not told.
func at(s *snapshot.Snapshot, path string) *snapshot.File {
	for i := range s.Files {
		if string(s.Files[i].Path) == path {
			return &s.Files[i]
		}
	}
	return nil
}

// decoded is every body of a stream, for searching.
func decoded(t *testing.T, stream []byte) string {
	t.Helper()
	var b strings.Builder
	f := snapshot.NewFrames(bytes.NewReader(stream), testNonce, snapshot.Limits{})
	for {
		fr, err := f.Next()
		if err != nil {
			return b.String()
		}
		b.WriteString(fr.Name + "\x00")
		b.Write(fr.Body)
		b.WriteByte(0)
	}
}

func shellCommand(sh shell, text string) *exec.Cmd {
	cmd := exec.Command(sh.argv[0], sh.argv[1:]...)
	cmd.Env = []string{}
	cmd.Stdin = strings.NewReader(text)
	return cmd
}

// pipe sends text to a shell and returns what it wrote.
func pipe(t *testing.T, sh shell, text string) string {
	t.Helper()
	cmd := shellCommand(sh, text)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || errs.Len() != 0 {
		t.Fatalf("%s: %v: %s", sh.name, err, errs.String())
	}
	return string(out)
}
