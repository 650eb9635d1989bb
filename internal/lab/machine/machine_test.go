package machine

import (
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"
	"time"
)

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func vars() Vars {
	return Vars{
		Host: "build-07", Address: "127.0.0.11", GitLab: "http://127.0.0.1:80", Start: began,
		Funcs: func(where string) template.FuncMap {
			return template.FuncMap{"secret": func() string { return "secret of " + where }}
		},
	}
}

func build7(t *testing.T, m Manifest) *Machine {
	t.Helper()
	x, err := New(filepath.Join(t.TempDir(), "build-07"), m, vars(), 1)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// What git and go:embed lose: dotfiles, links, modes, times.
func TestTreeIsAsTheManifestSays(t *testing.T) {
	x := build7(t, Manifest{Entries: []Entry{
		{Path: "/home/r", Kind: KindDir, Mode: "0700", Age: 48 * time.Hour},
		{Path: "/home/r/.ssh", Kind: KindDir, Mode: "2750", Age: 24 * time.Hour},
		{Path: "/home/r/.ssh/authorized_keys", Mode: "0600", Age: time.Hour, Content: "key\n"},
		{Path: "/home/r/.netrc", Content: "{{secret}} on {{.Host}}"},
		{Path: "/usr/bin/tool", Mode: "4755"},
		{Path: "/tmp", Kind: KindDir, Mode: "1777"},
		{Path: "/etc/wants/x.service", Kind: KindLink, To: "/nowhere/x.service", Age: 3 * time.Hour},
		{Path: "/etc/public", Mode: "0666"},
	}})
	for path, want := range map[string]struct {
		mode fs.FileMode
		age  time.Duration
	}{
		"/home/r":                      {fs.ModeDir | 0o700, 48 * time.Hour},
		"/home/r/.ssh":                 {fs.ModeDir | fs.ModeSetgid | 0o750, 24 * time.Hour},
		"/home/r/.ssh/authorized_keys": {0o600, time.Hour},
		"/home/r/.netrc":               {0o644, 0},
		"/usr/bin/tool":                {fs.ModeSetuid | 0o755, 0},
		"/tmp":                         {fs.ModeDir | fs.ModeSticky | 0o777, 0},
		"/etc/wants/x.service":         {fs.ModeSymlink | 0o777, 3 * time.Hour},
		"/etc/public":                  {0o666, 0},
	} {
		st, err := os.Lstat(x.Path(path))
		if err != nil {
			t.Error(err)
			continue
		}
		if st.Mode() != want.mode || !st.ModTime().Equal(began.Add(-want.age)) {
			t.Errorf("%s: %v of %s, want %v of %s", path, st.Mode(), st.ModTime().UTC(), want.mode, began.Add(-want.age))
		}
	}
	if to, err := os.Readlink(x.Path("/etc/wants/x.service")); err != nil || to != "/nowhere/x.service" {
		t.Errorf("link to %q, %v", to, err)
	}
	if got := read(t, x, "/home/r/.netrc"); got != "secret of /home/r/.netrc on build-07" {
		t.Errorf("template gave %q", got)
	}
}

func TestManifestRefuses(t *testing.T) {
	for name, e := range map[string]Entry{
		"outside":  {Path: "/../x"},
		"relative": {Path: "x"},
		"unclean":  {Path: "/a//b"},
		"root":     {Path: "/"},
		"kind":     {Path: "/x", Kind: "pipe"},
		"mode":     {Path: "/x", Mode: "rw"},
		"template": {Path: "/x", Content: "{{nothing}}"},
	} {
		if _, err := New(filepath.Join(t.TempDir(), "h"), Manifest{Entries: []Entry{e}}, vars(), 1); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := ParseManifest([]byte("entries:\n  - {path: /x, mood: bad}\n")); err == nil || !strings.Contains(err.Error(), "mood") {
		t.Errorf("unknown key: %v", err)
	}
}

func read(t *testing.T, m *Machine, path string) string {
	t.Helper()
	b, err := os.ReadFile(m.Path(path))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A process shows in every place of /proc while it lives and in none after.
func TestProcessLivesAndDies(t *testing.T) {
	x := build7(t, Manifest{})
	p := Process{
		PID: 1204, PPID: 1, UID: 998, Comm: "odd) name", Exe: "/tmp/.x (deleted)", Cwd: "/tmp", Args: []string{"a", "b c"},
		Env: []string{"K=v"}, Cgroup: "/system.slice/x.service", Started: began,
	}
	if err := x.Spawn(p); err != nil {
		t.Fatal(err)
	}
	local, remote := netip.MustParseAddrPort("127.0.0.11:40000"), netip.MustParseAddrPort("192.0.2.10:443")
	inode, err := x.Connect(1204, local, remote)
	if err != nil {
		t.Fatal(err)
	}
	stat := read(t, x, "/proc/1204/stat")
	f := strings.Fields(stat[strings.LastIndex(stat, ")")+1:])
	if len(f) != 50 || f[1] != "1" || f[19] != fmt.Sprint(int64(began.Sub(x.boot).Seconds()*hertz)) {
		t.Errorf("stat: %s", stat)
	}
	for path, want := range map[string]string{
		"cmdline": "a\x00b c\x00", "environ": "K=v\x00", "cgroup": "0::/system.slice/x.service\n",
	} {
		if got := read(t, x, "/proc/1204/"+path); got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
	if s := read(t, x, "/proc/1204/status"); !strings.Contains(s, "\nUid:\t998\t998\t998\t998\n") || !strings.Contains(s, "\nPPid:\t1\n") {
		t.Errorf("status: %s", s)
	}
	for path, want := range map[string]string{"exe": p.Exe, "cwd": "/tmp", "fd/3": fmt.Sprintf("socket:[%d]", inode)} {
		if to, err := os.Readlink(x.Path("/proc/1204/" + path)); err != nil || to != want {
			t.Errorf("%s -> %q, %v", path, to, err)
		}
	}
	line := fmt.Sprintf("   0: 0B00007F:9C40 0A0200C0:01BB 01 00000000:00000000 00:00000000 00000000   998        0 %d ", inode)
	if got := read(t, x, "/proc/net/tcp"); !strings.Contains(got, line) {
		t.Errorf("tcp:\n%s\nwant %q", got, line)
	}

	if err := x.Kill(1204); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(x.Path("/proc/1204")); !os.IsNotExist(err) {
		t.Errorf("still in /proc: %v", err)
	}
	if got := read(t, x, "/proc/net/tcp"); got != tableHead {
		t.Errorf("its socket is left:\n%s", got)
	}
	if err := x.Disconnect(inode); err != nil {
		t.Errorf("a connection that ends after its process: %v", err)
	}
	if _, err := x.Connect(1204, local, remote); err == nil {
		t.Error("a dead process connects")
	}
}

func TestDescriptorsAreReused(t *testing.T) {
	x := build7(t, Manifest{})
	if err := x.Spawn(Process{PID: 9}); err != nil {
		t.Fatal(err)
	}
	remote := netip.MustParseAddrPort("127.0.0.1:80")
	a, err := x.Connect(9, netip.MustParseAddrPort("127.0.0.11:1"), remote)
	if err != nil {
		t.Fatal(err)
	}
	b, err := x.Connect(9, netip.MustParseAddrPort("127.0.0.11:2"), remote)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Disconnect(a); err != nil {
		t.Fatal(err)
	}
	c, err := x.Connect(9, netip.MustParseAddrPort("127.0.0.11:3"), remote)
	if err != nil {
		t.Fatal(err)
	}
	for fd, inode := range map[string]uint64{"3": c, "4": b} {
		if to, _ := os.Readlink(x.Path("/proc/9/fd/" + fd)); to != fmt.Sprintf("socket:[%d]", inode) {
			t.Errorf("fd %s -> %q", fd, to)
		}
	}
}

// btime plus uptime is the host's clock.
func TestHostClock(t *testing.T) {
	x := build7(t, Manifest{})
	now := began.Add(90*time.Minute + 500*time.Millisecond)
	if err := x.Tick(now); err != nil {
		t.Fatal(err)
	}
	var boot int64
	for _, l := range strings.Split(read(t, x, "/proc/stat"), "\n") {
		if _, err := fmt.Sscanf(l, "btime %d", &boot); err == nil {
			break
		}
	}
	var up float64
	if _, err := fmt.Sscan(read(t, x, "/proc/uptime"), &up); err != nil {
		t.Fatal(err)
	}
	if got := time.Unix(boot, 0).Add(time.Duration(up * 1e9)); got.Sub(now).Abs() > 20*time.Millisecond {
		t.Errorf("the host's clock says %s, want %s", got.UTC(), now)
	}
}

func TestUnitLinks(t *testing.T) {
	x := build7(t, Manifest{Entries: []Entry{{Path: "/etc/systemd/system/a.service"}}})
	if !x.HasUnit("a.service") || x.HasUnit("b.service") || x.Enabled("a.service") {
		t.Error("unit files are not what is there")
	}
	for _, step := range []struct{ on, changed bool }{{true, true}, {true, false}, {false, true}, {false, false}} {
		changed, err := x.SetEnabled("a.service", step.on)
		if err != nil || changed != step.changed || x.Enabled("a.service") != step.on {
			t.Errorf("enabled %v: changed %v, %v", step.on, changed, err)
		}
	}
}

// A log is bounded, starts with a whole line, and always has its end.
func TestLogIsBounded(t *testing.T) {
	x := build7(t, Manifest{Entries: []Entry{{Path: "/var/log", Kind: KindDir}}})
	filler := strings.Repeat("x", 60<<10)
	n := 3 * LogCap / len(filler)
	for i := range n {
		if err := x.Log("/var/log/a.log", fmt.Appendf(nil, "%d %s end", i, filler)); err != nil {
			t.Fatal(err)
		}
	}
	text := read(t, x, "/var/log/a.log")
	if len(text) > LogCap+2*len(filler) || len(text) < LogCap/3 {
		t.Errorf("%d bytes", len(text))
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, l := range lines {
		if want := fmt.Sprintf("%d x", n-len(lines)+i); !strings.HasPrefix(l, want) || !strings.HasSuffix(l, " end") {
			t.Errorf("line %d begins with %.20q, want %q", i, l, want)
		}
	}
}

// A program has the size of one, and what it begins with; a size below its text cuts
// nothing.
func TestSizeStretches(t *testing.T) {
	m, err := New(filepath.Join(t.TempDir(), "tree"), Manifest{Entries: []Entry{
		{Path: "/opt/r/bin/node", Mode: "0755", Content: "\x7fELF", Size: 4096},
		{Path: "/opt/r/run.sh", Content: "#!/bin/true\n", Size: 3},
	}}, Vars{Host: "h", Start: time.Now()}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]int{"/opt/r/bin/node": 4096, "/opt/r/run.sh": 12} {
		b, err := os.ReadFile(m.Path(p))
		if err != nil || len(b) != want || b[0] == 0 {
			t.Errorf("%s: %d bytes, %v", p, len(b), err)
		}
	}
}
