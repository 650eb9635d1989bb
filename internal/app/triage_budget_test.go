package app

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/engine"
	"cordon/internal/transport"
)

// pause walks a case until the pause was applied, and stops there.
func (w *world) pause(s *Session) {
	w.t.Helper()
	enough := errors.New("enough")
	_, err := s.Walk(w.t.Context(), Lines{W: &strings.Builder{}}, func(p engine.Prompt) (engine.Decision, error) {
		if p.Step != "pause" || p.Kind != engine.Choose {
			return engine.Decision{}, enough
		}
		return engine.Decision{N: p.N, Verb: engine.Apply, Plan: p.Plans[0].Hash()}, nil
	})
	if !errors.Is(err, enough) {
		w.t.Fatalf("%v: the walk did not get beyond the pause", err)
	}
}

// before are the calls that left before the change did.
func before(t *testing.T, calls []string) []string {
	t.Helper()
	i := slices.Index(calls, "PUT runners/42")
	if i < 0 {
		t.Fatalf("the pause was not sent: %q", calls)
	}
	return calls[:i]
}

func TestFromAHostNameToAPausedRunnerTakesFiveCallsBeforeThePause(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	card := w.triage(a, "build-07")
	triaged := w.sent()
	if len(triaged) != 4 {
		t.Errorf("triage made %d calls: %q", len(triaged), triaged)
	}
	s, err := a.NewCase(t.Context(), card.Only().Ref.String(), CaseSpec{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n := w.sent(); len(n) != 0 {
		t.Errorf("opening the case asked again for what triage had read: %q", n)
	}
	if s.HostNames()[0] != "build-07" {
		t.Errorf("hosts %q", s.HostNames())
	}
	w.pause(s)
	calls := append(triaged, before(t, w.sent())...)
	if len(calls) > 5 {
		t.Errorf("%d calls before the pause, want at most 5:\n%s", len(calls), strings.Join(calls, "\n"))
	}
	if last := calls[len(calls)-1]; !strings.HasPrefix(last, "GET runners/42?include_projects=false") {
		t.Errorf("the last call before the pause has to compare with what is there now, and is %s", last)
	}
}

func TestANameThatTwoRunnersHaveCostsNoCallMore(t *testing.T) {
	w := newWorld(t)
	w.runners = append(w.runners, w.runner(45, "build-07"))
	a := w.open()
	if c := w.triage(a, "build-07"); len(c.Runners) != 2 || c.Only() != nil {
		t.Fatalf("%d runners; a name must choose none", len(c.Runners))
	}
	first := w.sent()
	if len(first) != 1 {
		t.Errorf("several runners are told from the list alone: %q", first)
	}
	card := w.triage(a, "gl/runner/42")
	s, err := a.NewCase(t.Context(), card.Only().Ref.String(), CaseSpec{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w.pause(s)
	if calls := append(first, before(t, w.sent())...); len(calls) > 5 {
		t.Errorf("%d calls before the pause:\n%s", len(calls), strings.Join(calls, "\n"))
	}
}

func TestWhatTheFirstStepKeepsIsAsOfWhenTriageReadIt(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	ref := w.triage(a, "build-07").Only().Ref.String()
	read := time.Now()
	s, err := a.NewCase(t.Context(), ref, CaseSpec{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w.pause(s)
	v, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, it := range v.Items {
		if slices.Contains([]string{"provider/gl/runner.json", "provider/gl/managers.json", "provider/gl/jobs.json"}, it.Name) {
			n++
			if it.At.After(read) {
				t.Errorf("%s is kept as of %s, it was read before %s", it.Name, it.At, read)
			}
		}
	}
	reused := 0
	for _, l := range v.Lines {
		var x transport.Exchange
		if l.Kind == "exchange" && json.Unmarshal(l.Data, &x) == nil && x.Reused {
			reused++
		}
	}
	if n != 3 || reused < 3 {
		t.Errorf("%d items kept, %d reused answers on record", n, reused)
	}
}

func TestWhoSaysAgainIsAnsweredAfresh(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	s, err := a.NewCase(t.Context(), w.triage(a, "build-07").Only().Ref.String(), CaseSpec{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for {
		p, err := s.Run.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if p.Kind == engine.Choose {
			break
		}
	}
	w.sent()
	if _, err := s.Run.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	if calls := w.sent(); len(calls) < 3 {
		t.Errorf("planning again asked only %q", calls)
	}
}
