package watch

import (
	"testing"
	"time"

	"cordon/internal/target"
	"cordon/internal/witness"
)

func TestOneCallThatAProxySawStandsAgainstSilence(t *testing.T) {
	from := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	now := from.Add(66 * time.Minute)
	r := target.Ref{System: "gl", Kind: target.Runner, ID: "42"}
	h := target.Ref{System: target.SSH, Kind: target.Host, ID: "build-07"}
	quiet := []witness.Observation{
		{Subject: r, Source: witness.ProviderAPI, At: now, Exists: witness.No},
		{Subject: r, Source: witness.ProviderAPI, At: now, Returned: witness.No},
		{Subject: h, Source: witness.HostProcess, At: now, Exists: witness.No},
		{Subject: h, Source: witness.HostSocket, At: now, Polling: witness.No},
		{Subject: h, Source: witness.HostLog, At: from, Rejected: witness.Yes, LastContact: from},
		{Subject: h, Source: witness.HostLog, At: now, Rejected: witness.Yes, LastContact: from},
	}
	saw := func(o witness.Observation) witness.Observation {
		o.Subject, o.Source = h, witness.Egress
		if o.At.IsZero() {
			o.At = now
		}
		return o
	}
	call := from.Add(time.Hour)
	for name, c := range map[string]struct {
		o    witness.Observation
		want string
	}{
		"nothing seen":                {saw(witness.Observation{Polling: witness.No}), witness.Silent},
		"no log":                      {saw(witness.Observation{CouldNot: "the log begins later", LastContact: call}), witness.Silent},
		"answered":                    {saw(witness.Observation{Polling: witness.Yes, LastContact: call}), witness.Polling},
		"refused":                     {saw(witness.Observation{Rejected: witness.Yes, LastContact: call}), witness.Knocking},
		"through a tunnel":            {saw(witness.Observation{LastContact: call}), witness.Knocking},
		"before the watch":            {saw(witness.Observation{LastContact: from.Add(-time.Hour)}), witness.Silent},
		"of a look before the window": {saw(witness.Observation{At: from.Add(-time.Second), LastContact: call}), witness.Silent},
	} {
		v := Judge(Window{Runner: r, Hosts: []target.Ref{h}, From: from, Needs: 65 * time.Minute, Now: now, Passed: now.Sub(from)}, append(quiet[:len(quiet):len(quiet)], c.o))
		if v.State != c.want {
			t.Errorf("%s: %s (%s), missing %q", name, v.State, v.Why, v.Missing)
		}
	}
}
