package operator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cordon/internal/change"
	"cordon/internal/clock"
	"cordon/internal/evidence"
	"cordon/internal/redact"
	"cordon/internal/target"
	"cordon/providers"
)

var (
	host07 = target.Ref{System: target.SSH, Kind: target.Host, ID: "build-07"}
	args07 = encode(Args{Name: "isolate", Case: "INC-7", Runner: "gitlab-lab/project/runner/42"})
)

// world is a directory of small programs, each of which writes down that it ran.
type world struct {
	dir  string
	o    Options
	kept map[string]string
	sys  *System
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{dir: t.TempDir(), kept: map[string]string{}}
	w.o = Options{Actions: map[string]Action{}, Clock: clock.Real{}, Marker: redact.NewMarker([]byte("test key, test key, test key, 32")), Processes: true}
	return w
}

// program writes a shell script whose first act is to add its name to the list of
// those that ran.
func (w *world) program(t *testing.T, name, body string) string {
	t.Helper()
	p := filepath.Join(w.dir, name)
	src := fmt.Sprintf("#!/bin/sh\necho %s >>%s\n%s\n", name, filepath.Join(w.dir, "ran"), body)
	if err := os.WriteFile(p, []byte(src), 0o700); err != nil {
		t.Fatal(err)
	}
	return p
}

func (w *world) action(a Action) *System {
	if a.Title == "" {
		a.Title = "Isolate the machine"
	}
	if a.Timeout == 0 {
		a.Timeout = time.Minute
	}
	a.Verb, a.OnHosts = "isolate", true
	w.o.Actions["isolate"] = a
	w.sys = New(w.o)
	return w.sys
}

func (w *world) ran() string {
	b, _ := os.ReadFile(filepath.Join(w.dir, "ran")) // not there: nothing ran
	return strings.Join(strings.Fields(string(b)), " ")
}

func (w *world) plan(t *testing.T) change.Change {
	t.Helper()
	ps, err := w.sys.Plan(t.Context(), providers.Operator, host07, args07)
	if err != nil || len(ps) != 1 || len(ps[0].Changes) != 1 {
		t.Fatalf("plan: %+v, %v", ps, err)
	}
	c := ps[0].Changes[0]
	c.ID = "operator-isolate/build-07/1.1"
	return c
}

// permitted is a context with leave for c.
func (w *world) permitted(t *testing.T, c change.Change) context.Context {
	t.Helper()
	p, err := change.NewIssuer().Permit(c, c.Digest())
	if err != nil {
		t.Fatal(err)
	}
	return change.WithPermit(evidence.WithSink(t.Context(), w), p)
}

func (w *world) apply(t *testing.T, c change.Change) (change.Outcome, error) {
	t.Helper()
	return NewApplier(w.sys).Apply(w.permitted(t, c), c)
}

// Put implements evidence.Sink.
func (w *world) Put(_ context.Context, it evidence.Item, r io.Reader) (evidence.Item, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return it, err
	}
	sum := sha256.Sum256(b)
	it.Digest = hex.EncodeToString(sum[:])
	w.kept[it.Name] = string(b)
	return it, nil
}

// Miss implements evidence.Sink.
func (w *world) Miss(context.Context, evidence.Gap) error { return nil }
