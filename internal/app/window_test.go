package app

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/engine"
	"cordon/internal/exposure"
)

// opened walks a case, skipping every plan, until its exposure list is open.
func (w *world) opened(s *Session) *exposure.List {
	w.t.Helper()
	for {
		p, err := s.Run.Next(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		if p.Exposed != nil {
			return p.Exposed
		}
		if p.N == 0 {
			continue
		}
		if err := s.Run.Answer(w.t.Context(), engine.Decision{N: p.N, Verb: engine.Skip, Reason: "test"}); err != nil {
			w.t.Fatal(err)
		}
	}
}

func names(l *exposure.List) map[string]bool {
	out := map[string]bool{}
	for _, c := range l.Entries {
		out[c.Name] = true
	}
	return out
}

func TestAWindowThatGrowsOpensTheListAgainAndNothingLeavesIt(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	s, err := a.NewCase(t.Context(), "gl/42", CaseSpec{ID: "grow"})
	if err != nil {
		t.Fatal(err)
	}
	first := names(w.opened(s))
	if !first["job token of job 499"] || first["job token of job 400"] {
		t.Fatalf("%v", first)
	}
	// Since then the provider has lost a job, as after an erased project.
	w.change(func() { w.jobs = w.jobs[2:] })
	list, err := s.SetWindow(t.Context(), a.clock.Now().Add(-60*24*time.Hour), time.Time{}, "a first login 60 days ago")
	if err != nil || list == nil {
		t.Fatalf("%v, %v", list, err)
	}
	now := names(list)
	for n := range first {
		if !now[n] {
			t.Errorf("%s left the list", n)
		}
	}
	if !now["job token of job 400"] {
		t.Error("what ran in the new part of the window is not on the list")
	}
	if again, err := s.SetWindow(t.Context(), a.clock.Now().Add(-time.Hour), time.Time{}, "narrowed"); err != nil || again != nil {
		t.Errorf("a narrower window opened the list again: %v, %v", again, err)
	}
	v, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	var windows []string
	for _, l := range v.Lines {
		var x casefile.Window
		if l.Kind == "window" && json.Unmarshal(l.Data, &x) == nil {
			windows = append(windows, x.Why)
		}
	}
	if strings.Join(windows, "; ") != "a first login 60 days ago; narrowed" {
		t.Errorf("journal has %q", windows)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := a.Resume(t.Context(), "grow")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Run.Window().Why != "narrowed" || r.Run.Outgrown() {
		t.Errorf("after resuming: %+v, outgrown %v", r.Run.Window(), r.Run.Outgrown())
	}
}

func TestNextOpensTheListAgainByItself(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	s, err := a.NewCase(t.Context(), "gl/42", CaseSpec{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w.opened(s)
	if err := s.SuspectSince(a.clock.Now().Add(-60*24*time.Hour), "earlier than we thought"); err != nil {
		t.Fatal(err)
	}
	p, err := s.Run.Next(t.Context())
	if err != nil || p.Kind != engine.Progress || p.Exposed == nil || !names(p.Exposed)["job token of job 400"] {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err = s.Run.Next(t.Context()); err != nil || p.Exposed != nil {
		t.Errorf("and once more: %+v, %v", p, err)
	}
}

func TestAWindowNeedsAReasonAndThePast(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	s, err := a.NewCase(t.Context(), "gl/42", CaseSpec{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	was, now := s.Run.Window(), a.clock.Now()
	for name, c := range map[string]struct {
		from, to time.Time
		why      string
		want     error
	}{
		"no reason":  {from: now.Add(-time.Hour), want: engine.ErrReason},
		"no time":    {why: "x", want: ErrUsage},
		"the future": {from: now.Add(time.Hour), why: "x", want: ErrUsage},
	} {
		if _, err := s.SetWindow(t.Context(), c.from, c.to, c.why); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.SetWindow(t.Context(), now.Add(-time.Hour), now.Add(-2*time.Hour), "x"); err == nil {
		t.Error("a window that ends before it begins was taken")
	}
	if got := s.Run.Window(); !got.From.Equal(was.From) || got.Why != was.Why {
		t.Errorf("a refused window was taken: %+v", got)
	}
}
