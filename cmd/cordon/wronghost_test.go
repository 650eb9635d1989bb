package main

import (
	"strings"
	"testing"

	"cordon/internal/lab/fault"
)

// TestAWrongHostIsSaidBeforeAnythingOnItIsStopped names the host of another runner, and
// then none: neither the innocent host nor the registration is touched by a standing
// answer, and the right host is named where one may be it.
func TestAWrongHostIsSaidBeforeAnythingOnItIsStopped(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("left out by -short: two whole containments; .ci/run's whole pass makes them")
	}
	w := newWorld(t, "--scenario", githubScenario, "--fault", fault.OldListener)
	s := w.cordon("contain", w.ready.Runner, "--host", "gha-02", "--case", "W", "--yes", "--reason", "exercise")
	if s.code != 6 || !strings.Contains(s.err, `gha-02 holds the registration of runner 24 ("gha-02") and none of runner 23 ("gha-01"): is the host right?`) {
		t.Errorf("a wrong host ends with %d: %s%s", s.code, tail(s.out), s.err)
	}
	for _, never := range []string{"the provider lists a job here that the host has no trace of", "a job is in the host's files that its provider does not list"} {
		if strings.Contains(s.out, never) {
			t.Errorf("another runner's jobs are held against it: %s", never)
		}
	}
	s = w.cordon("contain", w.ready.Runner, "--case", "N", "--yes", "--reason", "exercise")
	if s.code != 6 || !strings.Contains(s.err, "--host gha-01") || !strings.Contains(s.err, "--option host=none") {
		t.Errorf("no host ends with %d: %s%s", s.code, tail(s.out), s.err)
	}
	all := every(t, w.ready.Ledger)
	if count(all, "host.stop", "") != 0 || count(all, "runner.delete", "") != 0 {
		t.Errorf("%d units stopped, %d registrations removed", count(all, "host.stop", ""), count(all, "runner.delete", ""))
	}
	other := strings.Replace(w.ready.Runner, "/23", "/24", 1)
	s = w.cordon("contain", other, w.ready.Runner, "--host", "gha-01", "--host", "25=gha-02", "--dry-run")
	if s.code != 2 {
		t.Errorf("a host for nobody ends with %d: %s", s.code, s.err)
	}
	s = w.cordon("contain", other, w.ready.Runner, "--host", "gha-01", "--host", "24=gha-02", "--dry-run")
	if s.code != 0 || !strings.Contains(s.out, "hosts: gha-02, gha-01") { // each behind its runner
		t.Errorf("%d: %.300s%s", s.code, s.out, s.err)
	}
}
