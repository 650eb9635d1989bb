package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cordon/internal/casefile"
	"cordon/internal/testenv"
)

// teamState makes an empty state directory of a team.
func teamState(t testing.TB, dir string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, fs.ModeSetgid|0o770); err != nil {
		t.Fatal(err)
	}
}

// everyColleagueMayUse looks at all that lies below a team's state directory: nothing is
// for its maker alone but the key that he signs with, and nothing is for the world.
func everyColleagueMayUse(t testing.TB, state string) {
	t.Helper()
	seen := 0
	err := filepath.WalkDir(state, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		seen++
		got, want := st.Mode()&(fs.ModePerm|fs.ModeSetgid), fs.FileMode(0o660)
		switch {
		case d.IsDir():
			want = fs.ModeSetgid | 0o770
		case strings.HasPrefix(d.Name(), "signing-"):
			want = 0o600
		}
		if got != want {
			t.Errorf("%s is %v, not %v", strings.TrimPrefix(name, state), got, want)
		}
		return nil
	})
	if err != nil || seen < 5 {
		t.Errorf("%d looked at: %v", seen, err)
	}
}

// TestColleaguesGoOnWithEachOthersCases: two users of one group, and nothing but the
// group in common, write the same case and the same lists in turn.
func TestColleaguesGoOnWithEachOthersCases(t *testing.T) {
	t.Parallel()
	testenv.Root(t)
	const alice, bob, group, stranger = 54321, 54322, 54320, 54323
	dir, err := os.MkdirTemp("", "cordon-team-*") // above t.TempDir nobody else may enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	state, prog := filepath.Join(dir, "state"), filepath.Join(dir, "cordon")
	teamState(t, state)
	b, err := os.ReadFile(program(t))
	for _, f := range []func() error{
		func() error { return err },
		func() error { return os.Chmod(dir, 0o755) },
		func() error { return os.WriteFile(prog, b, 0o755) },
		func() error { return os.Chmod(prog, 0o755) },
		func() error { return os.Lchown(state, alice, group) },
		func() error { return os.Chmod(state, fs.ModeSetgid|0o770) }, // chown took the bit
	} {
		if err := f(); err != nil {
			t.Fatal(err)
		}
	}
	store, err := casefile.OpenStore(casefile.Opener{Dir: state})
	if err != nil {
		t.Fatal(err)
	}
	c, err := store.Create(t.Context(), casefile.Opening{ID: "K", Kind: "incident"}, casefile.Actor{Name: "root", Key: "SHA256:r"})
	if err == nil {
		err = c.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	as := func(uid, gid uint32, args ...string) said {
		cmd := exec.Command(prog, append([]string{"--state-dir", state}, args...)...)
		cmd.Env, cmd.Dir = account(dir), "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
		return finish(t, cmd)
	}
	for i, args := range [][]string{
		{"host", "script"},
		{"host", "script"},
		{"case", "note", "K", "seen"},
		{"case", "note", "K", "seen"},
		{"case", "note", "K", "seen"},
		{"case", "hold", "K", "--reason", "counsel asked"},
		{"case", "hold", "K", "--release", "--reason", "over"},
		{"case", "list"},
		{"case", "show", "K"},
		{"host", "script"},
	} {
		if s := as([]uint32{alice, bob}[i%2], group, args...); s.code != 0 {
			t.Errorf("%s, %v: ends with %d: %s%s", []string{"alice", "bob"}[i%2], args, s.code, tail(s.out), s.err)
		}
	}
	if s := as(stranger, stranger, "case", "show", "K"); s.code == 0 {
		t.Error("a user outside the group reads the case")
	}
	everyColleagueMayUse(t, state)
}
