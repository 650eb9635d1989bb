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

func TestPurgeLeavesATombstoneAndNothingElse(t *testing.T) {
	s, dir := diskStore(t)
	c := create(t, s, "INC-1")
	put(t, c, "a/b", "evidence")
	ok(t, c.SignHead(fakeSigner{}))
	before := read(t, s, "INC-1")
	ok(t, c.Close())
	stone, err := s.Purge(t.Context(), "INC-1", bob, "retention ended")
	ok(t, err)
	if stone.Head != before.Head || stone.Lines != len(before.Lines) || stone.By != "bob" || stone.Reason != "retention ended" || !stone.Opened.Equal(before.Lines[0].T) {
		t.Errorf("%+v", stone)
	}
	left := files(t, filepath.Join(dir, "INC-1"))
	if len(left) != 1 || left["/tombstone.json"] == "" {
		t.Errorf("left: %v", left)
	}
	all, err := s.List()
	ok(t, err)
	if len(all) != 1 || all[0].Purged == nil || all[0].Broken != "" || all[0].Head != before.Head {
		t.Errorf("%+v", all)
	}
	for name, try := range map[string]func() error{
		"read":   func() error { _, err := s.Read("INC-1"); return err },
		"take":   func() error { _, err := s.Take(t.Context(), "INC-1", alice); return err },
		"purge":  func() error { _, err := s.Purge(t.Context(), "INC-1", bob, "again"); return err },
		"create": func() error { _, err := s.Create(t.Context(), casefile.Opening{ID: "INC-1"}, alice); return err },
		"import": func() error {
			_, err := s.Import(t.Context(), "INC-1", alice, casefile.Origin{}, func(*casefile.Arrival) error { return nil })
			return err
		},
	} {
		if err := try(); !errors.Is(err, casefile.ErrPurged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestACaseOnHoldOrHeldIsNotPurged(t *testing.T) {
	s, dir := diskStore(t)
	c := create(t, s, "INC-1")
	if _, err := s.Purge(t.Context(), "INC-1", bob, "x"); !errors.Is(err, casefile.ErrHeld) {
		t.Error("while it is written:", err)
	}
	_, err := c.Hold(false, "litigation 44", []byte(`{"expiring":[]}`))
	ok(t, err)
	if _, err := c.Hold(true, "  ", nil); !errors.Is(err, casefile.ErrEvent) {
		t.Error("released without a reason:", err)
	}
	ok(t, c.Close())
	before := files(t, dir)
	_, err = s.Purge(t.Context(), "INC-1", bob, "x")
	if !errors.Is(err, casefile.ErrOnHold) || !strings.Contains(err.Error(), "litigation 44") {
		t.Error(err)
	}
	oneLine(t, err)
	if after := files(t, dir); len(after) != len(before) || after["/INC-1/journal.jsonl"] != before["/INC-1/journal.jsonl"] {
		t.Error("something was removed")
	}
	c = take(t, s, "INC-1", alice)
	_, err = c.Hold(true, "settled", nil)
	ok(t, err)
	ok(t, c.Close())
	if _, err := s.Purge(t.Context(), "INC-1", bob, ""); err == nil {
		t.Error("purged without a reason")
	}
	_, err = s.Purge(t.Context(), "INC-1", bob, "settled")
	ok(t, err)
}

func TestAPurgeThatWasKilledIsFinishedByTheNext(t *testing.T) {
	s, dir := diskStore(t)
	c := create(t, s, "INC-1")
	put(t, c, "a", "b")
	ok(t, c.Close())
	_, err := s.Purge(t.Context(), "INC-1", bob, "x")
	ok(t, err)
	stone := files(t, dir)
	create(t, s, "INC-2") // its files stand in for what a crash left
	ok(t, os.Rename(filepath.Join(dir, "INC-2", "journal.jsonl"), filepath.Join(dir, "INC-1", "journal.jsonl")))
	if _, err := s.Read("INC-1"); !errors.Is(err, casefile.ErrPurged) {
		t.Error("half a purge is read as a case:", err)
	}
	if _, err := s.Purge(t.Context(), "INC-1", bob, "again"); !errors.Is(err, casefile.ErrPurged) {
		t.Error(err)
	}
	if got := files(t, filepath.Join(dir, "INC-1")); len(got) != 1 || got["/tombstone.json"] != stone["/INC-1/tombstone.json"] {
		t.Error(got)
	}
	if _, err := s.Purge(context.Background(), "INC-9", bob, "x"); !errors.Is(err, casefile.ErrNotFound) {
		t.Error(err)
	}
}
