package fleet

import (
	"maps"
	"slices"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
)

// HostReads are the reads of one host that say which installations it has. A read that
// broke off must not erase what an older one saw.
type HostReads struct {
	Host string
	Told *snapshot.Snapshot // the newest whose list of installations was read to its end; nil: none was
	Last *snapshot.Snapshot // the newest of all; Told itself where that is the newest
}

// ReadsOf sorts snapshots of any age by host.
func ReadsOf(snaps []*snapshot.Snapshot) []HostReads {
	by := map[string]HostReads{}
	for _, s := range snaps {
		if s == nil {
			continue
		}
		r := by[s.Host]
		r.Host = s.Host
		if r.Last == nil || s.Taken.After(r.Last.Taken) {
			r.Last = s
		}
		if s.Section(snapshot.SectionRunners).End == snapshot.EndOK && (r.Told == nil || s.Taken.After(r.Told.Taken)) {
			r.Told = s
		}
		by[s.Host] = r
	}
	out := make([]HostReads, 0, len(by))
	for _, h := range slices.Sorted(maps.Keys(by)) {
		out = append(out, by[h])
	}
	return out
}

// Best is the read to go by: Told, or Last where there is none.
func (r HostReads) Best() *snapshot.Snapshot {
	if r.Told != nil {
		return r.Told
	}
	return r.Last
}

// Installations are those of the read to go by, and what a newer one that broke off saw
// beside them.
func (r HostReads) Installations() []check.Installation {
	out := check.Installations(r.Best())
	if r.Last == r.Best() {
		return out
	}
	for _, in := range check.Installations(r.Last) {
		if !slices.ContainsFunc(out, func(x check.Installation) bool {
			return x.Kind == in.Kind && x.Root == in.Root && (x.RunnerID == in.RunnerID || in.RunnerID == "")
		}) {
			out = append(out, in)
		}
	}
	return out
}
