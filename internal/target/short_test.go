package target

import "testing"

func TestTheShortFormOfAnInstallationIsItsHost(t *testing.T) {
	for want, r := range map[string]Ref{
		"build-07":     {System: SSH, Scope: Scope{Level: Host, Path: "build-07"}, Kind: Installation, ID: "act_runner-812"},
		"ssh/build-07": {System: SSH, Kind: Host, ID: "build-07"},
		"gl/42":        {System: "gl", Scope: Scope{Level: "project"}, Kind: Runner, ID: "42"},
	} {
		if got := r.Short(); got != want {
			t.Errorf("%s is %s in short, want %s", r, got, want)
		}
	}
}
