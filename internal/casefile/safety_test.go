package casefile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cordon/internal/casefile"
	"cordon/internal/casefile/faultfs"
	"cordon/internal/testenv"
)

func open(dir string) error {
	return second(casefile.OpenStore(casefile.Opener{Dir: dir}))
}

func TestAStateDirectoryThatOthersMayEnterIsRefused(t *testing.T) {
	for mode, accepted := range map[fs.FileMode]bool{
		0o700:                 true,
		fs.ModeSetgid | 0o770: true,
		0o701:                 false,
		0o707:                 false,
		0o755:                 false,
		fs.ModeSticky | 0o777: false,
		fs.ModeSetgid | 0o775: false,
		fs.ModeSetgid | 0o750: false, // not a team's
		0o770:                 false, // new files would get the wrong group
		0o750:                 false,
		0o500:                 false,
		fs.ModeSetgid | 0o700: true,
		fs.ModeSetgid | 0o771: false,
	} {
		dir := t.TempDir()
		ok(t, os.Chmod(dir, mode))
		err := open(dir)
		if accepted != (err == nil) || !accepted && (!errors.Is(err, casefile.ErrUnsafeState) || !strings.Contains(err.Error(), "chmod")) {
			t.Errorf("%v: %v", mode, err)
		}
		if !accepted {
			oneLine(t, err)
			if left := files(t, dir); len(left) != 0 {
				t.Errorf("%v: wrote %v", mode, left)
			}
		}
		ok(t, os.Chmod(dir, 0o700))
	}
}

func TestAMissingStateDirectoryIsMadeForItsOwnerAlone(t *testing.T) {
	s, cases := diskStore(t)
	c := create(t, s, "INC-1")
	put(t, c, "a/b", "x")
	ok(t, c.SignHead(fakeSigner{}))
	modes(t, filepath.Dir(cases), 0o700, 0o600)
}

func TestATeamsDirectoryStaysTheTeams(t *testing.T) {
	dir := t.TempDir()
	ok(t, os.Chmod(dir, fs.ModeSetgid|0o770))
	s, err := casefile.OpenStore(casefile.Opener{Dir: dir})
	ok(t, err)
	c := create(t, s, "INC-1")
	put(t, c, "a/b", "x")
	_, err = c.Append(casefile.Event{Kind: "intent"})
	ok(t, err)
	ok(t, c.SignHead(fakeSigner{}))
	modes(t, dir, fs.ModeSetgid|0o770, 0o660)
}

func modes(t testing.TB, dir string, dirMode, fileMode fs.FileMode) {
	t.Helper()
	n := 0
	ok(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		want := fileMode
		if d.IsDir() {
			want = dirMode | fs.ModeDir
		}
		if info.Mode() != want {
			t.Errorf("%s is %v, want %v", p, info.Mode(), want)
		}
		n++
		return err
	}))
	if n < 10 {
		t.Errorf("saw only %d files", n)
	}
}

func TestACaseThatOthersMayReadOrThatIsALinkIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"case directory open": func(d string) error { return os.Chmod(d, 0o755) },
		"journal readable":    func(d string) error { return os.Chmod(filepath.Join(d, "journal.jsonl"), 0o644) },
		"journal for a group": func(d string) error { return os.Chmod(filepath.Join(d, "journal.jsonl"), 0o640) },
		"directory is a link": func(d string) error { return errors.Join(os.Rename(d, d+".real"), os.Symlink(d+".real", d)) },
		"journal is a link": func(d string) error {
			j := filepath.Join(d, "journal.jsonl")
			return errors.Join(os.Rename(j, j+"x"), os.Symlink(j+"x", j))
		},
		"journal is a fifo": func(d string) error {
			j := filepath.Join(d, "journal.jsonl")
			return errors.Join(os.Remove(j), syscall.Mkfifo(j, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := diskStore(t)
			ok(t, create(t, s, "INC-1").Close())
			ok(t, spoil(filepath.Join(dir, "INC-1")))
			_, rerr := s.Read("INC-1")
			_, terr := s.Take(t.Context(), "INC-1", bob)
			for _, err := range []error{rerr, terr} {
				if !errors.Is(err, casefile.ErrUnsafeState) {
					t.Errorf("%v", err)
				}
				oneLine(t, err)
			}
		})
	}
}

func TestALockThatIsALinkIsNotFollowed(t *testing.T) {
	s, dir := diskStore(t)
	ok(t, create(t, s, "INC-1").Close())
	lock, victim := filepath.Join(dir, "INC-1", "lock"), filepath.Join(t.TempDir(), "victim")
	ok(t, errors.Join(os.Remove(lock), os.Symlink(victim, lock)))
	if _, err := s.Take(t.Context(), "INC-1", bob); err == nil {
		t.Error("taken")
	}
	if _, err := os.Lstat(victim); err == nil {
		t.Error("the link was followed")
	}
}

func TestNetworkFileSystemsAreRefused(t *testing.T) {
	for magic, name := range map[int64]string{
		0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "SMB", 0xfe534d42: "SMB", 0x65735546: "FUSE",
		0xef53: "", 0x01021994: "", 0x9123683e: "", 0x58465342: "", 0x794c7630: "", // ext4, tmpfs, btrfs, xfs, overlay
		-0xacb2be: "SMB", // 0xff534d42 where f_type is 32 bits and signed
	} {
		f := faultfs.New(1)
		f.SetMagic(magic)
		_, err := casefile.OpenStore(casefile.Opener{Dir: "/state", FS: f})
		if name == "" {
			ok(t, err)
			continue
		}
		if !errors.Is(err, casefile.ErrUnsafeState) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "state_dir") {
			t.Errorf("%#x: %v", magic, err)
		}
		oneLine(t, err)
	}
}

func TestAnotherUsersStateDirectoryIsRefused(t *testing.T) {
	testenv.Root(t)
	dir := t.TempDir()
	ok(t, os.Chown(dir, 65534, 65534))
	ok(t, os.Chmod(dir, 0o700))
	if err := open(dir); !errors.Is(err, casefile.ErrUnsafeState) || !strings.Contains(err.Error(), "65534") {
		t.Fatal(err)
	}
}

func TestNoStateDirectoryIsNamed(t *testing.T) {
	if err := open(""); !errors.Is(err, casefile.ErrUnsafeState) {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "f")
	ok(t, os.WriteFile(file, nil, 0o600))
	if err := open(file); !errors.Is(err, casefile.ErrUnsafeState) {
		t.Error(err)
	}
}
