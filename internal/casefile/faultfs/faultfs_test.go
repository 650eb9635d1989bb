package faultfs

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// life writes in several ways, loses power, and says what is left.
func life(t *testing.T, seed uint64) string {
	t.Helper()
	f := New(seed)
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, s string, sync bool) {
		t.Helper()
		h, err := f.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		do(err)
		_, err = h.Write([]byte(s))
		do(err)
		if sync {
			do(h.Sync())
		}
	}
	do(f.Mkdir("/d", 0o700))
	write("/d/kept", "synced.", true)
	write("/d/part", "synced.", true)
	do(f.SyncDir("/"))
	do(f.SyncDir("/d"))
	write("/d/part", "not synced", false)
	write("/d/nameless", "synced, its name is not", true)
	f.Inject(Rule{Op: OpSync, Path: "gate", Nth: 1, Err: syscall.EIO})
	h, err := f.OpenFile("/d/gate", os.O_CREATE|os.O_WRONLY, 0o600)
	do(err)
	_, err = h.Write([]byte("lost."))
	do(err)
	if err := h.Sync(); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	_, err = h.Write([]byte("kept."))
	do(err)
	do(h.Sync()) // says yes, and does not mean the first bytes
	f.Reboot(true)
	if _, err := h.Write(nil); !errors.Is(err, ErrStopped) {
		t.Fatalf("a handle from before: %v", err)
	}
	names, err := f.ReadDir("/d")
	do(err)
	left := ""
	for _, n := range names {
		_, ino, _, _ := f.find("", "/d/"+n)
		left += fmt.Sprintf("%s=%q ", n, ino.data)
	}
	return left
}

func TestAPowerCutLosesWhatTheSeedSays(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(200) {
		left := life(t, seed)
		if again := life(t, seed); again != left {
			t.Fatalf("seed %d: %s, then %s", seed, left, again)
		}
		for _, part := range []string{`kept="synced." `, `part="synced.`} {
			if !strings.Contains(left, part) {
				t.Fatalf("seed %d lost synced bytes: %s", seed, left)
			}
		}
		if strings.Contains(left, "lost.") || strings.Contains(left, "gate=") && !strings.Contains(left, `gate="\x00\x00\x00\x00\x00kept."`) {
			t.Fatalf("seed %d: a failed sync was made good: %s", seed, left)
		}
		for _, part := range []string{`part="synced." `, `part="synced.not synced" `, `part="synced.not\x00`, "nameless=", "gate="} {
			seen[part] = seen[part] || strings.Contains(left, part)
			seen["without "+part] = seen["without "+part] || !strings.Contains(left, part)
		}
	}
	for what, found := range seen {
		if !found {
			t.Errorf("no seed leads to %s", what)
		}
	}
}

func TestAFullDiskTakesWhatFits(t *testing.T) {
	f := New(1)
	f.SetCapacity(5)
	h, err := f.OpenFile("/a", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := h.Write([]byte("1234567")); n != 5 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%d %v", n, err)
	}
	if v, err := f.Statfs("/"); v.Free != 0 || err != nil {
		t.Errorf("%d free, %v", v.Free, err)
	}
	if n, err := h.WriteAt([]byte("xy"), 3); n != 2 || err != nil {
		t.Errorf("overwriting needs no room: %d %v", n, err)
	}
}
