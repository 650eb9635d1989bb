package watch

import (
	"testing"
	"time"

	"cordon/internal/target"
	"cordon/internal/witness"
)

// An agent that goes on asking without being answered, by its own log, is not silent:
// it comes back with the network.
func TestAskingWithoutAnAnswerIsNotSilence(t *testing.T) {
	from := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	now := from.Add(16 * time.Minute)
	r := target.Ref{System: "gh", Kind: target.Runner, ID: "23"}
	h := target.Ref{System: target.SSH, Kind: target.Host, ID: "gha-01"}
	seen := func(first, last witness.Observation) []witness.Observation {
		first.Subject, first.Source, first.At = h, witness.HostLog, from
		last.Subject, last.Source, last.At = h, witness.HostLog, now
		return []witness.Observation{
			{Subject: r, Source: witness.ProviderAPI, At: now, Exists: witness.No},
			{Subject: r, Source: witness.ProviderAPI, At: now, Returned: witness.No},
			{Subject: h, Source: witness.HostProcess, At: now, Exists: witness.No},
			{Subject: h, Source: witness.HostSocket, At: now, Polling: witness.No},
			first, last,
		}
	}
	was := witness.Observation{LastContact: from.Add(-time.Minute)}
	for name, c := range map[string]struct {
		last witness.Observation
		want string
	}{
		"nothing more":            {was, witness.Silent},
		"asked, and no answer":    {witness.Observation{LastContact: now.Add(-time.Minute)}, witness.Knocking},
		"asked, and was refused":  {witness.Observation{LastContact: now.Add(-time.Minute), Rejected: witness.Yes}, witness.Knocking},
		"asked, and was answered": {witness.Observation{LastContact: now.Add(-time.Minute), Polling: witness.Yes}, witness.Polling},
	} {
		if v := Judge(Window{Runner: r, Hosts: []target.Ref{h}, From: from, Needs: 15 * time.Minute, Now: now, Passed: now.Sub(from)}, seen(was, c.last)); v.State != c.want {
			t.Errorf("%s: %s (%s), missing %q", name, v.State, v.Why, v.Missing)
		}
	}
}
