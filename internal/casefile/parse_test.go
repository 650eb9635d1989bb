package casefile

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func vectors(f *testing.F, add func(raw []byte)) {
	names, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(names) == 0 {
		f.Fatal("no vectors", err)
	}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		add(raw)
	}
}

// A line that is read has no byte that a terminal acts on, and written again it is
// read as the same line.
func FuzzLine(f *testing.F) {
	vectors(f, func(raw []byte) {
		for l := range bytes.Lines(raw) {
			f.Add(bytes.TrimSuffix(l, []byte("\n")))
		}
	})
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		l, err := parseLine(b)
		if !bytes.Equal(before, b) {
			t.Fatal("parsing changed its input")
		}
		if err != nil {
			return
		}
		for _, c := range b {
			if c < 0x20 || c == 0x7f {
				t.Fatalf("read a line with %#x", c)
			}
		}
		again, err := l.encode()
		if err != nil {
			return // only what grows beyond MaxLine; checked below
		}
		back, err := parseLine(bytes.TrimSuffix(again, []byte("\n")))
		if err != nil {
			t.Fatalf("wrote %q, cannot read it: %v", again, err)
		}
		l.sum, back.sum, l.Data, back.Data = "", "", nil, nil // white space in data may go
		if !reflect.DeepEqual(l, back) {
			t.Fatalf("\n%+v\n%+v", l, back)
		}
	})
}

// A journal is its whole lines and its torn tail; the whole lines alone say the same.
func FuzzJournal(f *testing.F) {
	vectors(f, func(raw []byte) { f.Add(raw) })
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := verify(raw, "INC-2026-0142")
		if err != nil {
			return
		}
		if !bytes.Equal(append(bytes.Clone(c.whole), c.torn...), raw) {
			t.Fatal("bytes were lost between the lines and the tail")
		}
		again, err := verify(c.whole, "INC-2026-0142")
		if err != nil || again.last().sum != c.last().sum || len(again.torn) != 0 {
			t.Fatalf("the whole lines alone: %v", err)
		}
		if got := digest(c.lastRaw()); got != c.last().sum {
			t.Fatalf("last line %q has digest %s, not %s", c.lastRaw(), got, c.last().sum)
		}
	})
}
