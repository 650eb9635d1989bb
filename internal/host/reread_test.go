package host

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
)

// disk serves a tree over SFTP, as sshd would its own disk, and refuses to write.
type disk struct{ root string }

func (d disk) Fileread(r *sftp.Request) (io.ReaderAt, error) {
	return os.Open(filepath.Join(d.root, r.Filepath))
}

func (d disk) Filelist(r *sftp.Request) (sftp.ListerAt, error) {
	st, err := os.Lstat(filepath.Join(d.root, r.Filepath))
	return one{st}, err
}

func (disk) Filewrite(*sftp.Request) (io.WriterAt, error) { return nil, os.ErrPermission }
func (disk) Filecmd(*sftp.Request) error                  { return os.ErrPermission }

type one struct{ os.FileInfo }

func (o one) ListAt(to []os.FileInfo, at int64) (int, error) {
	if at > 0 {
		return 0, io.EOF
	}
	to[0] = o.FileInfo
	return 1, io.EOF
}

func (d disk) serve(ch ssh.Channel) {
	_ = sftp.NewRequestServer(ch, sftp.Handlers{FileGet: d, FilePut: d, FileCmd: d, FileList: d}).Serve()
}

// rereading reads what the shell says from one tree and what SFTP says from another.
func rereading(t *testing.T, shell, disk string, files func(ch ssh.Channel)) (*snapshot.Snapshot, *server, Exchange, error) {
	t.Helper()
	s := serve(t, honest(shell, ""))
	s.change(func(*ssh.ServerConfig) { s.files = files })
	var ex Exchange
	x := s.host()
	x.Reread = true
	h := New(map[string]Host{"build-07": x}, Options{Timeouts: fast, Marker: marker, Recorder: func(_ context.Context, e Exchange) { ex = e }})
	snap, err := h.Read(t.Context(), "build-07", snapshot.ProfileTriage)
	return snap, s, ex, err
}

func lies(t *testing.T, s *snapshot.Snapshot) check.Result {
	t.Helper()
	all := check.Run(s)
	i := slices.IndexFunc(all, func(r check.Result) bool { return r.Check == "userland-lies" })
	return all[i]
}

func TestAnHonestHostSaysTheSameTwiceOnOneConnection(t *testing.T) {
	tr := planted(t)
	snap, s, ex, err := rereading(t, tr.root, tr.root, disk{tr.root}.serve)
	if err != nil || !snap.Complete {
		t.Fatal(err)
	}
	var paths []string
	for _, r := range snap.Rereads {
		paths = append(paths, string(r.Path))
		if !r.Same || r.Why != "" {
			t.Errorf("%+v", r)
		}
	}
	for _, want := range []string{"/etc/passwd", "/etc/ld.so.preload", "/etc/gitlab-runner/config.toml", "/opt/gh/.runner", "/opt/gh/.env"} {
		if !slices.Contains(paths, want) {
			t.Errorf("%s was not read twice, only %v", want, paths)
		}
	}
	if got := lies(t, snap); got.State != check.Nothing {
		t.Errorf("%+v", got)
	}
	if s.accepted.Load() != 1 || ex.Rereads != len(paths) {
		t.Errorf("%d connections, %d files", s.accepted.Load(), ex.Rereads)
	}
}

// The shell shows another tree than the disk has: what a replaced cat or a preload does.
func TestAUserlandThatLiesIsConvicted(t *testing.T) {
	shell, disk0 := planted(t), planted(t)
	if err := os.Remove(shell.path("/etc/ld.so.preload")); err != nil { // hidden from the shell
		t.Fatal(err)
	}
	disk0.file("/opt/gh/.env", "ACTIONS_RUNNER_HOOK_JOB_STARTED=/opt/gh/other.sh\n", 0o644)
	old := disk0.path("/opt/gh/.env")
	if err := os.Chtimes(old, time0, time0); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(disk0.path("/etc/ld.so.preload"), time0, time0); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(disk0.path("/opt/gh/.runner")); err != nil { // shown by the shell, and not there
		t.Fatal(err)
	}
	snap, _, _, err := rereading(t, shell.root, disk0.root, disk{disk0.root}.serve)
	if err != nil {
		t.Fatal(err)
	}
	got := lies(t, snap)
	var where []string
	for _, f := range got.Findings {
		where = append(where, string(f.Severity)+" "+string(f.Where))
	}
	if !slices.Equal(where, []string{"high /etc/ld.so.preload", "high /opt/gh/.env", "high /opt/gh/.runner"}) {
		t.Errorf("%v: %+v", where, snap.Rereads)
	}
}

func TestWhatCannotBeReadTwiceIsSaid(t *testing.T) {
	tr := planted(t)
	before := descriptors(t)
	for name, c := range map[string]struct {
		files func(ch ssh.Channel)
		want  error
	}{
		"no SFTP": {nil, nil},
		"silent":  {func(ch ssh.Channel) { _, _ = io.Copy(io.Discard, ch) }, ErrSilent},
		"nonsense": {func(ch ssh.Channel) {
			_, _ = io.WriteString(ch, strings.Repeat("\xff", 64<<10))
			_, _ = io.Copy(io.Discard, ch)
		}, nil},
		"endless": {func(ch ssh.Channel) {
			for {
				if _, err := io.WriteString(ch, "\x00\x00\x00\x05\x02\x00\x00\x00\x03"+strings.Repeat("\x00\x00\x00\x01\x65", 1000)); err != nil {
					return
				}
			}
		}, nil},
		"closed at once": {func(ch ssh.Channel) {}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			snap, _, _, err := rereading(t, tr.root, tr.root, c.files)
			if snap == nil || !snap.Complete || !errors.Is(err, c.want) {
				t.Fatalf("snapshot %v, err %v, want %v", snap != nil, err, c.want)
			}
			if got := lies(t, snap); got.State != check.Blind || len(got.Findings) != 0 {
				t.Errorf("%+v", got)
			}
		})
	}
	t.Run("by a way without one", func(t *testing.T) {
		g := &guard{}
		s := &snapshot.Snapshot{Complete: true, Sections: []snapshot.Section{{Name: snapshot.SectionProfiles, End: snapshot.EndOK}}}
		if n := New(nil, Options{}).reread(t.Context(), s, g, nil); n != 0 || s.Section(snapshot.SectionReread).End != snapshot.EndDenied {
			t.Errorf("%d %+v", n, s)
		}
	})
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// The real internal-sftp of OpenSSH, over a jump host.
func TestRealSFTPIsTheSecondSessionOfOneConnection(t *testing.T) {
	t.Parallel()
	p := newPair(t, "Subsystem sftp internal-sftp")
	h := p.hosts(t, Options{})
	passwd, err := os.ReadFile("/etc/passwd")
	if err != nil {
		t.Fatal(err)
	}
	// What a triage would have said of this machine, without the time that one takes.
	s := &snapshot.Snapshot{Complete: true, Sections: []snapshot.Section{{Name: snapshot.SectionProfiles, End: snapshot.EndOK}}, Files: []snapshot.File{
		{Path: "/etc/passwd", Section: snapshot.SectionKeys, Type: "file", Print: marker.Print(string(passwd))},
		{Path: "/etc/hostname", Section: snapshot.SectionRunners, Type: "file", Print: marker.Print("another name")},
	}}
	x := h.by["build-07"]
	j := job{script: collector(), nonce: newNonce(), third: "P=watch", profile: "watch", idle: time.Minute, total: time.Minute}
	j.read = func(r io.Reader) error {
		_, err := snapshot.Parse(r, snapshot.Expect{Nonce: j.nonce, Profile: "watch"})
		return err
	}
	j.again = func(g *guard, way second) int { return h.reread(t.Context(), s, g, way) }
	ex, err := h.run(t.Context(), x, j)
	if err != nil || ex.Rereads != 3 {
		t.Fatalf("%v, %d files: %+v", err, ex.Rereads, s.Rereads)
	}
	for _, r := range s.Rereads {
		if want := r.Path != "/etc/hostname"; r.Same != want {
			t.Errorf("%+v", r)
		}
	}
}
