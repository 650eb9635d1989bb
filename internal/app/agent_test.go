package app

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"cordon/internal/fleet"
	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/providers"
)

// A runner that is made anew for each job comes back by itself, and one whose version has
// ended cannot be registered again: both change what is done about it.
func TestAListSaysOfARunnerThatItIsEphemeralAndThatItsVersionEnds(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	r := providers.Runner{Ref: target.Ref{System: "gh", Kind: target.Runner, ID: "5"}, Name: "five", Status: "online", Version: "2.330.0"}
	shown := func() string {
		var out bytes.Buffer
		Lines{W: &out}.Fleet(fleet.Fleet{At: now, Rows: []fleet.Row{{Runner: r, State: fleet.Agreed}}})
		return out.String() + "\n" + describe(r, now)
	}
	if s := shown(); strings.Contains(s, "ephemeral") || strings.Contains(s, "jobs") {
		t.Errorf("control: what is not told is not said: %s", s)
	}
	r.Ephemeral, r.VersionEnds = witness.Yes, now.Add(48*time.Hour)
	if s := shown(); strings.Count(s, "ephemeral") != 2 || strings.Count(s, "version 2.330.0 gets no jobs from 2026-12-02 on") != 2 {
		t.Errorf("%s", s)
	}
	r.Ephemeral, r.VersionEnds = witness.No, now.Add(-48*time.Hour)
	if s := shown(); strings.Contains(s, "ephemeral") || strings.Count(s, "version 2.330.0 gets no more jobs since 2026-11-28") != 2 {
		t.Errorf("%s", s)
	}
}
