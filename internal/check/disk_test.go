package check_test

import (
	"slices"
	"strings"
	"testing"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
)

// onDisk is a clean host as a disk image shows it.
func onDisk() *snapshot.Snapshot {
	s := whole()
	s.Profile = snapshot.ProfileImage
	s.Processes, s.Sockets = nil, nil
	for _, name := range []string{snapshot.SectionProc, snapshot.SectionDetail, snapshot.SectionNet, snapshot.SectionCross, snapshot.SectionKernel} {
		end(s, name, snapshot.EndMissing, "disk image: nothing runs in it")
	}
	return s
}

// What lies on a disk is answered from it; what only runs is not asked, and is no failure.
func TestADiskIsAnsweredByWhatLiesOnIt(t *testing.T) {
	live := []string{"orphans", "connections", "processes", "worker-memory", "hidden-processes", "kernel", "cloud-metadata", "destinations"}
	for _, r := range check.Run(onDisk()) {
		switch {
		case slices.Contains(live, r.Check):
			if r.State != check.Unasked || !strings.Contains(r.Why, "disk image") {
				t.Errorf("%s says %q (%s)", r.Check, r.State, r.Why)
			}
		case r.Check == "host-key" || r.Check == "reread": // of a login
		case r.State == check.Blind || r.State == check.Unasked || r.Why != "":
			t.Errorf("%s says %q (%s)", r.Check, r.State, r.Why)
		}
	}
	s := onDisk()
	end(s, snapshot.SectionContainers, snapshot.EndDenied, "no rights")
	end(s, snapshot.SectionRunners, snapshot.EndMissing, "disk image: nothing runs in it")
	for _, id := range []string{"containers", "job-hooks", "runner-files"} {
		if r := resultOf(t, s, id); r.Why == "" || r.State == check.Nothing {
			t.Errorf("%s with a closed place says %q", id, r.State)
		}
	}
	s = whole() // a machine that runs, and says that it has no processes
	end(s, snapshot.SectionProc, snapshot.EndMissing, "disk image: nothing runs in it")
	if r := resultOf(t, s, "installations"); r.Why == "" {
		t.Errorf("a machine that plays a disk: %q", r.State)
	}
}
