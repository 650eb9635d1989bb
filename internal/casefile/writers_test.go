package casefile_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/casefile"
	"cordon/internal/casefile/faultfs"
	"cordon/internal/testenv"
)

const holdEnv = "CASEFILE_TEST_HOLD" // the state directory that a second process of this test takes

func TestMain(m *testing.M) {
	if dir := os.Getenv(holdEnv); dir != "" {
		hold(dir)
		return
	}
	os.Exit(m.Run())
}

// hold takes the case, says so, and keeps it until its input ends or it is killed.
func hold(dir string) {
	s, err := casefile.OpenStore(casefile.Opener{Dir: dir})
	if err == nil {
		_, err = s.Take(context.Background(), "INC-1", casefile.Actor{Name: "carol", Host: "jump3"})
	}
	fmt.Println("held", err)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func TestASecondProcessIsToldWhoHoldsTheCase(t *testing.T) {
	s, dir := diskStore(t)
	ok(t, create(t, s, "INC-1").Close())
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holdEnv+"="+filepath.Dir(dir))
	in, err := cmd.StdinPipe()
	ok(t, err)
	out, err := cmd.StdoutPipe()
	ok(t, err)
	ok(t, cmd.Start())
	defer func() { _ = in.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	said, err := bufio.NewReader(out).ReadString('\n')
	ok(t, err)
	if said != "held <nil>\n" {
		t.Fatal(said)
	}
	before := files(t, dir)
	_, err = s.Take(t.Context(), "INC-1", bob)
	if !errors.Is(err, casefile.ErrHeld) || !strings.Contains(err.Error(), "carol on jump3, pid "+fmt.Sprint(cmd.Process.Pid)) {
		t.Fatalf("%v", err)
	}
	oneLine(t, err)
	same(t, before, files(t, dir))
	read(t, s, "INC-1") // looking is always allowed

	ok(t, cmd.Process.Kill()) // kill -9 releases it
	_ = cmd.Wait()
	c := take(t, s, "INC-1", bob)
	if v, err := c.View(); err != nil || kinds(v) != "open take take take" || !strings.Contains(lastLine(v), `"epoch":3`) {
		t.Fatalf("%v %s", err, lastLine(v))
	}
}

func TestTheSameProcessCannotTakeTwice(t *testing.T) {
	s, _ := diskStore(t)
	c := create(t, s, "INC-1")
	if _, err := s.Take(t.Context(), "INC-1", bob); !errors.Is(err, casefile.ErrHeld) || !strings.Contains(err.Error(), "alice on jump1") {
		t.Fatal(err)
	}
	ok(t, c.Close())
	take(t, s, "INC-1", bob)
}

// Where the lock does not hold, the fence does: the older handle writes nothing.
func TestAnOlderHandleIsFencedOff(t *testing.T) {
	f := faultfs.New(1)
	s := memStore(t, f)
	old := create(t, s, "INC-1")
	f.DropLocks()
	now := take(t, s, "INC-1", bob)
	writes := f.Count(faultfs.OpWrite)
	for range 2 { // and it stays so
		_, err := old.Append(casefile.Event{Kind: "result"})
		if !errors.Is(err, casefile.ErrFenced) || !strings.Contains(err.Error(), "bob on jump2") {
			t.Fatalf("%v", err)
		}
		oneLine(t, err)
	}
	if f.Count(faultfs.OpWrite) != writes {
		t.Error("it wrote")
	}
	note(t, now, "the new one goes on")
	if v := read(t, s, "INC-1"); kinds(v) != "open take take note" {
		t.Error(kinds(v))
	}
}

func TestAHandleOnADirectoryThatWasReplacedByACopyIsFencedOff(t *testing.T) {
	cp := testenv.Need(t, "cp")
	s, dir := diskStore(t)
	c := create(t, s, "INC-1")
	note(t, c, "x")
	id, away := filepath.Join(dir, "INC-1"), filepath.Join(dir, "away")
	ok(t, os.Rename(id, away))
	if _, err := c.Append(casefile.Event{Kind: "note"}); !errors.Is(err, casefile.ErrFenced) {
		t.Fatalf("moved away: %v", err)
	}
	ok(t, exec.Command(cp, "-a", away, id).Run())
	c = take(t, s, "INC-1", bob) // the copy is a case of its own, with its chain whole
	note(t, c, "y")
	ok(t, os.RemoveAll(away))
	ok(t, os.Rename(id, away))
	ok(t, exec.Command(cp, "-a", away, id).Run())
	before := files(t, dir)
	if _, err := c.Append(casefile.Event{Kind: "note"}); !errors.Is(err, casefile.ErrFenced) {
		t.Fatalf("replaced by the same bytes: %v", err)
	}
	same(t, before, files(t, dir))
	if _, err := s.Read("away"); !errors.Is(err, casefile.ErrBroken) {
		t.Errorf("a case under another name: %v", err)
	}
}

func TestAJournalThatChangedUnderTheWriterIsBroken(t *testing.T) {
	for name, edit := range map[string]func([]byte) []byte{
		"cut":    func(b []byte) []byte { return b[:len(b)-5] },
		"edited": func(b []byte) []byte { b[len(b)-5] ^= 1; return b },
		"more":   func(b []byte) []byte { return append(b, "{}\n"...) },
		"empty":  func([]byte) []byte { return nil },
	} {
		f := faultfs.New(1)
		s := memStore(t, f)
		c := create(t, s, "INC-1")
		note(t, c, "x")
		const journal = "/state/cases/INC-1/journal.jsonl"
		bad := edit(content(t, f, journal))
		overwrite(t, f, journal, bad)
		_, err := c.Append(casefile.Event{Kind: "result"})
		if !errors.Is(err, casefile.ErrBroken) {
			t.Errorf("%s: %v", name, err)
		}
		oneLine(t, err)
		if string(content(t, f, journal)) != string(bad) {
			t.Errorf("%s: it wrote", name)
		}
	}
}

func TestAClosedCaseIsClosed(t *testing.T) {
	s, _ := diskStore(t)
	c := create(t, s, "INC-1")
	ok(t, c.Close())
	ok(t, c.Close())
	for _, err := range []error{
		second(c.Append(casefile.Event{Kind: "note"})), c.Reserve(), c.SignHead(fakeSigner{}), c.Miss(t.Context(), gap("x")),
	} {
		if !errors.Is(err, casefile.ErrClosed) {
			t.Error(err)
		}
	}
}
