package casefile_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/casefile"
)

// carried is what goes over from a case on a disk to another store.
type carried struct {
	dir string
	v   *casefile.View
}

func carry(t *testing.T) (carried, *casefile.Store) {
	t.Helper()
	s, dir := diskStore(t)
	c := create(t, s, "INC-1")
	put(t, c, "a/b", "evidence")
	ok(t, c.SignHead(fakeSigner{}))
	ok(t, c.Close())
	j, err := os.OpenFile(filepath.Join(dir, "INC-1", "journal.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	ok(t, err)
	_, err = j.WriteString(`{"v":1,"seq":`) // a line that was torn
	ok(t, err)
	ok(t, j.Close())
	c = take(t, s, "INC-1", alice)
	_, err = c.HandOver("bob", "shift change", false)
	ok(t, err)
	ok(t, c.Close())
	to, _ := diskStore(t)
	return carried{filepath.Join(dir, "INC-1"), read(t, s, "INC-1")}, to
}

func (c carried) origin() casefile.Origin {
	return casefile.Origin{Head: c.v.Head, Lines: len(c.v.Lines), Bundle: "b", Allowed: "alice"}
}

// into brings everything but what skip names, edited by edit.
func (c carried) into(t *testing.T, s *casefile.Store, skip string, edit func(name string, b []byte) []byte) (*casefile.Case, error) {
	t.Helper()
	return s.Import(t.Context(), "INC-1", bob, c.origin(), func(a *casefile.Arrival) error {
		get := func(name string) *bytes.Reader {
			b, err := os.ReadFile(filepath.Join(c.dir, name))
			ok(t, err)
			if edit != nil {
				b = edit(name, b)
			}
			return bytes.NewReader(b)
		}
		var errs []error
		if skip != "journal" {
			errs = append(errs, a.Journal(get("journal.jsonl")))
		}
		if skip != "torn" {
			errs = append(errs, a.Torn(get("journal.torn")))
		}
		if skip != "head" {
			errs = append(errs, a.Head(4-1, get("heads/0003.sig")))
		}
		if skip != "blob" {
			sum := c.v.Items[0].Digest
			errs = append(errs, a.Blob(get("blobs/sha256/"+sum[:2]+"/"+sum)))
		}
		return errors.Join(errs...)
	})
}

func TestAnImportedCaseGoesOnWithItsChainWhole(t *testing.T) {
	from, to := carry(t)
	c, err := from.into(t, to, "", nil)
	ok(t, err)
	note(t, c, "here now")
	ok(t, c.Close())
	v := read(t, to, "INC-1")
	if !bytes.HasPrefix(v.Raw, from.v.Raw) || v.Lines[len(from.v.Lines)].Prev != from.v.Head {
		t.Error("the lines that came along are not where they were")
	}
	if got := kinds(v); !strings.HasSuffix(got, "handover take import note") {
		t.Error(got)
	}
	if blob(t, v, v.Items[0].Digest) != "evidence" || len(v.Gaps) != 0 {
		t.Error("the evidence did not come along")
	}
	if torn, err := v.SetAside(); err != nil || string(torn) != `{"v":1,"seq":` {
		t.Errorf("torn: %q, %v", torn, err)
	}
	ok(t, take(t, to, "INC-1", bob).Close()) // not handed over any more: it is here
	if _, err := from.into(t, to, "", nil); !errors.Is(err, casefile.ErrExists) {
		t.Error("imported twice:", err)
	}
}

func TestWhatDoesNotHoldTogetherIsNotImportedAndLeavesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		skip string
		edit func(string, []byte) []byte
	}{
		"no journal":             {"journal", nil},
		"no torn lines":          {"torn", nil},
		"no signature of a head": {"head", nil},
		"an edited line": {"", func(n string, b []byte) []byte {
			return bytes.Replace(b, []byte("shift change"), []byte("SHIFT CHANGE"), 1)
		}},
		"a line less": {"", func(n string, b []byte) []byte {
			if n == "journal.jsonl" {
				b = b[:bytes.LastIndexByte(b[:len(b)-1], '\n')+1]
			}
			return b
		}},
		"other torn bytes": {"", func(n string, b []byte) []byte {
			if n == "journal.torn" {
				b = bytes.ToUpper(b)
			}
			return b
		}},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := carry(t)
			_, err := from.into(t, to, c.skip, c.edit)
			if !errors.Is(err, casefile.ErrBroken) {
				t.Error(err)
			}
			oneLine(t, err)
			all, err := to.List()
			ok(t, err)
			if len(all) != 0 {
				t.Errorf("%+v", all)
			}
			ok(t, func() error { _, err := from.into(t, to, "", nil); return err }()) // and the id is free
		})
	}
}

func TestEvidenceThatDidNotComeAlongIsAGap(t *testing.T) {
	from, to := carry(t)
	c, err := from.into(t, to, "blob", nil)
	ok(t, err)
	ok(t, c.Close())
	v := read(t, to, "INC-1")
	if len(v.Gaps) != 1 || v.Gaps[0].Name != "a/b" || !strings.Contains(v.Gaps[0].Why, "did not come along") {
		t.Errorf("%+v", v.Gaps)
	}
}

func TestAnArrivalIsCappedAndChoosesNoPath(t *testing.T) {
	s, _ := diskStore(t)
	_, err := s.Import(context.Background(), "INC-1", bob, casefile.Origin{}, func(a *casefile.Arrival) error {
		return a.Head(-1, strings.NewReader("x"))
	})
	if !errors.Is(err, casefile.ErrEvent) {
		t.Error(err)
	}
	_, err = s.Import(context.Background(), "INC-1", bob, casefile.Origin{}, func(a *casefile.Arrival) error {
		return a.Head(1, strings.NewReader(strings.Repeat("x", 65<<10)))
	})
	if !errors.Is(err, casefile.ErrEvent) {
		t.Error(err)
	}
}
