package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cordon/internal/check"
	"cordon/internal/evidence"
	"cordon/internal/host/snapshot"
	"cordon/internal/redact"
)

// marker is the key under which all of these tests compare.
var marker = redact.NewMarker([]byte("test key test key test key test!"))

// serving is a program that carries a shell on tr, as whoever serves a tree in place of
// a machine does (FORMAT.md): it puts the tree's root into the empty R of the preamble.
func (tr *tree) serving(t *testing.T) []string {
	t.Helper()
	p := filepath.Join(t.TempDir(), "carry")
	script := "#!/bin/sh\nsed -e '2s|^R=$|R=" + tr.root + "|' | exec env -i /bin/sh -s\n"
	if err := os.WriteFile(p, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return []string{p}
}

// gathered is the snapshot that a read kept.
func gathered(t *testing.T, to *sink, name string) *snapshot.Snapshot {
	t.Helper()
	s, err := snapshot.Decode(bytes.NewReader(to.data[name]))
	if err != nil {
		t.Fatalf("%s: %v; kept %v, gaps %v", name, err, to.items, to.gaps)
	}
	return s
}

// found is every finding with its place, without what depends on the way.
func found(s *snapshot.Snapshot, but ...string) []string {
	var out []string
	for _, r := range check.Run(s) {
		if slices.Contains(but, r.Check) {
			continue
		}
		for _, f := range r.Findings {
			out = append(out, strings.ReplaceAll(fmt.Sprintf("%s %s: %s at %s", f.Severity, f.Check, f.Title, f.Where), " at "+s.Host, " at the host"))
		}
	}
	return out
}

// The same planted host, through every way that leads to one. "local" has its shell
// wrapped, because the machine of the test is not the planted one; the disk image is the
// same tree without anything that runs.
func TestEveryWayGivesTheSameFindings(t *testing.T) {
	tr := planted(t)
	argv := tr.serving(t)
	s := serve(t, honest(tr.root, ""))
	o := Options{Marker: marker, Timeouts: patient, Shell: argv}
	h := New(map[string]Host{
		"build-07": s.host(),
		"pod":      {Exec: argv, Unit: "gitlab-runner.service"},
		"here":     {Local: true, Unit: "gitlab-runner.service"},
	}, o)

	ways := map[string]*snapshot.Snapshot{}
	for name, way := range map[string]string{"build-07": snapshot.BySSH, "pod": snapshot.ByExec, "here": snapshot.ByLocal} {
		to := &sink{}
		if _, err := h.Gather(t.Context(), ref(name), snapshot.ProfileTriage, to); err != nil {
			t.Fatal(err)
		}
		ways[way] = gathered(t, to, "host/"+name+"/snapshot.json")
		if way != snapshot.BySSH && !strings.Contains(to.items[0].Source, way) {
			t.Errorf("evidence says %q of what came by %s", to.items[0].Source, way)
		}
	}
	ways[snapshot.ByHand] = byHand(t, h, argv[0])

	want := found(ways[snapshot.BySSH])
	if len(want) < 8 {
		t.Fatalf("the planted host gives only %d findings: %v", len(want), want)
	}
	for way, snap := range ways {
		if got := found(snap); !snap.Complete || !slices.Equal(got, want) {
			t.Errorf("by %s, complete %v:\n%s\nwant\n%s", way, snap.Complete, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if snap.Carried == nil || snap.Carried.Transport != way || snap.Carried.Carrier == "" || snap.Carried.Script != collector().SHA256 {
			t.Errorf("by %s: recorded as %+v", way, snap.Carried)
		}
	}
	if k := ways[snapshot.BySSH].Carried.HostKey; k == nil || k.State != snapshot.KeyKnown {
		t.Errorf("host key %+v", k)
	}
}

// byHand prints a script, runs it as a colleague would, and takes the answer.
func byHand(t *testing.T, h *Hosts, shell string) *snapshot.Snapshot {
	t.Helper()
	p, err := h.Print("brought", snapshot.ProfileTriage, "")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(shell)
	cmd.Stdin = strings.NewReader(p.Text)
	answer, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	to := &sink{}
	if _, whole, err := h.Ingest(t.Context(), "brought", "kim", p.Issued, bytes.NewReader(answer), to); err != nil || !whole {
		t.Fatalf("whole %v: %v", whole, err)
	}
	if to.items[0].Source != "collector, brought by hand by kim, profile triage" {
		t.Errorf("source %q", to.items[0].Source)
	}
	return gathered(t, to, "host/brought/snapshot.json")
}

// A disk image has no processes: what files say is found as on the machine, and what only
// a running machine has is not asked for.
func TestADiskImageIsReadWithoutAnythingThatRuns(t *testing.T) {
	tr := planted(t)
	tr.file("/etc/hostname", "build-07\n", 0o644)
	s := serve(t, honest(tr.root, ""))
	live := &sink{}
	if _, err := s.hosts(Options{Timeouts: patient}).Gather(t.Context(), ref("build-07"), snapshot.ProfileTriage, live); err != nil {
		t.Fatal(err)
	}
	to := &sink{}
	if _, err := New(nil, Options{Marker: marker}).Image(t.Context(), "build-07", tr.root, to); err != nil {
		t.Fatal(err)
	}
	snap := gathered(t, to, "host/build-07/snapshot.json")
	if !snap.Complete || len(snap.Processes)+len(snap.Sockets) != 0 || snap.Ident.BootID != "" || !snap.Ident.BootTime.IsZero() || snap.Ident.Hostname != "build-07" {
		t.Fatalf("complete %v, %d processes, %d sockets, ident %+v", snap.Complete, len(snap.Processes), len(snap.Sockets), snap.Ident)
	}
	for _, sec := range []string{snapshot.SectionProc, snapshot.SectionDetail, snapshot.SectionNet, snapshot.SectionKernel} {
		if got := snap.Section(sec); got.End != snapshot.EndMissing || !strings.Contains(got.Why, "disk image") {
			t.Errorf("%s ended %q, %q", sec, got.End, got.Why)
		}
	}
	for _, id := range []string{"orphans", "connections"} {
		for _, r := range check.Run(snap) {
			if r.Check == id && (r.State != check.Unasked || !strings.Contains(r.Why, "disk image")) {
				t.Errorf("%s says %q, %q", id, r.State, r.Why)
			}
		}
	}
	from := gathered(t, live, "host/build-07/snapshot.json")
	files := []string{"cron-timers", "authorized-keys", "shell-profiles", "ld-preload", "unit-dropins"}
	onDisk := func(s *snapshot.Snapshot) (out []string) {
		for _, f := range found(s) {
			if slices.ContainsFunc(files, func(id string) bool { return strings.Contains(f, " "+id+": ") }) && !strings.Contains(f, " at process ") {
				out = append(out, f)
			}
		}
		return out
	}
	if got, want := onDisk(snap), onDisk(from); len(want) < 5 || !slices.Equal(got, want) {
		t.Errorf("on the disk:\n%s\non the machine:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// What is mounted into an image is this machine's and must not be told as the image's.
func TestAnImageWithThisMachineInItIsRefused(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	odd := filepath.Join(dir, "a b")
	if err := os.Mkdir(odd, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ root, mounts, want string }{
		"the machine itself":  {"/", "", "own root"},
		"a file":              {file, "", "no directory"},
		"nothing":             {dir + "/none", "", "no such file"},
		"a name with a space": {odd, "", "mount it somewhere else"},
		"proc in it":          {dir, "30 1 0:5 / " + dir + "/proc rw - proc proc rw\n", "unmount it first"},
		"run in it":           {dir, "30 1 0:5 / " + dir + "/run rw shared:1 - tmpfs tmpfs rw\n", "unmount it first"},
	} {
		_, err := imageRoot(c.root, mounted(c.mounts))
		if !errors.Is(err, ErrBadConfig) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, list := range map[string]string{
		"a partition of the image": "30 1 8:1 / " + dir + "/var rw - ext4 /dev/loop0 ro\n",
		"proc elsewhere":           "30 1 0:5 / /proc rw - proc proc rw\n",
	} {
		if _, err := imageRoot(dir, mounted(list)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func mounted(list string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(list)), nil }
}

// This machine, through the shell that really is here.
func TestLocalReadsThisMachine(t *testing.T) {
	t.Parallel()
	h := New(map[string]Host{"here": {Local: true}}, Options{Marker: marker})
	s, err := h.Read(t.Context(), "here", snapshot.ProfileWatch)
	if err != nil || !s.Complete {
		t.Fatal(err)
	}
	if s.Ident.UID != os.Getuid() || !slices.ContainsFunc(s.Processes, func(p snapshot.Process) bool { return p.PID == os.Getpid() }) {
		t.Errorf("uid %d, own process not among %d", s.Ident.UID, len(s.Processes))
	}
}

// No shell stands between the configuration and the program.
func TestExecPassesItsArgumentsAsTheyAre(t *testing.T) {
	dir := t.TempDir()
	p := filepath.Join(dir, "carry")
	if err := os.WriteFile(p, []byte("#!/bin/sh\nfor a; do printf '%s|' \"$a\"; done >"+dir+"/args\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	args := []string{"$(touch " + dir + "/owned)", "; touch " + dir + "/owned", "a b", "*"}
	h := New(map[string]Host{"pod": {Exec: append([]string{p}, args...)}}, Options{Timeouts: fast})
	if _, err := h.Read(t.Context(), "pod", snapshot.ProfileWatch); !errors.Is(err, snapshot.ErrCut) {
		t.Error(err)
	}
	got, err := os.ReadFile(dir + "/args")
	if err != nil || string(got) != strings.Join(args, "|")+"|" {
		t.Errorf("%q %v", got, err)
	}
	if _, err := os.Stat(dir + "/owned"); err == nil {
		t.Error("a shell read the arguments")
	}
}

// A program that carries is as little to be trusted as a server.
func TestAHostileChildEndsInTheRightErrorAndLeavesNothing(t *testing.T) {
	before := descriptors(t)
	for name, c := range map[string]struct {
		script string
		want   error
	}{
		"silent":                       {"exec sleep 1000", ErrSilent},
		"closes its output and stays":  {"exec >&- 2>&-; exec sleep 1000", snapshot.ErrCut},
		"ends at once":                 {"exit 3", snapshot.ErrCut},
		"endless output":               {"exec yes AAAAAAAAAAAAAAAA", snapshot.ErrForged},
		"endless error stream":         {"yes AAAAAAAAAAAAAAAA >&2; exit", ErrNoisy},
		"a child that keeps the pipes": {"sleep 1000 & exit 0", ErrSilent},
		"a byte now and then":          {"while :; do printf C; sleep 0.2; done", ErrTooSlow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limits := fast
			if c.want == ErrTooSlow {
				limits.Total = limits.Idle
				limits.Idle *= 2
			}
			h := New(map[string]Host{"pod": {Exec: []string{"/bin/sh", "-c", c.script}}}, Options{Timeouts: limits})
			snap, err := h.Read(t.Context(), "pod", snapshot.ProfileWatch)
			if !errors.Is(err, c.want) || snap != nil && snap.Complete {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
	t.Run("no such program", func(t *testing.T) {
		h := New(map[string]Host{"pod": {Exec: []string{"/nonexistent/kubectl"}}}, Options{Timeouts: fast})
		if _, err := h.Read(t.Context(), "pod", snapshot.ProfileWatch); !errors.Is(err, ErrUnreachable) {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		if after := descriptors(t); after > before {
			t.Errorf("%d descriptors were open before, %d after", before, after)
		}
	})
}

// descriptors counts what this process has open.
func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// The way is recorded in the exchange too, and an act goes through the same one.
func TestAnActGoesThroughTheSameWay(t *testing.T) {
	var got []Exchange
	h := New(map[string]Host{"pod": {Exec: []string{"/bin/sh", "-s"}, Unit: "cordon-none.service"}}, Options{
		Timeouts: fast, Recorder: func(_ context.Context, x Exchange) { got = append(got, x) },
	})
	plans, err := h.Plan(t.Context(), "stop", ref("pod"), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := plans[0].Changes[0]
	if c.Call.Method != "EXEC" || !strings.HasPrefix(c.Call.URL, "exec://pod/") {
		t.Errorf("%+v", c.Call)
	}
	out, err := NewApplier(h).Apply(permitted(t, c), c)
	if err == nil || out.State != "refused" || len(got) != 1 || got[0].Transport != snapshot.ByExec {
		t.Errorf("%+v %v, %+v", out, err, got)
	}
}

var (
	_ net.Conn      = tube{}
	_ evidence.Sink = (*sink)(nil)
)
