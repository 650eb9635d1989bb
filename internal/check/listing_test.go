package check_test

import (
	"slices"
	"testing"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
)

// A check that does not say what it reads cannot be weighed before one logs in.
func TestEveryCheckSaysWhatItIs(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range check.List() {
		if l.ID == "" || seen[l.ID] || l.Title == "" || l.Why == "" || l.Reads == "" || l.Privilege == "" || len(l.Attack) == 0 || len(l.NIST) == 0 {
			t.Errorf("not whole, or a second one: %+v", l)
		}
		seen[l.ID] = true
		for _, s := range l.Sections {
			if !slices.Contains(snapshot.SectionsOf(snapshot.ProfileTriage), s) && s != "reread" && s != "host-key" {
				t.Errorf("%s needs section %q, which no read delivers", l.ID, s)
			}
		}
	}
}
