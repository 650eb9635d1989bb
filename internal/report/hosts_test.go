package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"cordon/internal/untrusted"
)

// TestTheRunnersSilenceIsNotTheHosts: what was found on a host comes before everything
// else in three lines, and no list of credentials, however long, pushes it out.
func TestTheRunnersSilenceIsNotTheHosts(t *testing.T) {
	s := stories(t)["contained"]
	s.add("finding", "collect", "", `{"host":"build-07","strays":[{"what":"`+strings.Repeat("github at /srv/x ", 9)+`","runs":true}],"results":[{"check":"orphans","state":"found","findings":[`+
		`{"severity":"high","title":"x","where":"process 512 (kworkerd)"},{"severity":"critical","title":"y"},{"severity":"medium","title":"z"}]}]}`)
	s.waits("dependents", "carol@example.org", "waiting", asOf)
	s.add("close", "", "contained", "{}")
	b := Brief(s.View, asOf)
	for i, want := range map[int]string{
		1: "STATE     HOST NOT CLEAN: 2 findings of high severity on build-07; the runner alone is CONTAINED",
		4: "OPEN      3 findings of medium or worse on 1 hosts, 2 of them high; ",
		5: "NEXT      isolate build-07 or rebuild it: ",
	} {
		if !strings.HasPrefix(b[i], want) {
			t.Errorf("not led by what was found: %q", b[i])
		}
	}
	if !strings.HasSuffix(b[4], " more") || strings.Contains(b[4], "...") && !strings.Contains(b[4], "no list of ours") {
		t.Errorf("not cut at an item: %q", b[4])
	}
	if clean := strings.Join(Brief(stories(t)["clean"].View, asOf), "\n"); strings.Contains(clean, "HOST NOT CLEAN") || strings.Contains(clean, "isolate") {
		t.Errorf("nothing was found there:\n%s", clean)
	}
}

// TestWhatDoesNotFitIsCounted: items stay whole, the count is right, the room is kept.
func TestWhatDoesNotFitIsCounted(t *testing.T) {
	for n := range 40 {
		for _, long := range []int{1, 7, 30, 60, 120, 400} {
			items := []string{"first"}
			for i := range n {
				items = append(items, fmt.Sprintf("%d%s", i, strings.Repeat("é", long)))
			}
			got := fit(items, 190)
			if len([]rune(got)) > 190 || untrusted.Clean(got, 190) != got {
				t.Fatalf("%d of %d: %d characters: %q", n, long, len([]rune(got)), got)
			}
			parts, left := strings.Split(got, "; "), 0
			if k, _ := fmt.Sscanf(parts[len(parts)-1], "and %d more", &left); k == 1 {
				parts = parts[:len(parts)-1]
			}
			if len(parts)+left != len(items) || parts[0] != "first" {
				t.Errorf("%d of %d: %d shown and %d counted: %q", n, long, len(parts), left, got)
			}
		}
	}
}

// TestARunThatDiedAfterAChangeDoesNotCallForItAgain: the record has the change, and the
// brief says so; of one without a result it does not.
func TestARunThatDiedAfterAChangeDoesNotCallForItAgain(t *testing.T) {
	s := begin(t, false).step("snapshot", "1/r").step("pause", "1/r").add("intent", "rotate", "rotate", `{"change":{"id":"rotate/42/1.1","title":"x"}}`)
	if got := strings.Join(Brief(s.View, asOf), "\n"); strings.Contains(got, "took effect, ") || !strings.Contains(got, "1 changes that may or may not") {
		t.Errorf("nobody knows:\n%s", got)
	}
	s.add("result", "rotate", "", `{"outcome":{"change":"rotate/42/1.1","state":"applied"}}`)
	got := strings.Join(Brief(s.View, asOf), "\n")
	for _, w := range []string{"STANDS    step 3/6, Make the stolen runner token worthless: rotate/42/1.1 took effect, the rest of the step is open", "NEXT      do not repeat rotate/42/1.1, which took effect"} {
		if !strings.Contains(got, w) {
			t.Errorf("no %q in\n%s", w, got)
		}
	}
}

// TestAfterAFalseAlarmWhatCannotBeUndoneIsTold: that the case is over does not bring the
// runner back.
func TestAfterAFalseAlarmWhatCannotBeUndoneIsTold(t *testing.T) {
	change := func(s story, step, id, undo string) {
		s.add("intent", step, strings.Split(id, "/")[0], `{"change":{"id":"`+id+`","title":"x"`+undo+`}}`)
		s.add("result", step, "", `{"outcome":{"change":"`+id+`","state":"applied"}}`)
	}
	s := begin(t, false)
	change(s, "pause", "pause/42/1.1", `,"undo":{"id":"undo"}`)
	change(s, "rotate", "rotate/42/1.1", "")
	s.add("stand-down", "", "our own benchmark", "{}")
	got := strings.Join(Brief(s.View, asOf), "\n")
	for _, w := range []string{"BEING STOOD DOWN", "cannot be undone: rotate/42/1.1", "not taken back by this case: pause/42/1.1", "NEXT      go on undoing"} {
		if !strings.Contains(got, w) {
			t.Errorf("before: no %q in\n%s", w, got)
		}
	}
	change(s, "stand-down", "undo/pause/42/1.1.1", "")
	s.add("close", "", "stood down", "{}")
	got = strings.Join(Brief(s.View, asOf), "\n")
	for _, w := range []string{"STATE     STOOD DOWN, a false alarm; cannot be undone: rotate/42/1.1", "NEXT      register its machines again or give them the new token"} {
		if !strings.Contains(got, w) {
			t.Errorf("after: no %q in\n%s", w, got)
		}
	}
	if strings.Contains(got, "pause/42/1.1") {
		t.Errorf("the pause was taken back:\n%s", got)
	}
}

// TestABriefSaysToWhomACaseWent: until it is taken back, or goes on where it came to.
func TestABriefSaysToWhomACaseWent(t *testing.T) {
	const to = "WHO       handed over to bob@example.org by alice@example.org at "
	s := begin(t, false).add("close", "", "contained", "{}").add("handover", "", "", `{"to":"bob@example.org"}`)
	b := func() (who, next string) { all := Brief(s.View, asOf); return all[6], all[5] }
	s.Lines[len(s.Lines)-1].OK = true
	if who, next := b(); !strings.HasPrefix(who, to) || strings.Contains(next, "hand over") || !strings.Contains(next, "--take-over") {
		t.Errorf("%s\n%s", who, next)
	}
	over, _ := json.Marshal(map[string]any{"over": map[string]string{"why": "bob is ill"}})
	s.add("take", "", "", string(over))
	if who, _ := b(); strings.Contains(who, "bob") {
		t.Errorf("taken back: %s", who)
	}
	s.add("handover", "", "", `{"to":"bob@example.org"}`)
	if who, _ := b(); strings.Contains(who, "bob") {
		t.Errorf("it did not come about: %s", who)
	}
}
