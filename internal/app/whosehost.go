package app

import (
	"slices"
	"strings"

	"cordon/internal/fleet"
	"cordon/internal/host/snapshot"
	"cordon/providers"
)

// notOf is why a host that was just read is not a runner's. It asks nobody.
func (a *App) notOf(s *snapshot.Snapshot, r providers.Runner, ms []providers.Manager) string {
	in := a.blankListing().input()
	if ms == nil {
		ms = in.Managers[r.Ref]
	}
	if r.Name == "" { // not read in this case
		if i := slices.IndexFunc(in.Runners, func(x providers.Runner) bool { return x.Ref == r.Ref }); i >= 0 {
			r = in.Runners[i]
		}
	}
	return fleet.NotOf(in, r, ms, s)
}

// likeHosts are the configured hosts that may be a runner's: those that were seen to hold
// its registration, and the one that has its name. It asks nobody.
func (a *App) likeHosts(r providers.Runner) []string {
	var out []string
	if f, err := a.KnownFleet(); err == nil {
		for _, row := range f.Rows {
			for _, in := range row.Installations {
				if row.Runner.Ref == r.Ref && a.KnowsHost(in.Host) == nil {
					out = append(out, in.Host)
				}
			}
			if row.Runner.Ref == r.Ref && r.Name == "" {
				r.Name = row.Runner.Name
			}
		}
	}
	for name := range a.cfg.Hosts {
		if strings.EqualFold(name, string(r.Name)) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
