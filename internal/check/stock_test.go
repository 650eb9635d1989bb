package check_test

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
)

// stock reads the stored snapshots of real clean hosts; testdata/clean/README.md says
// how each was made.
func stock(t *testing.T) map[string]*snapshot.Snapshot {
	t.Helper()
	names, err := filepath.Glob("testdata/clean/*.json.gz")
	if err != nil || len(names) < 2 {
		t.Fatalf("%d stored snapshots, want two distributions or more (%v)", len(names), err)
	}
	out := map[string]*snapshot.Snapshot{}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		s, err := snapshot.Decode(z)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_ = f.Close()
		out[filepath.Base(name)] = s
	}
	return out
}

// A check that cries on a host that nobody touched is switched off by the second day.
func TestRealCleanHostsHaveNoFindingAboveInfo(t *testing.T) {
	if take.addr != "" { // testdata/clean/make.sh writes one anew
		takeSnapshot(t)
	}
	for name, s := range stock(t) {
		results := check.Run(s)
		for _, f := range check.AtLeast(results, check.Low) {
			t.Errorf("%s: %s %s: %s at %s: %s", name, f.Severity, f.Check, f.Title, f.Where, f.Detail)
		}
		for _, r := range results {
			// The hosts were booted in containers, where the kernel counts the tasks of the
			// whole machine: whether the container's list hides one is not known there.
			if r.Check == "hidden-processes" && strings.Contains(r.Why, "other containers'") {
				continue
			}
			if r.State == check.Blind || r.State == check.Found && r.Why != "" {
				t.Errorf("%s: %s says %q (%s) on a whole snapshot", name, r.Check, r.State, r.Why)
			}
		}
		if len(check.Installations(s)) != 1 {
			t.Errorf("%s: %d installations, want the one that was laid there", name, len(check.Installations(s)))
		}
	}
}
