package casefile_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/casefile/faultfs"
	"cordon/internal/evidence"
)

var alice = casefile.Actor{Name: "alice", Key: "SHA256:alice", Host: "jump1", Session: "s1", BootID: "boot-1", PID: 101}

var bob = casefile.Actor{Name: "bob", Host: "jump2", Session: "s2", BootID: "boot-2", PID: 202}

// steps is a clock that goes on by a second each time somebody looks.
type steps struct {
	mu sync.Mutex
	n  int
}

func (s *steps) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	return time.Date(2026, 11, 30, 12, 0, s.n, 123456789, time.UTC)
}

func (s *steps) Wait(ctx context.Context, _ time.Duration) error { return ctx.Err() }

func memStore(t testing.TB, f *faultfs.FS) *casefile.Store {
	t.Helper()
	s, err := casefile.OpenStore(casefile.Opener{Dir: "/state", Clock: &steps{}, FS: f})
	ok(t, err)
	return s
}

func diskStore(t testing.TB) (*casefile.Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	s, err := casefile.OpenStore(casefile.Opener{Dir: dir, Clock: &steps{}})
	ok(t, err)
	return s, filepath.Join(dir, "cases")
}

func create(t testing.TB, s *casefile.Store, id string) *casefile.Case {
	t.Helper()
	c, err := s.Create(t.Context(), casefile.Opening{ID: id, Title: "runner may be owned", Kind: "incident"}, alice)
	ok(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func take(t testing.TB, s *casefile.Store, id string, a casefile.Actor) *casefile.Case {
	t.Helper()
	c, err := s.Take(t.Context(), id, a)
	ok(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func read(t testing.TB, s *casefile.Store, id string) *casefile.View {
	t.Helper()
	v, err := s.Read(id)
	ok(t, err)
	return v
}

func note(t testing.TB, c *casefile.Case, msg string) casefile.Line {
	t.Helper()
	l, err := c.Append(casefile.Event{Kind: "note", OK: true, Msg: msg})
	ok(t, err)
	return l
}

func put(t testing.TB, c *casefile.Case, name, content string) evidence.Item {
	t.Helper()
	it, err := c.Put(t.Context(), evidence.Item{Name: name, Source: "test"}, strings.NewReader(content))
	ok(t, err)
	return it
}

// fakeSigner signs by naming what it signed.
type fakeSigner struct{ err error }

func (s fakeSigner) Sign(namespace string, msg []byte) ([]byte, error) {
	return fmt.Appendf(nil, "signed %s %s", namespace, msg), s.err
}

func (fakeSigner) Fingerprint() string { return "SHA256:fake" }

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func kinds(v *casefile.View) string {
	var all []string
	for _, l := range v.Lines {
		all = append(all, l.Kind)
	}
	return strings.Join(all, " ")
}

func blob(t testing.TB, v *casefile.View, sum string) string {
	t.Helper()
	r, err := v.Blob(sum)
	ok(t, err)
	b, err := io.ReadAll(r)
	ok(t, err)
	ok(t, r.Close())
	return string(b)
}

// files reads a tree into a map, to see that nothing in it was touched.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	ok(t, filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		all[strings.TrimPrefix(p, dir)] = string(b)
		return err
	}))
	return all
}

// oneLine checks the shape of every error a person sees.
func oneLine(t testing.TB, err error) {
	t.Helper()
	if err == nil || strings.ContainsAny(err.Error(), "\n\r\t\x1b") {
		t.Errorf("not one clean line: %q", err)
	}
}
