package casefile_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"cordon/internal/casefile"
	"cordon/internal/casefile/faultfs"
)

// Whatever lies where a tombstone should: the id stays taken, the list has one row that
// says so, and what is read as a tombstone is of this case.
func FuzzTombstone(f *testing.F) {
	for _, s := range []string{
		`{"schema":"cordon.tombstone/1","id":"INC-1","opened":"2026-11-30T12:00:00Z","purged":"2026-12-30T12:00:00Z","by":"bob","reason":"x","head":"00","lines":7}`,
		`{"schema":"cordon.tombstone/1","id":"INC-2"}`, `{"schema":"cordon.tombstone/2","id":"INC-1"}`, `[]`, ``, "null", `{"schema":"cordon.tombstone/1","id":"INC-1","lines":-1}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		mem := faultfs.New(1)
		s := memStore(t, mem)
		ok(t, create(t, s, "INC-1").Close())
		h, err := mem.OpenFile("/state/cases/INC-1/tombstone.json", os.O_WRONLY|os.O_CREATE, 0o600)
		ok(t, err)
		_, err = h.Write(b)
		ok(t, errors.Join(err, h.Close()))
		stone, err := s.Tombstone("INC-1")
		if err == nil && stone.ID != "INC-1" || errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("%+v %v", stone, err)
		}
		all, lerr := s.List()
		ok(t, lerr)
		if len(all) != 1 || all[0].ID != "INC-1" || (all[0].Purged != nil) != (err == nil) || (all[0].Broken != "") != (err != nil) {
			t.Fatalf("%+v", all)
		}
		for name, try := range map[string]func() error{
			"read":   func() error { _, err := s.Read("INC-1"); return err },
			"take":   func() error { _, err := s.Take(t.Context(), "INC-1", alice); return err },
			"create": func() error { _, err := s.Create(t.Context(), casefile.Opening{ID: "INC-1"}, alice); return err },
		} {
			if err := try(); !errors.Is(err, casefile.ErrPurged) {
				t.Fatalf("%s: %v", name, err)
			}
		}
	})
}

// Whatever arrives is a case with its chain whole, or nothing: the id is free again, and
// no file is left.
func FuzzArrival(f *testing.F) {
	s, dir := diskStore(f)
	c := create(f, s, "INC-1")
	put(f, c, "a/b", "evidence")
	ok(f, c.SignHead(fakeSigner{}))
	ok(f, c.Close())
	v := read(f, s, "INC-1")
	sig, err := os.ReadFile(filepath.Join(dir, "INC-1", "heads", "0003.sig"))
	ok(f, err)
	raw := v.Raw
	f.Add(raw, []byte(nil), 3, sig, []byte("evidence"))
	f.Add(raw[:len(raw)/2], []byte("{"), 3, sig, []byte("evidence"))
	f.Add(raw, []byte(nil), 9, sig, []byte(nil))
	f.Add(raw, []byte(nil), -1, []byte("x"), []byte("another"))
	f.Add(bytes.Replace(raw, []byte("INC-1"), []byte("INC-2"), 1), []byte(nil), 3, sig, []byte("evidence"))
	f.Add([]byte(nil), []byte(nil), 0, []byte(nil), []byte(nil))
	late := bytes.Clone(raw) // nothing but the announced head protects the last line
	late[bytes.LastIndex(late, []byte(`Z","mono_ms"`))-1] ^= 1
	f.Add(late, []byte(nil), 3, sig, []byte("evidence"))
	f.Fuzz(func(t *testing.T, journal, torn []byte, seq int, head, blob []byte) {
		mem := faultfs.New(1)
		to := memStore(t, mem)
		c, err := to.Import(t.Context(), "INC-1", bob, casefile.Origin{Head: v.Head, Lines: len(v.Lines)}, func(a *casefile.Arrival) error {
			return errors.Join(a.Journal(bytes.NewReader(journal)), a.Torn(bytes.NewReader(torn)), a.Head(seq, bytes.NewReader(head)), a.Blob(bytes.NewReader(blob)))
		})
		if whole := bytes.Equal(journal, raw) && len(torn) == 0 && seq == 3 && bytes.Equal(head, sig) && string(blob) == "evidence"; whole && err != nil {
			t.Fatalf("the control: %v", err)
		}
		if err != nil {
			names, rerr := mem.ReadDir("/state/cases")
			ok(t, rerr)
			if c != nil || len(names) != 0 {
				t.Fatalf("%v, and %v is left", err, names)
			}
			return
		}
		ok(t, c.Close())
		if got := read(t, to, "INC-1"); !bytes.HasPrefix(got.Raw, raw) || !bytes.Equal(journal, raw) {
			t.Fatalf("another journal than %s announced came in:\n%s", v.Head, got.Raw)
		}
	})
}
