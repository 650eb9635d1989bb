package host

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"cordon/internal/host/snapshot"
	"cordon/internal/testenv"
	"cordon/providers"
)

// ask has the collector ask a tree, or with tr.root "" this machine, for a list.
func (tr *tree) ask(sh shell, l Listed, as *syscall.Credential, edit ...string) *snapshot.Snapshot {
	tr.t.Helper()
	list := listed(WithListed(context.Background(), l))
	cmd := exec.Command(sh.argv[0], sh.argv[1:]...)
	cmd.Env, cmd.Dir = []string{}, "/"
	cmd.Stdin = strings.NewReader("N=" + testNonce + "\nR=" + tr.root + "\nP=triage" + list.line() + "\n" + strings.NewReplacer(edit...).Replace(collector().Text))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil || errs.Len() > 0 {
		tr.t.Fatalf("%s: %v: %s", sh.name, err, errs.String())
	}
	s, err := snapshot.Parse(&out, snapshot.Expect{
		Host: "build-07", Nonce: testNonce, Profile: snapshot.ProfileTriage, Sent: time.Unix(1796007605, 0), Marker: marker, Asked: list.sent, Hashes: list.hashes,
	})
	if err != nil || !s.Complete {
		tr.t.Fatalf("%s: complete %v: %v", sh.name, s.Complete, err)
	}
	s.Asked = append(s.Asked, list.unsent...)
	return s
}

// states are path and state of what was asked for, a line each.
func states(s *snapshot.Snapshot) string {
	var b strings.Builder
	for _, a := range s.Asked {
		fmt.Fprintf(&b, "%s: %s\n", a.Path, a.State)
	}
	return b.String()
}

func askedFile(s *snapshot.Snapshot, p string) *snapshot.File {
	i := slices.IndexFunc(s.AskedFiles, func(f snapshot.File) bool { return string(f.Path) == p })
	if i < 0 {
		return nil
	}
	return &s.AskedFiles[i]
}

func hexSum(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// A host is asked for exactly what a list names, whatever is in the names, and each of it
// is there, not there, or was not to be seen.
func TestAHostIsAskedForExactlyWhatAListNames(t *testing.T) {
	tr := newTree(t)
	odd := `/opt/a b$(touch pwned)'"` + "`touch pwned`" + `;*.x`
	odd = strings.ReplaceAll(odd, "*", "") // a star would be a pattern
	tr.file("/opt/x.so", "payload\n", 0o755)
	tr.file(odd, "odd\n", 0o644)
	tr.file("/var/tmp/.hid/a", "h\n", 0o644)
	tr.file("/var/tmp/my file.so", "s\n", 0o644)
	tr.file("/var/tmp/.so", "d\n", 0o644)
	tr.file("/home/gitlab-runner/.netrc", "password x\n", 0o600)
	tr.file("/home/gitlab-runner/.dev-env/.runner", "{}", 0o600)
	tr.file("/opt/big", "", 0o644)
	tr.must(os.Truncate(tr.path("/opt/big"), 65<<20))
	tr.link("/opt/x.so", "/opt/link")
	tr.link("/opt", "/home/other")
	tr.dir("/opt/dir", 0o755)
	tr.must(syscall.Mkfifo(tr.path("/opt/fifo"), 0o644))
	tr.file("/proc/self/mountinfo", "40 1 0:40 / /mnt/nfs rw - nfs4 x rw\n", 0o444)
	tr.file("/etc/cron.d/told", "# x\n", 0o644)
	list := Listed{
		Paths: []string{
			"/opt/x.so", odd, "/opt/none", "/no/such/place", "/opt/link", "/opt/dir", "/opt/fifo", "/opt/big", "/var/tmp/*.so", "/var/tmp/.so", "/home/*/.dev-env", "/var/tmp/*/a",
			"/opt/none*", "/home/other/x.so", "/mnt/nfs/x", "/home/gitlab-runner/.netrc", "/opt/[x].so", "/opt/../etc/passwd", "/*/*/*c", "/proc/1/stat", "/opt/-n", "/opt/$HOME",
		},
		SHA256: []string{hexSum("payload\n")},
	}
	want := map[string]string{
		"/opt/x.so": snapshot.AskedThere, odd: snapshot.AskedThere, "/opt/none": snapshot.AskedAbsent, "/no/such/place": snapshot.AskedAbsent, "/opt/link": snapshot.AskedThere,
		"/opt/dir": snapshot.AskedThere, "/opt/fifo": snapshot.AskedThere, "/opt/big": snapshot.AskedThere, "/var/tmp/*.so": snapshot.AskedThere, "/var/tmp/.so": snapshot.AskedThere,
		"/home/*/.dev-env": snapshot.AskedThere, "/var/tmp/*/a": snapshot.AskedThere, "/opt/none*": snapshot.AskedAbsent, "/home/other/x.so": snapshot.AskedUnseen, "/mnt/nfs/x": snapshot.AskedUnseen,
		"/home/gitlab-runner/.netrc": snapshot.AskedThere, "/opt/[x].so": snapshot.AskedUnseen, "/opt/../etc/passwd": snapshot.AskedUnseen, "/*/*/*c": snapshot.AskedUnseen,
		"/proc/1/stat": snapshot.AskedThere, "/opt/-n": snapshot.AskedAbsent, "/opt/$HOME": snapshot.AskedAbsent,
	}
	var first string
	for _, sh := range shells(t) {
		s := tr.ask(sh, list, nil)
		for _, a := range s.Asked {
			if want[string(a.Path)] != a.State || a.State == snapshot.AskedUnseen && a.Why == "" {
				t.Errorf("%s: %+v, want %q", sh.name, a, want[string(a.Path)])
			}
		}
		if first == "" {
			first = states(s)
		}
		if len(s.Asked) != len(want) || states(s) != first || !s.Seen(snapshot.SectionAsked) {
			t.Errorf("%s: %d answers, section %v", sh.name, len(s.Asked), s.Section(snapshot.SectionAsked))
		}
		for p, sum := range map[string]string{"/opt/x.so": hexSum("payload\n"), odd: hexSum("odd\n"), "/var/tmp/my file.so": hexSum("s\n"), "/var/tmp/.so": hexSum("d\n"), "/var/tmp/.hid/a": hexSum("h\n"), "/proc/1/stat": ""} {
			if f := askedFile(s, p); f == nil || f.SHA256 != sum && p != "/proc/1/stat" || f.Content != "" {
				t.Errorf("%s: %s: %+v", sh.name, p, f)
			}
		}
		for p, why := range map[string]string{"/opt/big": "more than the 67108864", "/home/gitlab-runner/.netrc": "withheld"} {
			if f := askedFile(s, p); f == nil || f.SHA256 != "" || !strings.Contains(f.NoHash, why) {
				t.Errorf("%s: %s: %+v", sh.name, p, f)
			}
		}
		if f := askedFile(s, "/opt/link"); f == nil || f.Type != "link" || f.Link != "/opt/x.so" || f.SHA256 != "" {
			t.Errorf("%s: %+v", sh.name, f)
		}
		if f := askedFile(s, "/home/gitlab-runner/.dev-env"); f == nil || f.Type != "dir" {
			t.Errorf("%s: %+v", sh.name, f)
		}
		for _, p := range []string{tr.path("/pwned"), "/pwned"} {
			if _, err := os.Stat(p); err == nil {
				t.Fatal("a name of the list was run")
			}
		}
	}
}

// A list that holds the hash of a file that looks secret-bearing has it already.
func TestAListedHashOfASecretPlaceIsTold(t *testing.T) {
	tr := newTree(t)
	tr.file("/root/.netrc", "known\n", 0o600)
	s := tr.ask(shells(t)[0], Listed{Paths: []string{"/root/.netrc"}, SHA256: []string{hexSum("known\n")}}, nil)
	if f := askedFile(s, "/root/.netrc"); f == nil || f.SHA256 != hexSum("known\n") {
		t.Errorf("%+v", f)
	}
}

// An account that may not look somewhere does not find nothing there.
func TestWhatAnAccountMayNotSeeOfAListIsNotAbsent(t *testing.T) {
	testenv.Root(t) // to make files of another user
	tr := newTree(t)
	tr.file("/root/.x/y", "z", 0o600)
	tr.file("/opt/closed", "z", 0o600)
	tr.dir("/root", 0o700)
	tr.dir("/srv/blind", 0o711)
	for _, sh := range shells(t) {
		s := tr.ask(sh, Listed{Paths: []string{"/root/.x/y", "/root/none", "/root/*", "/opt/closed", "/opt/none", "/srv/blind/*", "/srv/blind/x"}}, &syscall.Credential{Uid: 65534, Gid: 65534})
		if got := states(s); got != "/root/.x/y: could not look\n/root/none: could not look\n/root/*: could not look\n/opt/closed: there\n/opt/none: not there\n/srv/blind/*: could not look\n/srv/blind/x: not there\n" {
			t.Errorf("%s: %s", sh.name, got)
		}
		if f := askedFile(s, "/opt/closed"); f == nil || f.SHA256 != "" || f.NoHash == "" {
			t.Errorf("%s: %+v", sh.name, f)
		}
	}
}

// On the machine itself, without the root prefix.
func TestThisMachineIsAskedForAList(t *testing.T) {
	dir := t.TempDir()
	p := write(t, dir+"/payload x", []byte("payload"))
	for _, sh := range shells(t) {
		text := "N=" + testNonce + "\nR=\nP=triage\n" + framesSh + openSh + filesSh + askedSh + "tools\nmounts\nASK=\"$(printf '%s\\n' '" + p + "' '" + dir + "/*x' '/dev/shm/none' '/proc/self/environ' '" + dir + "/none')\"\nasked\n"
		out := decoded(t, []byte(pipe(t, sh, text)))
		for _, want := range []string{p + "\x00" + hexSum("payload"), dir + "/*x\x00there ", "/dev/shm/none\x00absent", "/proc/self/environ\x00a file of the kernel", dir + "/none\x00absent"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in %q", sh.name, want, out)
			}
		}
	}
}

// One session a host: the list goes with the collector, over the transport that there is.
func TestAListIsAskedInTheOneSessionOfARead(t *testing.T) {
	tr := newTree(t)
	tr.file("/opt/x.so", "payload\n", 0o755)
	s := serve(t, honest(tr.root, ""))
	var seen []Exchange
	h := s.hosts(Options{Timeouts: patient, Recorder: func(_ context.Context, x Exchange) { seen = append(seen, x) }})
	to := &sink{}
	ctx := WithListed(t.Context(), Listed{Paths: []string{"/opt/x.so", "/opt/none", "relative"}})
	if _, err := h.Gather(ctx, ref("build-07"), providers.Triage, to); err != nil {
		t.Fatal(err)
	}
	snap := gathered(t, to, "host/build-07/snapshot.json")
	if got := states(snap); got != "/opt/x.so: there\n/opt/none: not there\nrelative: could not look\n" || !snap.Complete {
		t.Errorf("%s complete %v", got, snap.Complete)
	}
	if s.accepted.Load() != 1 || len(seen) != 1 || seen[0].SHA256 != collector().SHA256 || !strings.Contains(seen[0].Profile, "2 listed paths") {
		t.Errorf("%d connections, %+v", s.accepted.Load(), seen)
	}
	if w, err := h.Read(ctx, "build-07", snapshot.ProfileWatch); err != nil || len(w.Asked) != 0 {
		t.Errorf("a watch asks for no list: %v %v", w.Asked, err)
	}
}

// A host may not answer about what it was not asked for, nor twice, and a list that is
// larger than one host is asked for says so.
func TestAListHasItsBounds(t *testing.T) {
	var many Listed
	for i := range 2000 {
		many.Paths = append(many.Paths, fmt.Sprintf("/opt/%04d", i))
	}
	a := listed(WithListed(t.Context(), many))
	if len(a.sent) != maxListed || len(a.unsent) != 1000 || !strings.Contains(a.unsent[0].Why, "more than one host") {
		t.Errorf("%d sent, %d not", len(a.sent), len(a.unsent))
	}
	long := listed(WithListed(t.Context(), Listed{Paths: []string{"/" + strings.Repeat("a", 4001), "/x\ny", "/x\x00", "/a/*?x", "/tmp/*."}}))
	if len(long.sent) != 0 || len(long.unsent) != 5 {
		t.Errorf("%+v", long)
	}
	for name, edit := range map[string]string{
		"another path":  `s/frame asked "$al"/frame asked "$al.x"/`,
		"twice":         `s/frame asked "$al" "$E"/frame asked "$al" "$E"; frame asked "$al" "$E"/`,
		"another file":  `s/frame lstat "$h" "=$s"/frame lstat "$h$HASH" "=$s"/`,
		"no hash":       `s/0) frame sum "$hp" "$E"/0) frame sum "$hp" =abc/`,
		"a content":     `s/0) frame sum "$hp" "$E"/0) frame data "$hp" "$E"/`,
		"another state": `s/else t=absent/else t=clean/`,
	} {
		part := strings.Split(edit, "/")
		tr := newTree(t)
		tr.file("/opt/x", "x", 0o644)
		list := listed(WithListed(t.Context(), Listed{Paths: []string{"/opt/x", "/opt/none"}}))
		sh := shells(t)[0]
		text := strings.Replace(collector().Text, part[1], part[2], 1)
		if text == collector().Text {
			t.Fatalf("%s: changes nothing", name)
		}
		out := pipe(t, sh, "N="+testNonce+"\nR="+tr.root+"\nP=triage"+list.line()+"\n"+text)
		s, err := snapshot.Parse(strings.NewReader(out), snapshot.Expect{Host: "b7", Nonce: testNonce, Profile: snapshot.ProfileTriage, Marker: marker, Asked: list.sent})
		if !errors.Is(err, snapshot.ErrForged) || s.Complete {
			t.Errorf("%s: %v", name, err)
		}
	}
}
