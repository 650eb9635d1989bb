package main

import (
	"slices"
	"strings"
	"testing"

	"cordon/internal/lab/ledger"
)

// containing is what containing the planted runner has to change in the lab, whatever
// happens on the way. A job that ended by itself needs no cancelling.
var containing = []string{
	"runner.pause runner/42", "runner.reset runner/42",
	"host.disable host/build-07/gitlab-runner.service", "host.stop host/build-07/gitlab-runner.service",
	"runner.delete runner/42",
}

// everyEffectOnce judges by the lab's own ledger: nothing happened twice, nothing
// happened that was not planned, and all that is needed did happen.
func everyEffectOnce(t testing.TB, all []ledger.Entry, needed ...string) {
	t.Helper()
	count := map[string]int{}
	for _, e := range all {
		count[e.Effect+" "+e.Target]++
	}
	for what, n := range count {
		if n > 1 {
			t.Errorf("%s happened %d times", what, n)
		}
		if !slices.Contains(containing, what) && !strings.HasPrefix(what, "job.cancel ") {
			t.Errorf("%s was not to happen", what)
		}
	}
	for _, what := range needed {
		if count[what] == 0 {
			t.Errorf("%s did not happen", what)
		}
	}
}
