package casefile_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/casefile/faultfs"
	"cordon/internal/evidence"
)

func gap(why string) evidence.Gap {
	return evidence.Gap{Name: "host/x", Why: why, At: time.Unix(0, 0).UTC()}
}

func same(t testing.TB, before, after map[string]string) {
	t.Helper()
	if !maps.Equal(before, after) {
		for k := range after {
			if before[k] != after[k] {
				t.Errorf("%s was touched:\n%q\n%q", k, before[k], after[k])
			}
		}
		t.Errorf("%d files before, %d after", len(before), len(after))
	}
}

// overwrite puts b in place of a file's content, behind everybody's back.
func overwrite(t testing.TB, f casefile.FS, name string, b []byte) {
	t.Helper()
	h, err := f.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0)
	ok(t, err)
	_, err = h.Write(b)
	ok(t, err)
	ok(t, h.Sync())
	ok(t, h.Close())
}

// tampered writes raw as the journal of a closed case and returns what reading says.
func tampered(t testing.TB, s *casefile.Store, dir string, raw []byte) error {
	t.Helper()
	ok(t, os.WriteFile(filepath.Join(dir, "INC-1", "journal.jsonl"), raw, 0o600))
	_, err := s.Read("INC-1")
	return err
}

func closedCase(t testing.TB) (s *casefile.Store, dir string, raw []byte) {
	t.Helper()
	s, dir = diskStore(t)
	c := create(t, s, "INC-1")
	note(t, c, "one é")
	ok(t, c.SignHead(fakeSigner{}))
	note(t, c, "two")
	ok(t, c.Close())
	return s, dir, read(t, s, "INC-1").Raw
}

func TestEveryByteBeforeTheLastLineIsProtected(t *testing.T) {
	f := faultfs.New(1)
	s := memStore(t, f)
	c := create(t, s, "INC-1")
	note(t, c, "one é")
	note(t, c, "two")
	raw := read(t, s, "INC-1").Raw
	try := func(raw []byte) error {
		overwrite(t, f, "/state/cases/INC-1/journal.jsonl", raw)
		_, err := s.Read("INC-1")
		return err
	}
	end := bytes.LastIndexByte(raw[:len(raw)-1], '\n') + 1
	for i := range end {
		for _, x := range []byte{0x01, 0x20, 0x80, raw[i] ^ '\n', raw[i] ^ '"'} { // neighbour, letter case, UTF-8, line end, string end
			if x == 0 {
				continue
			}
			bad := bytes.Clone(raw)
			bad[i] ^= x
			if err := try(bad); !errors.Is(err, casefile.ErrBroken) {
				t.Fatalf("byte %d %q became %q: %v", i, raw[i], bad[i], err)
			}
		}
	}
	ok(t, try(raw)) // the control
}

func TestLinesCannotBeDroppedDoubledMovedOrPutIn(t *testing.T) {
	s, dir, raw := closedCase(t)
	l := bytes.SplitAfter(raw, []byte("\n"))
	l = l[:len(l)-1]
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	other, _ := diskStore(t)
	foreign := create(t, other, "INC-2")
	note(t, foreign, "x")
	strange := read(t, other, "INC-2").Raw
	for name, bad := range map[string][]byte{
		"first dropped":    join(l[1:]...),
		"middle dropped":   join(append(append([][]byte{}, l[:2]...), l[3:]...)...),
		"doubled":          join(l[0], l[1], l[1], l[2], l[3], l[4]),
		"swapped":          join(l[0], l[2], l[1], l[3], l[4]),
		"blank line":       join(l[0], []byte("\n"), l[1], l[2]),
		"another case":     strange,
		"empty":            {},
		"signed tail gone": join(l[0], l[1]),
		"end of the last":  join(join(l[:len(l)-1]...), bytes.TrimSuffix(l[len(l)-1], []byte("\n")), []byte(" ")),
		"last two joined":  append(bytes.TrimSuffix(raw, []byte("\n")), raw...),
		"CRLF":             bytes.ReplaceAll(raw, []byte("\n"), []byte("\r\n")),
		"key twice":        bytes.Replace(raw, []byte(`"ok":true`), []byte(`"ok":true,"ok":false`), 1),
		"key in capitals":  bytes.Replace(raw, []byte(`"ok":true`), []byte(`"OK":true`), 1),
		"space":            bytes.Replace(raw, []byte(`"ok":true`), []byte(`"ok": true`), 1),
	} {
		err := tampered(t, s, dir, bad)
		if !errors.Is(err, casefile.ErrBroken) {
			t.Errorf("%s: %v", name, err)
		}
		oneLine(t, err)
	}
}

func TestABrokenMiddleIsNamedByLineAndNothingIsWritten(t *testing.T) {
	s, dir, raw := closedCase(t)
	bad := bytes.Replace(raw, []byte("one é"), []byte("two é"), 1) // line 3; line 4 notices
	tampered(t, s, dir, bad)
	before := files(t, dir)
	_, err := s.Take(t.Context(), "INC-1", bob)
	var b *casefile.BrokenError
	if !errors.As(err, &b) || b.Line != 4 || !errors.Is(err, casefile.ErrBroken) {
		t.Fatalf("%v", err)
	}
	same(t, before, files(t, dir))
	list, err := s.List()
	ok(t, err)
	if len(list) != 1 || !strings.Contains(list[0].Broken, "line 4") {
		t.Errorf("the list hides it: %+v", list)
	}
}

func TestALineOfANewerVersionIsNeitherRubbishNorRead(t *testing.T) {
	s, dir, raw := closedCase(t)
	i := bytes.LastIndexByte(raw[:len(raw)-1], '\n') + 1
	newer := append(bytes.Clone(raw[:i]), bytes.Replace(raw[i:], []byte(`{"v":1,`), []byte(`{"v":2,`), 1)...)
	if err := tampered(t, s, dir, newer); !errors.Is(err, casefile.ErrVersion) {
		t.Fatal(err)
	}
	before := files(t, dir)
	if _, err := s.Take(t.Context(), "INC-1", bob); !errors.Is(err, casefile.ErrVersion) {
		t.Fatal(err)
	}
	same(t, before, files(t, dir))
	// What only says so, and is not chained to its neighbours, is tampering.
	for name, bad := range map[string][]byte{
		"in the middle":     bytes.Replace(raw, []byte(`{"v":1,"seq":3`), []byte(`{"v":2,"seq":3`), 1),
		"put in":            append(append(bytes.Clone(raw[:i]), "{\"v\":2,\"seq\":99,\"prev\":\"\"}\n"...), raw[i:]...),
		"of no version":     append(bytes.Clone(raw[:i]), bytes.Replace(raw[i:], []byte(`{"v":1,`), []byte(`{"v":0,`), 1)...),
		"without a version": append(append(bytes.Clone(raw[:i]), "{}\n"...), raw[i:]...),
	} {
		if err := tampered(t, s, dir, bad); !errors.Is(err, casefile.ErrBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestACutBehindASignedHeadIsSeen(t *testing.T) {
	s, dir, raw := closedCase(t)
	l := bytes.SplitAfter(raw, []byte("\n"))
	if err := tampered(t, s, dir, bytes.Join(l[:2], nil)); !errors.Is(err, casefile.ErrBroken) || !strings.Contains(err.Error(), "line 3 was signed") {
		t.Fatal(err)
	}
	torn := append(bytes.Join(l[:2], nil), l[2][:20]...) // not even as a torn line
	if err := tampered(t, s, dir, torn); !errors.Is(err, casefile.ErrBroken) {
		t.Fatal(err)
	}
}

// rechain writes every prev again, as an author does who edits his own record.
func rechain(raw []byte) []byte {
	var out []byte
	prev := strings.Repeat("0", 64)
	for line := range bytes.Lines(raw) {
		_, rest, _ := bytes.Cut(line, []byte(`"prev":"`))
		line = bytes.Replace(line, rest[:64], []byte(prev), 1)
		sum := sha256.Sum256(line)
		prev = hex.EncodeToString(sum[:])
		out = append(out, line...)
	}
	return out
}

// What a rechained record still cannot be.
func TestARechainedRecordMustStillMakeSense(t *testing.T) {
	s, dir, raw := closedCase(t)
	swap := func(old, new string) []byte {
		if !bytes.Contains(raw, []byte(old)) {
			t.Fatalf("no %s in %s", old, raw)
		}
		return rechain(bytes.Replace(raw, []byte(old), []byte(new), 1))
	}
	ok(t, tampered(t, s, dir, rechain(raw))) // the control: the same record
	for name, bad := range map[string][]byte{
		"an edit below a signed head":  swap(`"msg":"one`, `"msg":"won`),
		"a late simulated":             swap(`"kind":"note","ok":true,"msg":"two`, `"simulated":true,"kind":"note","ok":true,"msg":"two`),
		"a second opening":             swap(`"kind":"note","ok":true,"msg":"two`, `"kind":"open","ok":true,"msg":"two`),
		"another opening":              swap(`"kind":"open"`, `"kind":"note"`),
		"a raw delete":                 swap(`"msg":"two`, "\"msg\":\"\x7ftwo"),
		"a raw bidirectional override": swap(`"msg":"two`, "\"msg\":\"\u202etwo"),
		"a seq twice":                  swap(`"seq":5`, `"seq":4`),
		"a seq as a string":            swap(`"seq":5`, `"seq":"5"`),
		"another time zone":            swap(`:06.123Z`, `:06.123+01:00`),
		"an upper-case digest":         bytes.Replace(raw, []byte(`"prev":"`+prevOf(raw, 4)), []byte(`"prev":"`+strings.ToUpper(prevOf(raw, 4))), 1),
	} {
		if err := tampered(t, s, dir, bad); !errors.Is(err, casefile.ErrBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// prevOf is the prev of line n, counted from 0.
func prevOf(raw []byte, n int) string {
	_, rest, _ := bytes.Cut(bytes.SplitAfter(raw, []byte("\n"))[n], []byte(`"prev":"`))
	return string(rest[:64])
}

func TestEvidenceLinesThatNameNoItemAreBroken(t *testing.T) {
	f := faultfs.New(1)
	s := memStore(t, f)
	c := create(t, s, "INC-1")
	put(t, c, "a", "x")
	note(t, c, "last")
	raw := read(t, s, "INC-1").Raw
	for old, bad := range map[string]string{`"name":"a"`: `"name":"../a"`, `"size":1`: `"size":"1"`, `"digest":"2d`: `"digest":"..`} {
		overwrite(t, f, "/state/cases/INC-1/journal.jsonl", rechain(bytes.Replace(raw, []byte(old), []byte(bad), 1)))
		if _, err := s.Read("INC-1"); !errors.Is(err, casefile.ErrBroken) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
