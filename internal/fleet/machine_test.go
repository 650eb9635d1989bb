package fleet_test

import (
	"strings"
	"testing"

	"cordon/internal/fleet"
	"cordon/internal/host/snapshot"
)

// A machine that is configured under two names is one place; two that only share a
// kernel, a name or an image are two, and so is one that does not say which it is.
func TestOneMachineUnderTwoNamesIsNoClone(t *testing.T) {
	for name, change := range map[string]func(*snapshot.Ident){
		"the same":               nil,
		"another boot":           func(i *snapshot.Ident) { i.BootID = "2" },
		"another machine id":     func(i *snapshot.Ident) { i.MachineID = "hmac:2222222222222222" },
		"another container":      func(i *snapshot.Ident) { i.Hostname = "c2" },
		"one that tells no id":   func(i *snapshot.Ident) { i.MachineID = "" },
		"one that tells no boot": func(i *snapshot.Ident) { i.BootID = "" },
		"one that tells no name": func(i *snapshot.Ident) { i.Hostname = "" },
		"one that tells nothing": func(i *snapshot.Ident) { *i = snapshot.Ident{} },
	} {
		in := input(runner("42"))
		a, b := host("build-07", idA, true, entryOf("42")), host("ci-7", idA, true, entryOf("42"))
		a.Ident = snapshot.Ident{BootID: "1", MachineID: "hmac:1111111111111111", Hostname: "b7"}
		b.Ident = a.Ident
		if change != nil {
			change(&b.Ident)
		}
		in.Snapshots = []*snapshot.Snapshot{b, a}
		r := fleet.Build(in).Rows[0]
		if (r.State == fleet.Clone) != (change != nil) {
			t.Errorf("%s: %s: %s", name, r.State, r.Why)
		}
		if said := strings.Contains(r.Known, "build-07 and ci-7 are names of one machine"); said != (change == nil) {
			t.Errorf("%s: known %q", name, r.Known)
		}
	}
	in := input(runner("42"))
	in.Snapshots = []*snapshot.Snapshot{host("build-07", idA, true, entryOf("42")), host("ci-7", idA, true, entryOf("42"))}
	if r := fleet.Build(in).Rows[0]; r.State != fleet.Clone {
		t.Errorf("two hosts that tell nothing: %s", r.State)
	}
}
