package casefile_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"cordon/internal/casefile"
)

// yields answers requests for a case as a live holder does, until the test ends.
func yields(t *testing.T, c *casefile.Case) chan string {
	t.Helper()
	gave := make(chan string, 1)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if by, err := c.Yield(); err != nil || by != "" {
				gave <- by
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	t.Cleanup(func() { stop(); <-done })
	return gave
}

func TestALiveHolderGivesWayBetweenTwoLinesAndWritesNothingAfterwards(t *testing.T) {
	s, _ := diskStore(t)
	c := create(t, s, "INC-1")
	gave := yields(t, c)
	d, err := s.TakeOver(t.Context(), "INC-1", bob, "alice is on a train")
	ok(t, err)
	defer d.Close()
	if by := <-gave; by != "bob on jump2: alice is on a train" {
		t.Errorf("the holder was told %q", by)
	}
	_, err = c.Append(casefile.Event{Kind: "note", Msg: "too late"})
	if !errors.Is(err, casefile.ErrFenced) || !strings.Contains(err.Error(), "bob on jump2") {
		t.Errorf("the old writer: %v", err)
	}
	note(t, d, "mine now")
	v := read(t, s, "INC-1")
	if kinds(v) != "open take take note" || !strings.Contains(v.Lines[2].Msg, "alice is on a train") {
		t.Errorf("%s: %q", kinds(v), v.Lines[2].Msg)
	}
	taken, _ := casefile.TakenBy(v.Lines[2])
	if taken.Over != "alice is on a train" || taken.Epoch != 2 {
		t.Errorf("%+v", taken)
	}
	ok(t, c.Close())
}

func TestAnEffectUnderWayIsRecordedBeforeTheCaseIsGivenUp(t *testing.T) {
	s, _ := diskStore(t)
	c := create(t, s, "INC-1")
	_, err := c.Append(casefile.Event{Kind: "intent", Step: "pause"})
	ok(t, err)
	gave := yields(t, c)
	got := make(chan error, 1)
	go func() {
		d, err := s.TakeOver(t.Context(), "INC-1", bob, "now")
		if err == nil {
			err = d.Close()
		}
		got <- err
	}()
	select {
	case <-gave:
		t.Fatal("given up with an effect under way")
	case err := <-got:
		t.Fatal("taken with an effect under way", err)
	case <-time.After(300 * time.Millisecond): // several requests long
	}
	_, err = c.Append(casefile.Event{Kind: "result", Step: "pause", OK: true})
	ok(t, err)
	ok(t, <-got)
	if k := kinds(read(t, s, "INC-1")); k != "open take intent result take" {
		t.Error(k)
	}
}

func TestAHolderThatDoesNotAnswerKeepsTheCaseAndIsNamed(t *testing.T) {
	s, _ := diskStore(t)
	here := alice
	here.Host, here.BootID, here.PID = "", "", 0 // this process
	c, err := s.Create(t.Context(), casefile.Opening{ID: "INC-1"}, here)
	ok(t, err)
	defer c.Close()
	ctx, stop := context.WithTimeout(t.Context(), 250*time.Millisecond)
	defer stop()
	_, err = s.TakeOver(ctx, "INC-1", bob, "now")
	if !errors.Is(err, casefile.ErrHeld) || !strings.Contains(err.Error(), "lives on this machine") || !strings.Contains(err.Error(), "kill ") {
		t.Error(err)
	}
	oneLine(t, err)
	note(t, c, "still mine")
	if k := kinds(read(t, s, "INC-1")); k != "open take note" {
		t.Error(k)
	}
	if _, err := s.TakeOver(t.Context(), "INC-1", bob, " "); !errors.Is(err, casefile.ErrEvent) {
		t.Error("taken without a reason:", err)
	}
}

func TestARequestIsGoneWhetherItWasGrantedOrNot(t *testing.T) {
	s, dir := diskStore(t)
	c := create(t, s, "INC-1")
	ctx, stop := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer stop()
	_, _ = s.TakeOver(ctx, "INC-1", bob, "now")
	if _, err := os.Lstat(dir + "/INC-1/takeover"); err == nil {
		t.Error("the request was left")
	}
	ok(t, c.Close())
	d, err := s.TakeOver(t.Context(), "INC-1", bob, "nobody holds it")
	ok(t, err)
	ok(t, d.Close())
}

func TestACaseThatWasHandedOverIsTakenOnlyWithAReason(t *testing.T) {
	s, _ := diskStore(t)
	c := create(t, s, "INC-1")
	_, err := c.HandOver("bob@example.org", "shift change", false)
	ok(t, err)
	ok(t, c.Close())
	_, err = s.Take(t.Context(), "INC-1", alice)
	if !errors.Is(err, casefile.ErrHandedOver) || !strings.Contains(err.Error(), "bob@example.org") {
		t.Error(err)
	}
	oneLine(t, err)
	all, err := s.List()
	ok(t, err)
	if !strings.Contains(all[0].HandedOver, "bob@example.org") {
		t.Errorf("%+v", all[0])
	}
	d, err := s.TakeOver(t.Context(), "INC-1", alice, "bob never got it")
	ok(t, err)
	ok(t, d.Close())
	ok(t, take(t, s, "INC-1", alice).Close())
}

func TestAHandoverThatDidNotComeAboutIsTakenBack(t *testing.T) {
	s, _ := diskStore(t)
	c := create(t, s, "INC-1")
	for _, undo := range []bool{false, true} {
		_, err := c.HandOver("bob", "the disk is full", undo)
		ok(t, err)
	}
	ok(t, c.Close())
	ok(t, take(t, s, "INC-1", alice).Close())
}

func TestNobodyElseWritesTheLinesThatOthersRelyOn(t *testing.T) {
	s, _ := diskStore(t)
	c := create(t, s, "INC-1")
	for _, kind := range []string{"handover", "import", "hold"} {
		if _, err := c.Append(casefile.Event{Kind: kind}); !errors.Is(err, casefile.ErrEvent) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestAfterGivingWayNothingIsWrittenEvenWhenNobodyCame(t *testing.T) {
	s, dir := diskStore(t)
	c := create(t, s, "INC-1")
	ok(t, os.WriteFile(dir+"/INC-1/takeover", []byte(`{"by":"bob","host":"jump2","why":"now"}`), 0o600))
	by, err := c.Yield()
	if err != nil || by == "" {
		t.Fatalf("%q %v", by, err)
	}
	before := files(t, dir)
	for name, write := range map[string]func() error{
		"line": func() error { _, err := c.Append(casefile.Event{Kind: "note"}); return err },
		"head": func() error { return c.SignHead(fakeSigner{}) },
		"hold": func() error { _, err := c.Hold(false, "x", nil); return err },
	} {
		if err := write(); !errors.Is(err, casefile.ErrFenced) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after := files(t, dir); after["/INC-1/journal.jsonl"] != before["/INC-1/journal.jsonl"] || len(after) != len(before) {
		t.Error("something was written without the lock")
	}
	if by, err := c.Yield(); by != "" || err != nil {
		t.Errorf("given up twice: %q %v", by, err)
	}
}
