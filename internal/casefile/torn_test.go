package casefile_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/casefile"
	"cordon/internal/casefile/faultfs"
)

func TestATornLastLineIsSetAsideAtEveryOffset(t *testing.T) {
	s, dir := diskStore(t)
	c := create(t, s, "INC-1")
	note(t, c, "kept")
	note(t, c, "torn")
	ok(t, c.Close())
	raw := read(t, s, "INC-1").Raw
	last := bytes.LastIndexByte(raw[:len(raw)-1], '\n') + 1
	whole := bytes.Count(raw[:last], []byte("\n"))
	journal, tornFile := filepath.Join(dir, "INC-1", "journal.jsonl"), filepath.Join(dir, "INC-1", "journal.torn")
	for cut := last + 1; cut < len(raw); cut++ {
		ok(t, os.WriteFile(journal, raw[:cut], 0o600))
		_ = os.Remove(tornFile)

		v := read(t, s, "INC-1") // a reader says so and touches nothing
		if string(v.Torn) != string(raw[last:cut]) || len(v.Lines) != whole {
			t.Fatalf("cut at %d: %d lines, torn %q", cut, len(v.Lines), v.Torn)
		}
		if after, err := os.ReadFile(journal); err != nil || !bytes.Equal(after, raw[:cut]) {
			t.Fatalf("cut at %d: the reader wrote: %v", cut, err)
		}

		ok(t, take(t, s, "INC-1", bob).Close())
		v = read(t, s, "INC-1")
		if !strings.HasSuffix(kinds(v), "note resume take") || len(v.Torn) != 0 {
			t.Fatalf("cut at %d: %s, torn %q", cut, kinds(v), v.Torn)
		}
		accountFor(t, v, tornFile, raw[last:cut])
	}
}

// accountFor checks that the resume lines of v speak of every byte of the torn file.
func accountFor(t testing.TB, v *casefile.View, tornFile string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(tornFile)
	ok(t, err)
	if !bytes.Equal(got, want) {
		t.Fatalf("set aside %q, want %q", got, want)
	}
	spoken(t, v, got)
}

func spoken(t testing.TB, v *casefile.View, torn []byte) {
	t.Helper()
	var at int64
	for _, l := range v.Lines {
		var d struct {
			Torn *struct {
				Offset, Bytes int64
				SHA256        string
			}
		}
		if l.Kind != "resume" || json.Unmarshal(l.Data, &d) != nil || d.Torn == nil {
			continue
		}
		piece := torn[d.Torn.Offset : d.Torn.Offset+d.Torn.Bytes]
		if sum := sha256.Sum256(piece); d.Torn.Offset != at || hex.EncodeToString(sum[:]) != d.Torn.SHA256 {
			t.Fatalf("line %d speaks of %+v, file has %q", l.Seq, *d.Torn, piece)
		}
		at += d.Torn.Bytes
	}
	if at != int64(len(torn)) {
		t.Fatalf("the journal speaks of %d bytes, the file has %d", at, len(torn))
	}
}

func TestBytesThatAreNotJSONAtTheVeryEndAreTorn(t *testing.T) {
	for name, tail := range map[string]string{
		"zeros after a power cut":  "\x00\x00\x00\x00",
		"zeros and a line end":     "\x00\x00\x00\n",
		"half a line, line end":    `{"v":1,"seq":` + "\n",
		"raw escape":               "{\"v\":\"\x1b\"}\n",
		"only a line end":          "\n",
		"a line whose end is lost": "{}",
		"and its block":            "{}\x00",
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := diskStore(t)
			c := create(t, s, "INC-1")
			ok(t, c.Close())
			f, err := os.OpenFile(filepath.Join(dir, "INC-1", "journal.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
			ok(t, err)
			_, err = f.WriteString(tail)
			ok(t, err)
			ok(t, f.Close())
			take(t, s, "INC-1", bob)
			accountFor(t, read(t, s, "INC-1"), filepath.Join(dir, "INC-1", "journal.torn"), []byte(tail))
		})
	}
}

// A crash in the middle of setting a torn line aside, at any operation and with or
// without losing what was not synced, loses no byte of it.
func TestSettingAsideSurvivesACrashAnywhere(t *testing.T) {
	const mark = `"actor":"alice"` // in the torn line, and in none that bob writes
	for _, lose := range []bool{false, true} {
		for stop := 1; ; stop++ {
			f := faultfs.New(uint64(stop))
			s := memStore(t, f)
			c := create(t, s, "INC-1")
			note(t, c, "kept")
			f.Inject(faultfs.Rule{Op: faultfs.OpWrite, Path: "journal.jsonl", Nth: 1, Keep: 180, Stop: true})
			if _, err := c.Append(casefile.Event{Kind: "note", Msg: "torn"}); err == nil {
				t.Fatal("the power did not go")
			}
			f.Reboot(false)
			f.Inject(faultfs.Rule{Nth: stop, Keep: -1, Stop: true})
			_, err := s.Take(t.Context(), "INC-1", bob)
			f.Reboot(lose)
			take(t, s, "INC-1", bob)
			v := read(t, s, "INC-1")
			torn := content(t, f, "/state/cases/INC-1/journal.torn")
			if err != nil && !lose && !bytes.Contains(torn, []byte(mark)) {
				t.Fatalf("stop %d: the torn line is lost: %q", stop, torn)
			}
			if bytes.Count(torn, []byte(mark)) > 1 {
				t.Fatalf("stop %d: set aside twice: %q", stop, torn)
			}
			if v.Lines[2].Msg != "kept" {
				t.Fatalf("stop %d: line 3 is %+v", stop, v.Lines[2])
			}
			spoken(t, v, torn)
			if err == nil {
				if stop < 8 {
					t.Fatalf("only %d operations: the test stops nothing", stop)
				}
				break // every operation of a take was a place to stop
			}
		}
	}
}

func content(t testing.TB, f casefile.FS, name string) []byte {
	t.Helper()
	h, err := f.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil
	}
	info, err := h.Stat()
	ok(t, err)
	b := make([]byte, info.Size)
	if n, err := h.ReadAt(b, 0); n < len(b) {
		t.Fatal(fmt.Errorf("read %s: %w", name, err))
	}
	ok(t, h.Close())
	return b
}

// tear adds what a crash in the middle of an append leaves.
func tear(t testing.TB, dir string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, "journal.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	ok(t, err)
	_, err = f.WriteString(`{"v":1,"seq":`)
	ok(t, err)
	ok(t, f.Close())
}
