package ledger

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"cordon/internal/clock"
)

// A reader of the file never sees half a line with another behind it, and the
// numbers have no holes, while several write.
func TestReadWhileWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	l, err := Open(path, clock.Real{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const writers, each = 4, 200
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				l.Effect("runner.pause", "act", "runner/42", "")
			}
		})
	}
	check := func() int {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		b, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		whole := b[:bytes.LastIndexByte(b, '\n')+1]
		n := 0
		for s := bufio.NewScanner(bytes.NewReader(whole)); s.Scan(); {
			var e Entry
			n++
			if err := json.Unmarshal(s.Bytes(), &e); err != nil || e.Seq != n {
				t.Fatalf("line %d: %v, %s", n, err, s.Bytes())
			}
		}
		return n
	}
	for range 50 {
		check()
	}
	wg.Wait()
	if n := check(); n != writers*each || len(l.Entries()) != n {
		t.Errorf("%d lines, %d entries in memory", n, len(l.Entries()))
	}
}

// Memory is bounded; the file is not.
func TestMemoryIsBounded(t *testing.T) {
	l, err := Open(filepath.Join(t.TempDir(), "ledger.jsonl"), clock.Real{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range Keep + 10 {
		l.Effect("e", "a", "t", "")
	}
	list := l.Entries()
	if len(list) != Keep || list[0].Seq != 11 || list[Keep-1].Seq != Keep+10 {
		t.Errorf("%d entries, %d to %d", len(list), list[0].Seq, list[len(list)-1].Seq)
	}
}

func TestCounters(t *testing.T) {
	l, err := Open(filepath.Join(t.TempDir(), "ledger.jsonl"), clock.Real{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	l.Request("GET", "/api/v4/version", 200)
	l.Request("GET", "/api/v4/version", 401)
	l.Conn("build-07")
	c := l.Counters()
	if c.Requests["GET /api/v4/version"] != 2 || c.Requests["GET /api/v4/version 401"] != 1 || c.Conns["build-07"] != 1 {
		t.Errorf("%+v", c)
	}
	c.Requests["GET /api/v4/version"] = 99
	if l.Counters().Requests["GET /api/v4/version"] != 2 {
		t.Error("a copy is shared")
	}
}
