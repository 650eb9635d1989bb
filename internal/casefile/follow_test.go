package casefile_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/casefile"
)

func TestAFollowerSeesEveryLineAndEndsWithTheCase(t *testing.T) {
	s, _ := diskStore(t)
	c := create(t, s, "INC-1")
	seen := make(chan string, 20)
	done := make(chan error, 1)
	go func() {
		done <- s.Follow(t.Context(), "INC-1", func(_ *casefile.View, l casefile.Line) error {
			seen <- l.Kind
			return nil
		})
	}()
	for _, want := range []string{"open", "take"} {
		if got := <-seen; got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
	note(t, c, "while it is watched")
	if got := <-seen; got != "note" {
		t.Error(got)
	}
	_, err := c.Append(casefile.Event{Kind: "close", OK: true})
	ok(t, err)
	ok(t, <-done)
	if got := <-seen; got != "close" {
		t.Error(got)
	}
}

func TestAFollowerNoticesThatTheRecordWasWrittenAnew(t *testing.T) {
	s, dir := diskStore(t)
	note(t, create(t, s, "INC-1"), "the truth")
	other, otherDir := diskStore(t)
	note(t, create(t, other, "INC-1"), "a nicer truth") // a whole chain, and another one
	forged, err := os.ReadFile(filepath.Join(otherDir, "INC-1", "journal.jsonl"))
	ok(t, err)
	done := make(chan error, 1)
	seen := make(chan struct{}, 20)
	go func() {
		done <- s.Follow(t.Context(), "INC-1", func(*casefile.View, casefile.Line) error {
			seen <- struct{}{}
			return nil
		})
	}()
	for range 3 {
		<-seen
	}
	ok(t, os.WriteFile(filepath.Join(dir, "INC-1", "journal.jsonl"), forged, 0o600))
	if err := <-done; !errors.Is(err, casefile.ErrBroken) || !strings.Contains(err.Error(), "written anew") {
		t.Error(err)
	}
}

func TestAFollowerEndsWhenAsked(t *testing.T) {
	s, _ := diskStore(t)
	create(t, s, "INC-1")
	ctx, stop := context.WithCancel(t.Context())
	err := s.Follow(ctx, "INC-1", func(*casefile.View, casefile.Line) error { stop(); return nil })
	ok(t, err)
	if err := s.Follow(t.Context(), "INC-9", nil); !errors.Is(err, casefile.ErrNotFound) {
		t.Error(err)
	}
}

func TestAnObserverIsToldEveryLineInOrder(t *testing.T) {
	s, _ := diskStore(t)
	c := create(t, s, "INC-1")
	var got []string
	c.Observe(func(l casefile.Line) { got = append(got, l.Kind) })
	note(t, c, "x")
	put(t, c, "a", "b")
	ok(t, c.SignHead(fakeSigner{}))
	if _, err := c.Append(casefile.Event{Kind: "NOT A KIND"}); err == nil {
		t.Fatal("written")
	}
	if strings.Join(got, " ") != "note evidence head" {
		t.Error(got)
	}
}
