package app

import (
	"bytes"
	"testing"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/evidence"
	"cordon/internal/host/snapshot"
)

// read keeps a read of build-07 as a case of its own: whole, cut off, or with end "" none.
func (w *world) read(a *App, id string, at time.Time, end, why string) {
	w.t.Helper()
	store, err := a.cases()
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := store.Create(w.t.Context(), casefile.Opening{ID: id, Kind: "check"}, a.actor())
	if err != nil {
		w.t.Fatal(err)
	}
	defer c.Close()
	if end != "" {
		s := seenHost(at, end == snapshot.EndOK, end)
		var b bytes.Buffer
		if err := s.Encode(&b); err != nil {
			w.t.Fatal(err)
		}
		if _, err := c.Put(w.t.Context(), evidence.Item{Name: "host/build-07/snapshot.json", At: at}, &b); err != nil {
			w.t.Fatal(err)
		}
	}
	if why != "" {
		if err := c.Miss(w.t.Context(), evidence.Gap{Name: "host/build-07/snapshot.json", Why: why, At: at.Add(time.Second)}); err != nil {
			w.t.Fatal(err)
		}
	}
}

// The card of a host shows its last whole read, and that a newer one failed, when and why.
func TestANewerFailureDoesNotHideTheLastWholeRead(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second)
	day := 24 * time.Hour
	for name, c := range map[string]struct {
		reads  func(w *world, a *App)
		read   bool
		in     string // the case that is shown
		failed string // the case of the newer failure
		why    string
	}{
		"never read": {func(*world, *App) {}, false, "", "", ""},
		"tried and not reached": {func(w *world, a *App) {
			w.read(a, "gone", now, "", "dial tcp: no route to host")
		}, false, "", "gone", "dial tcp: no route to host"},
		"whole": {func(w *world, a *App) {
			w.read(a, "old-gone", now.Add(-2*day), "", "no route")
			w.read(a, "whole", now.Add(-day), snapshot.EndOK, "")
		}, true, "whole", "", ""},
		"whole, then not reached": {func(w *world, a *App) {
			w.read(a, "whole", now.Add(-day), snapshot.EndOK, "")
			w.read(a, "gone", now.Add(-time.Hour), "", "no route")
			w.read(a, "gone-too", now, "", "host key changed")
		}, true, "whole", "gone-too", "host key changed"},
		"whole, then cut off": {func(w *world, a *App) {
			w.read(a, "whole", now.Add(-day), snapshot.EndOK, "")
			w.read(a, "cut", now, snapshot.EndCut, "the answer ended in the middle")
		}, true, "whole", "cut", "the answer ended in the middle"},
		"only cut off": {func(w *world, a *App) {
			w.read(a, "cut", now, snapshot.EndCut, "the answer ended in the middle")
		}, true, "cut", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			a := w.open()
			c.reads(w, a)
			r, err := a.HostRecord("build-07")
			if err != nil {
				t.Fatal(err)
			}
			if r.Read != c.read || r.Report.Case != c.in {
				t.Errorf("read %v, shown is %q, want %q", r.Read, r.Report.Case, c.in)
			}
			switch f := r.Failed; {
			case f == nil && c.failed != "":
				t.Errorf("nothing tells of %s", c.failed)
			case f != nil && (f.Case != c.failed || f.Why != c.why || f.At.Before(now.Add(-time.Minute))):
				t.Errorf("failed: %+v, want %s: %s", f, c.failed, c.why)
			}
		})
	}
}
