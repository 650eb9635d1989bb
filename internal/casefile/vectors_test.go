package casefile_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cordon/internal/casefile"
	"cordon/internal/casefile/faultfs"
	"cordon/internal/evidence"
	"cordon/internal/target"
)

var update = flag.Bool("update", false, "write testdata again")

const (
	vectorID       = "INC-2026-0142"
	vectorPlaybook = "steps: []\n"
)

// wholeVector writes the case of testdata/whole.jsonl.
func wholeVector(t testing.TB) []byte {
	s := memStore(t, faultfs.New(1))
	c, err := s.Create(t.Context(), casefile.Opening{
		ID: vectorID, Title: "build-07 may be owned", Kind: "incident", Simulated: true, PlaybookName: "contain", Playbook: []byte(vectorPlaybook),
		Targets: []target.Ref{{System: "gitlab-prod", Kind: target.Runner, ID: "42"}},
	}, alice)
	ok(t, err)
	_, err = c.Put(t.Context(), evidence.Item{Name: "steps/before.json", Source: "GET /api/v4/runners/42", Media: "application/json"}, strings.NewReader("{}\n"))
	ok(t, err)
	req := &casefile.Request{Method: "PUT", Path: "/api/v4/runners/42"}
	for _, e := range []casefile.Event{
		{Kind: "intent", Step: "pause", Target: target.Ref{System: "gitlab-prod", Kind: target.Runner, ID: "42"}, Req: req},
		{Kind: "result", Step: "pause", OK: true, Status: 200, Req: req, Msg: "says \x1b[1m\"paused\"\u202e\n", Data: json.RawMessage(`{"state":"applied","n":1}`)},
	} {
		_, err = c.Append(e)
		ok(t, err)
	}
	ok(t, c.Miss(t.Context(), evidence.Gap{Name: "host/build-07/btmp", Why: "permission denied"}))
	ok(t, c.SignHead(fakeSigner{}))
	return read(t, s, vectorID).Raw
}

// spoiled derives the other vectors.
func spoiled(whole []byte) map[string][]byte {
	l := bytes.SplitAfter(whole, []byte("\n"))
	l = l[:len(l)-1]
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	return map[string][]byte{
		"whole.jsonl":       whole,
		"torn.jsonl":        whole[:len(whole)-40],
		"torn-zeros.jsonl":  join(join(l[:4]...), make([]byte, 32)),
		"edited.jsonl":      bytes.Replace(whole, []byte(`"status":200`), []byte(`"status":204`), 1),
		"dropped.jsonl":     join(join(l[:3]...), join(l[4:]...)),
		"key-order.jsonl":   bytes.Replace(whole, []byte(`"kind":"intent","ok":false`), []byte(`"ok":false,"kind":"intent"`), 1),
		"fraction.jsonl":    bytes.Replace(whole, []byte(`"n":1}`), []byte(`"n":1.0}`), 1),
		"wrong-case.jsonl":  bytes.ReplaceAll(whole, []byte(vectorID), []byte("INC-2026-0143")),
		"newer.jsonl":       join(l[0], bytes.Replace(l[1], []byte(`"v":1`), []byte(`"v":2`), 1)),
		"broken-line.jsonl": join(l[0], l[1][:50], []byte("\n"), l[2]),
	}
}

// word is what a reader has to say about a journal.
func word(t testing.TB, raw []byte) string {
	f := faultfs.New(1)
	s := memStore(t, f)
	c, err := s.Create(t.Context(), casefile.Opening{ID: vectorID, Playbook: []byte(vectorPlaybook)}, alice) // for its blob
	ok(t, err)
	ok(t, c.Close())
	overwrite(t, f, "/state/cases/"+vectorID+"/journal.jsonl", raw)
	v, err := s.Read(vectorID)
	if err != nil {
		return strings.TrimPrefix(err.Error(), "read case "+vectorID+": ")
	}
	return fmt.Sprintf("%d lines, %d torn bytes, head %s", len(v.Lines), len(v.Torn), v.Head)
}

// The vectors are the format: what this build writes is whole.jsonl to the byte, and
// of each file it says what words.txt says. -update writes them again.
func TestVectors(t *testing.T) {
	vectors, words := spoiled(wholeVector(t)), filepath.Join("testdata", "words.txt")
	if *update {
		var all strings.Builder
		for _, name := range slices.Sorted(maps.Keys(vectors)) {
			ok(t, os.WriteFile(filepath.Join("testdata", name), vectors[name], 0o644))
			fmt.Fprintf(&all, "%s\t%s\n", name, word(t, vectors[name]))
		}
		ok(t, os.WriteFile(words, []byte(all.String()), 0o644))
	}
	b, err := os.ReadFile(words)
	ok(t, err)
	seen := 0
	for line := range strings.Lines(string(b)) {
		name, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		raw, err := os.ReadFile(filepath.Join("testdata", name))
		ok(t, err)
		if got := word(t, raw); got != want {
			t.Errorf("%s: says %q, want %q", name, got, want)
		}
		if !bytes.Equal(raw, vectors[name]) {
			t.Errorf("%s is not what this build writes", name)
		}
		seen++
	}
	if seen != len(vectors) {
		t.Errorf("%d vectors on disk, %d made", seen, len(vectors))
	}
}
