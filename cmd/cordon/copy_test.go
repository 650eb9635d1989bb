package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestTwoWritersAndACopyDoNothingTwice lets two processes go on with one case at once,
// and then a third with a copy of its directory in another state directory. One of the
// two is let in. The copy cannot know of the other branch, but it reads before it
// acts: nothing is done a second time, and it waits for a person. The two records are told
// apart by the head of either.
func TestTwoWritersAndACopyDoNothingTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "--scale", "600")
	w.env = []string{broken + "=kill-after:20"} // between the pause and the new token
	if s := w.cordon(contain("T")...); s.code != -1 {
		t.Fatalf("it was not killed: %d", s.code)
	}
	w.env = nil
	other := filepath.Join(w.dir, "other")
	if s := w.cordon("--state-dir", other, "case", "list"); s.code != 0 {
		t.Fatalf("%d %s", s.code, s.err)
	}
	copyCase(t, filepath.Join(w.state(), "cases", "T"), filepath.Join(other, "cases", "T"))

	again := []string{"case", "resume", "T", "--yes", "--reason", reason}
	var both [2]said
	var all sync.WaitGroup
	for i := range both {
		all.Go(func() { both[i] = w.cordon(again...) })
	}
	all.Wait()
	slices.SortFunc(both[:], func(a, b said) int { return a.code - b.code })
	if both[0].code != 0 || both[1].code != 7 || !strings.Contains(both[1].err, "held by another: ") {
		t.Fatalf("two at once end with %d and %d: %s%s", both[0].code, both[1].code, both[0].err, both[1].err)
	}
	everyEffectOnce(t, w.effects(), containing...)

	n := len(w.effects())
	s := w.cordon(append([]string{"--state-dir", other}, again...)...)
	if got := w.effects(); s.code != 6 || len(got) != n || !strings.Contains(s.err, "needs a person") {
		t.Errorf("the copy ends with %d, and %v: %s%s", s.code, got[n:], tail(s.out), s.err)
	}
	for state, foreign := range map[string]string{w.state(): other, other: w.state()} {
		if v := w.cordon("--state-dir", state, "case", "show", "T"); v.code != 0 {
			t.Errorf("%s is not whole: %d %s", state, v.code, v.err)
		}
		tar := filepath.Join(t.TempDir(), "x.tar")
		if x := w.cordon("--state-dir", state, "case", "export", "T", "-o", tar); x.code != 0 {
			t.Fatalf("%d %s", x.code, x.err)
		}
		if v := w.cordon("bundle", "verify", tar, "--head", w.head(state)); v.code != 4 {
			t.Errorf("its own head: %d %s", v.code, v.out)
		}
		if v := w.cordon("bundle", "verify", tar, "--head", w.head(foreign)); v.code != 8 || !strings.Contains(v.out, "written anew") {
			t.Errorf("the head of the other: %d %s", v.code, v.out)
		}
	}
}

// head is what the brief of T shows of its last line, as one writes it after --head.
func (w *world) head(state string) string {
	w.t.Helper()
	b := w.cordon("--state-dir", state, "case", "brief", "T")
	h := headLine.FindStringSubmatch(b.out)
	if h == nil {
		w.t.Fatalf("no head in the brief: %d %s%s", b.code, b.out, b.err)
	}
	return h[1] + "@" + h[2]
}

// copyCase copies a directory as cp -r does under a umask of 077.
func copyCase(t testing.TB, from, to string) {
	t.Helper()
	err := os.CopyFS(to, os.DirFS(from))
	if err == nil {
		err = filepath.WalkDir(to, func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			mode := os.FileMode(0o600)
			if d.IsDir() {
				mode = 0o700
			}
			return os.Chmod(path, mode)
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}
