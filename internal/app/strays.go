package app

import (
	"cmp"
	"fmt"
	"slices"

	"cordon/internal/engine"
	"cordon/internal/fleet"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/providers"
)

// strays are the runners on a host that was just read which are neither the case's nor
// in a list of ours: planted ones, by all that is known. It asks nobody: what was listed
// last and the configuration decide.
func (a *App) strays(s *snapshot.Snapshot, ours []target.Ref) []engine.Stray {
	l := a.blankListing()
	in := l.input()
	in.Snapshots = []*snapshot.Snapshot{s}
	for _, ref := range ours { // the case knows its runners, whatever was listed
		if !slices.ContainsFunc(in.Runners, func(r providers.Runner) bool { return r.Ref == ref }) {
			in.Runners = append(in.Runners, providers.Runner{Ref: ref})
		}
	}
	var out []engine.Stray
	for _, row := range fleet.Build(in).Rows {
		if !row.Runner.Ref.IsZero() || row.State != fleet.NotOurs && row.State != fleet.Rogue {
			continue
		}
		x := row.Installations[0]
		out = append(out, engine.Stray{
			Host: x.Host, Root: untrusted.Clean(string(x.Root), 200), State: row.State, Why: row.Why, Runs: len(x.PIDs) > 0, PIDs: x.PIDs,
			What: untrusted.Clean(fmt.Sprintf("%s %q at %s, registered to %s", x.Kind, x.Name, x.Root, cmp.Or(string(x.URL), "a place that it does not name")), 300),
		})
	}
	return out
}
