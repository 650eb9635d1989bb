package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/casefile"
)

// TestAFullDiskStopsBeforeTheEffect fills the disk at writes of the journal all along a
// run. cordon ends with one line that says so, and whatever it changed in the lab has
// its intent on the disk. With space again the case goes on to the same end.
func TestAFullDiskStopsBeforeTheEffect(t *testing.T) {
	t.Parallel()
	at := []int{1, 3, 6, 9, 13, 14, 15, 16, 17, 19, 20, 30, 36, 38, 75, 90}
	if testing.Short() {
		at = []int{1, 15, 17}
	}
	resumed := map[int]bool{15: true, 19: true, 36: true, 90: true} // to the end: that takes a whole watch
	for _, n := range at {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.env = []string{fmt.Sprintf("%s=full:%d", broken, n)}
			s := w.cordon(contain("F")...)
			if s.code != 1 {
				t.Errorf("ends with %d, want 1\n%s", s.code, tail(s.out))
			}
			if strings.Count(s.err, "\n") != 1 || !strings.Contains(s.err, "no space left for the record") || !strings.Contains(s.err, "name another directory (state_dir)") {
				t.Errorf("not one clear line with a hint: %s", s.err)
			}
			w.everyEffectWasIntended("F")
			w.env = nil
			switch {
			case len(cases(t, w.state())) == 0:
				if left, _ := filepath.Glob(filepath.Join(w.state(), "cases", ".*")); len(left) > 0 {
					t.Errorf("half a case is left: %v", left)
				}
			case resumed[n]:
				w.endsAsIfNothingHadBeen("F", w.cordon("case", "resume", "F", "--yes", "--reason", reason))
			default:
				if v := w.cordon("case", "show", "F"); v.code != 0 {
					t.Errorf("the record is not whole: %s", v.err)
				}
			}
		})
	}
}

// verbs are the intents that lead to each effect of the lab.
var verbs = map[string]string{
	"runner.pause": "pause", "runner.reset": "rotate", "job.cancel": "cancel",
	"host.disable": "stop", "host.stop": "stop", "runner.delete": "deregister",
}

// everyEffectWasIntended compares the lab's ledger with the record on the disk: the
// intent of every effect is there, and its result, which has space of its own.
func (w *world) everyEffectWasIntended(id string) {
	w.t.Helper()
	intents, results := map[string]bool{}, map[string]bool{}
	b, err := os.ReadFile(filepath.Join(w.state(), "cases", id, "journal.jsonl"))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		var l casefile.Line
		var d struct{ Verb string }
		if json.Unmarshal([]byte(line), &l) != nil { // the end of the record may be torn
			continue
		}
		switch l.Kind {
		case "intent":
			intents[l.Msg] = true
		case "result":
			if err := json.Unmarshal(l.Data, &d); err != nil {
				w.t.Fatal(err)
			}
			results[d.Verb] = true
		}
	}
	for _, e := range w.effects() {
		if !intents[verbs[e.Effect]] {
			w.t.Errorf("%s %s happened with no intent on the disk", e.Effect, e.Target)
		}
		if !results[verbs[e.Effect]] {
			w.t.Errorf("%s %s happened and the record does not say so", e.Effect, e.Target)
		}
	}
}
