package casefile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"cordon/internal/casefile"
	"cordon/internal/casefile/faultfs"
	"cordon/internal/evidence"
)

// work is a short case: it stops at the first error, as the engine does, and says
// what was acknowledged. An effect happens only behind an intent that was.
type work struct {
	acked   []string
	effects int
}

func (w *work) run(t testing.TB, s *casefile.Store, id string) (err error) {
	c, err := s.Create(t.Context(), casefile.Opening{ID: id, Playbook: []byte("steps: []")}, alice)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if _, err = c.Put(t.Context(), evidence.Item{Name: "steps/before.json"}, strings.NewReader("before")); err != nil {
		return err
	}
	w.acked = append(w.acked, "evidence")
	for _, kind := range []string{"plan", "intent", "result", "note"} {
		if _, err = c.Append(casefile.Event{Kind: kind}); err != nil {
			return err
		}
		w.acked = append(w.acked, kind)
		if kind == "intent" {
			w.effects++
		}
	}
	if err = c.SignHead(fakeSigner{}); err != nil {
		return err
	}
	w.acked = append(w.acked, "head")
	return nil
}

// whole reads the case after a failure and checks that what was acknowledged is
// there, that nothing is half there, and that the case can be taken and goes on.
func (w *work) whole(t testing.TB, f *faultfs.FS, s *casefile.Store, id string) {
	t.Helper()
	names, err := f.ReadDir("/state/cases")
	ok(t, err)
	if len(w.acked) == 0 {
		if _, err := s.Read(id); errors.Is(err, casefile.ErrNotFound) {
			if len(names) != 0 {
				t.Fatalf("left over: %v after %v", names, w.acked)
			}
			return
		}
	}
	v := read(t, s, id)
	want := strings.Join(append([]string{"open", "take"}, w.acked...), " ")
	if got := kinds(v); !strings.HasPrefix(got, want) {
		t.Fatalf("acknowledged %q, read %q", want, got)
	}
	c := take(t, s, id, bob)
	if n := strings.Count(kinds(read(t, s, id)), "intent"); n < w.effects {
		t.Fatalf("%d effects, %d intents", w.effects, n)
	}
	note(t, c, "it goes on")
	ok(t, c.Close())
	for _, it := range v.Items {
		blob(t, v, it.Digest)
	}
}

// Each operation of a whole case fails once, each in turn: the error is one line, and
// what was acknowledged before it is still there.
func TestEveryOperationMayFailOnce(t *testing.T) {
	for _, op := range []faultfs.Op{
		faultfs.OpWrite, faultfs.OpSync, faultfs.OpSyncDir, faultfs.OpRename,
		faultfs.OpCreate, faultfs.OpMkdir, faultfs.OpTruncate,
	} {
		for _, fault := range []error{syscall.ENOSPC, syscall.EIO} {
			for nth, done := 1, false; !done; nth++ {
				f := faultfs.New(uint64(nth))
				s := memStore(t, f)
				f.Inject(faultfs.Rule{Op: op, Nth: nth, Keep: -1, Err: &fs.PathError{Op: string(op), Path: "/state", Err: fault}})
				var w work
				err := w.run(t, s, "INC-1")
				f.Clear()
				if done = err == nil && f.Count(op) < nth+1; done && nth < 2 && op != faultfs.OpTruncate {
					t.Fatalf("%s never happened", op)
				}
				if err != nil {
					oneLine(t, err)
					if fault == syscall.ENOSPC && !errors.Is(err, casefile.ErrNoSpace) {
						t.Errorf("%s %d: a full disk says %v", op, nth, err)
					}
				}
				w.whole(t, f, s, "INC-1")
				f.Reboot(true) // and nothing acknowledged was only in memory
				w.whole(t, f, s, "INC-1")
			}
		}
	}
}

// The disk is full from the n-th write on and stays full.
func TestAFullDiskAtEveryWrite(t *testing.T) {
	seen := map[string]bool{}
	for nth := 1; ; nth++ {
		f := faultfs.New(uint64(nth))
		s := memStore(t, f)
		f.Inject(faultfs.Rule{Op: faultfs.OpWrite, Nth: nth, Every: true, Keep: -1, Err: syscall.ENOSPC})
		var w work
		err := w.run(t, s, "INC-1")
		f.Clear()
		if err == nil {
			break
		}
		oneLine(t, err)
		if !errors.Is(err, casefile.ErrNoSpace) || !strings.Contains(err.Error(), "state_dir") {
			t.Errorf("write %d: %v", nth, err)
		}
		w.whole(t, f, s, "INC-1")
		seen[fmt.Sprint(w.acked)] = true
	}
	if len(seen) < 6 {
		t.Errorf("only stopped after %v", seen)
	}
}

func TestTheResultOfAnEffectFitsOnAFullDisk(t *testing.T) {
	f := faultfs.New(1)
	s := memStore(t, f)
	c := create(t, s, "INC-1")
	_, err := c.Append(casefile.Event{Kind: "intent"})
	ok(t, err)
	f.SetCapacity(f.Used() + 10) // not even a line

	_, err = c.Append(casefile.Event{Kind: "note", Msg: "may fail"})
	if !errors.Is(err, casefile.ErrNoSpace) || errors.Is(err, casefile.ErrPoisoned) {
		t.Fatalf("a note on a full disk: %v", err)
	}
	result, err := c.Append(casefile.Event{Kind: "result", OK: true, Status: 200})
	ok(t, err)
	if v := read(t, s, "INC-1"); v.Head != result.Sum() || kinds(v) != "open take intent result" {
		t.Fatalf("read %s", kinds(v))
	}

	f.SetCapacity(f.Used() + 100)
	_, err = c.Append(casefile.Event{Kind: "intent"})
	if !errors.Is(err, casefile.ErrNoSpace) {
		t.Fatalf("an intent without a reserve: %v", err)
	}
	oneLine(t, err)
	if err := c.Reserve(); !errors.Is(err, casefile.ErrNoSpace) {
		t.Fatalf("reserved on a full disk: %v", err)
	}

	f.SetCapacity(0)
	_, err = c.Append(casefile.Event{Kind: "intent"})
	ok(t, err) // and the reserve is back
	f.SetCapacity(f.Used())
	_, err = c.Append(casefile.Event{Kind: "settle"})
	ok(t, err)
}

func TestACaseWithAnOpenIntentCanBeTakenOnAFullDisk(t *testing.T) {
	f := faultfs.New(1)
	s := memStore(t, f)
	c := create(t, s, "INC-1")
	_, err := c.Append(casefile.Event{Kind: "intent"})
	ok(t, err)
	f.Inject(faultfs.Rule{Op: faultfs.OpWrite, Path: "journal.jsonl", Nth: 1, Keep: 30, Stop: true})
	_, _ = c.Append(casefile.Event{Kind: "result"})
	f.Reboot(false)
	f.SetCapacity(f.Used())
	c = take(t, s, "INC-1", bob)
	_, err = c.Append(casefile.Event{Kind: "settle", Msg: "seen paused"})
	ok(t, err)
	if v := read(t, s, "INC-1"); kinds(v) != "open take intent resume take settle" {
		t.Error(kinds(v))
	}
}

func TestFreeSpaceIsAskedBeforeAnIntent(t *testing.T) {
	free, failed := uint64(1<<30), error(nil)
	s, err := casefile.OpenStore(casefile.Opener{
		Dir: "/state", FS: faultfs.New(1), Free: func(string) (uint64, error) { return free, failed },
	})
	ok(t, err)
	c := create(t, s, "INC-1")
	ok(t, c.Reserve())
	free = 10 << 10
	before := read(t, s, "INC-1").Head
	if _, err := c.Append(casefile.Event{Kind: "intent"}); !errors.Is(err, casefile.ErrNoSpace) {
		t.Errorf("10 KiB free: %v", err)
	}
	failed = syscall.EIO
	if _, err := c.Append(casefile.Event{Kind: "intent"}); !errors.Is(err, syscall.EIO) {
		t.Errorf("unknown space: %v", err)
	}
	if read(t, s, "INC-1").Head != before {
		t.Error("something was written")
	}
}

func TestAfterAFailedSyncNothingIsWrittenUntilReopened(t *testing.T) {
	f := faultfs.New(1)
	s := memStore(t, f)
	c := create(t, s, "INC-1")
	note(t, c, "kept")
	f.Inject(faultfs.Rule{Op: faultfs.OpSync, Path: "journal.jsonl", Nth: 1, Err: syscall.EIO})
	_, err := c.Append(casefile.Event{Kind: "intent"})
	if !errors.Is(err, casefile.ErrPoisoned) || !errors.Is(err, syscall.EIO) {
		t.Fatalf("a failed sync: %v", err)
	}
	oneLine(t, err)
	writes := f.Count(faultfs.OpWrite)
	for what, err := range map[string]error{
		"append":  second(c.Append(casefile.Event{Kind: "result"})),
		"put":     second(c.Put(t.Context(), evidence.Item{Name: "a"}, strings.NewReader("a"))),
		"miss":    c.Miss(t.Context(), gap("x")),
		"reserve": c.Reserve(),
		"sign":    c.SignHead(fakeSigner{}),
	} {
		if !errors.Is(err, casefile.ErrPoisoned) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if n := f.Count(faultfs.OpWrite); n != writes {
		t.Errorf("%d writes after the poison", n-writes)
	}
	ok(t, c.Close())
	take(t, s, "INC-1", bob)
}

func TestAfterAFailedWriteNothingIsWrittenUntilReopened(t *testing.T) {
	for _, keep := range []int{0, 10, 1 << 20} {
		f := faultfs.New(1)
		s := memStore(t, f)
		c := create(t, s, "INC-1")
		f.Inject(faultfs.Rule{Op: faultfs.OpWrite, Path: "journal.jsonl", Nth: 1, Keep: keep, Err: syscall.EIO})
		for range 2 { // the disk works again, this handle does not
			if _, err := c.Append(casefile.Event{Kind: "intent"}); !errors.Is(err, casefile.ErrPoisoned) || !errors.Is(err, syscall.EIO) {
				t.Fatalf("%d bytes written: %v", keep, err)
			}
		}
		ok(t, c.Close())
		note(t, take(t, s, "INC-1", bob), "x")
		read(t, s, "INC-1")
	}
}

// After the failed sync the line is read from memory though the disk lacks it.
// Whoever takes the case sees it, goes on behind it, and a power cut must not leave
// a hole there.
func TestALineThatOnlyMemoryHasIsMadeDurableOnTake(t *testing.T) {
	f := faultfs.New(1)
	s := memStore(t, f)
	c := create(t, s, "INC-1")
	f.Inject(faultfs.Rule{Op: faultfs.OpSync, Path: "journal.jsonl", Nth: 1, Err: syscall.EIO})
	_, err := c.Append(casefile.Event{Kind: "intent"})
	if err == nil {
		t.Fatal("synced")
	}
	ok(t, c.Close())
	c = take(t, s, "INC-1", bob)
	note(t, c, "after")
	f.Reboot(true)
	if v := read(t, s, "INC-1"); kinds(v) != "open take intent take note" {
		t.Error(kinds(v))
	}
}

func second[T any](_ T, err error) error { return err }
