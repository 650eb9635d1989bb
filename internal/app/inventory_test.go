package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cordon/internal/fleet"
)

func ids(f fleet.Fleet) string {
	var out []string
	for _, r := range f.Rows {
		out = append(out, r.Runner.Ref.ID)
	}
	return strings.Join(out, " ")
}

func TestWhatWasListedIsKnownToTheNextProcessWithItsAge(t *testing.T) {
	w := newWorld(t)
	if _, err := w.open().ListFleet(t.Context(), FleetOptions{Managers: true}); err != nil {
		t.Fatal(err)
	}
	w.sent()
	f, err := w.open().KnownFleet()
	if err != nil || ids(f) != "42 43" {
		t.Fatalf("%s, %v", ids(f), err)
	}
	if n := w.sent(); len(n) != 0 {
		t.Errorf("what is known was asked for: %q", n)
	}
	row := f.Rows[0]
	if !row.SeenAt["provider"].Before(f.At) || row.SeenAt["managers"].IsZero() || !slices.Equal(row.Hosts, []string{"build-07"}) {
		t.Errorf("%+v", row)
	}
	st, err := os.Stat(filepath.Join(w.state, "inventory.json"))
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
	left, _ := filepath.Glob(filepath.Join(w.state, ".inventory-*"))
	if len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestAReadOnlyProcessWritesNothing(t *testing.T) {
	w := newWorld(t)
	a := w.open(readOnly)
	if _, err := a.Fleet(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.triage(a, "build-07")
	if _, err := os.Stat(w.state); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the state directory is there: %v", err)
	}
	w.srv.Close()
	if f := fact(t, w.triage(a, "build-07"), "identity"); !strings.HasPrefix(f.Known, "last known ") {
		t.Errorf("it remembers nothing while it runs: %+v", f)
	}
}

func TestAScopeThatFailsKeepsItsRunnersAsTheyWereKnown(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	if _, err := a.Fleet(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.change(func() { w.fail["runners/all"] = 403 })
	f, err := a.Fleet(t.Context())
	if err != nil || ids(f) != "42 43" || len(f.Gaps) != 1 || !strings.HasPrefix(f.Gaps[0].Name, "gl/") {
		t.Fatalf("%s, gaps %+v, %v", ids(f), f.Gaps, err)
	}
	if !f.Rows[0].SeenAt["provider"].Before(f.At) {
		t.Error("a row that was not listed now looks as if it had been")
	}
	var out strings.Builder
	Lines{W: &out}.Fleet(f)
	if !strings.Contains(out.String(), "NOT LISTED NOW, as of") || !strings.Contains(out.String(), "NOT LISTED  gl/") {
		t.Errorf("%s", out.String())
	}
	w.change(func() { delete(w.fail, "runners/all"); w.runners = w.runners[1:] })
	if f, err = a.Fleet(t.Context()); err != nil || ids(f) != "43" {
		t.Errorf("a whole list lacks 42, and the fleet is %s (%v)", ids(f), err)
	}
}

func TestAnInventoryThatIsNotOursIsNotUsed(t *testing.T) {
	for name, text := range map[string]string{
		"rubbish":       "{",
		"another form":  `{"schema":"cordon.inventory/9","systems":{}}`,
		"another place": `{"schema":"cordon.inventory/1","systems":{"gl":{"url":"https://elsewhere.invalid","runners":[{"runner":{"ref":"gl/runner/9","name":"x"}}]}}}`,
		"a lab's":       `{"schema":"cordon.inventory/1","simulated":true,"systems":{}}`,
		"null":          `null`,
	} {
		w := newWorld(t)
		a := w.open()
		if err := os.WriteFile(a.inventoryPath(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if f, err := a.KnownFleet(); err != nil || len(f.Rows) != 0 {
			t.Errorf("%s: %s, %v", name, ids(f), err)
		}
		if f, err := a.Fleet(t.Context()); err != nil || ids(f) != "42 43" {
			t.Errorf("%s: %s, %v", name, ids(f), err)
		}
	}
}

func TestTwoProcessesDoNotForgetForEachOther(t *testing.T) {
	w := newWorld(t)
	a, b := w.open(), w.open()
	for _, x := range []*App{a, b} { // both have read what is there: nothing
		if f, err := x.KnownFleet(); err != nil || len(f.Rows) != 0 {
			t.Fatalf("%s, %v", ids(f), err)
		}
	}
	w.triage(a, "gl/42")
	w.triage(b, "gl/43")
	f, err := w.open().KnownFleet()
	if err != nil || ids(f) != "42 43" {
		t.Errorf("%s, %v", ids(f), err)
	}
}

func TestAListComesInPartsWithWhatWasKnownFirst(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	if _, err := a.Fleet(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.change(func() { w.runners = append(w.runners, w.runner(44, "new")) })
	var parts []string
	f, err := a.ListFleet(t.Context(), FleetOptions{Partly: func(f fleet.Fleet) { parts = append(parts, ids(f)) }})
	if err != nil || ids(f) != "42 43 44" || len(parts) == 0 || parts[0] != "42 43" {
		t.Errorf("parts %q, then %s (%v)", parts, ids(f), err)
	}
}

func TestAFullDiskDoesNotStopAListing(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	if err := os.Mkdir(a.inventoryPath(), 0o700); err != nil { // rename onto it fails
		t.Fatal(err)
	}
	f, err := a.Fleet(t.Context())
	if err != nil || ids(f) != "42 43" || len(f.Gaps) != 1 || !strings.Contains(f.Gaps[0].Why, "inventory") {
		t.Errorf("%s, %+v, %v", ids(f), f.Gaps, err)
	}
	s, err := a.NewCase(t.Context(), "gl/42", CaseSpec{})
	if err != nil {
		t.Fatalf("a containment was stopped by the inventory: %v", err)
	}
	defer s.Close()
	if !strings.Contains(s.How(), "inventory") {
		t.Errorf("nothing says so: %q", s.How())
	}
}
