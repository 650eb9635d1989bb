package exposure

import (
	"slices"

	"cordon/internal/check"
	"cordon/internal/evidence"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/providers"
)

// join keeps what an older list had of jobs, of what came out and of differences.
func (l *List) join(old List) {
	l.Jobs, l.Outputs = slices.Clone(l.Jobs), slices.Clone(l.Outputs)
	for _, j := range old.Jobs {
		if !slices.ContainsFunc(l.Jobs, func(x providers.Job) bool { return x.Ref == j.Ref }) {
			l.Jobs = append(l.Jobs, j)
		}
	}
	if l.JobsPartial == "" && len(l.Jobs) == 0 {
		l.JobsPartial = old.JobsPartial
	}
	for _, p := range old.Outputs {
		if !slices.ContainsFunc(l.Outputs, func(x providers.Publication) bool { return x.Kind == p.Kind && x.Name == p.Name && x.Where == p.Where }) {
			l.Outputs = append(l.Outputs, p)
		}
	}
	slices.SortStableFunc(l.Outputs, func(x, y providers.Publication) int { return y.At.Compare(x.At) })
	l.OutputGaps = slices.Clone(l.OutputGaps)
	for _, g := range old.OutputGaps {
		if !slices.ContainsFunc(l.OutputGaps, func(x evidence.Gap) bool { return x.Name == g.Name }) {
			l.OutputGaps = append(l.OutputGaps, g)
		}
	}
	for _, d := range old.Differences {
		if !slices.ContainsFunc(l.Differences, func(x Difference) bool { return x.Host == d.Host }) {
			l.Differences = append(l.Differences, d)
		}
	}
}

// Compared returns the list with the differences between the provider's jobs and what one
// host's files tell, in place of those that an earlier look at it gave.
func (l List) Compared(h HostJobs) List {
	n := l
	n.Differences = slices.DeleteFunc(slices.Clone(l.Differences), func(d Difference) bool { return d.Host == h.Host })
	for _, f := range CompareJobs(l.Jobs, l.JobsPartial, h, l.Window) {
		n.Differences = append(n.Differences, Difference{h.Host, f})
	}
	return n
}

// HostJobsOf are the jobs that a snapshot tells of some runners: of the installations that
// have their numbers, and where none has one, of those that name no other's.
func HostJobsOf(s *snapshot.Snapshot, runners ...target.Ref) HostJobs {
	h := HostJobs{Host: s.Host, Complete: s.Complete, Taken: s.Taken}
	roots, others := map[string]bool{}, map[string]bool{}
	for _, in := range check.Installations(s) {
		if in.Kind != check.GitHub {
			continue
		}
		switch {
		case slices.ContainsFunc(runners, func(r target.Ref) bool { return r.ID == string(in.RunnerID) }):
			roots[string(in.Root)], h.Keeps = true, true
		case in.RunnerID != "":
			others[string(in.Root)] = true
		default:
			h.Keeps = true
		}
	}
	for _, j := range s.Jobs {
		if root := string(j.Root); len(roots) > 0 && !roots[root] || len(roots) == 0 && others[root] {
			continue
		}
		if s.Offset.Known && !j.Started.IsZero() {
			j.Started = j.Started.Add(-s.Offset.Value) // to our clock, which the provider's is near
		}
		h.Jobs = append(h.Jobs, j)
	}
	return h
}

// On is what differs on one host, as the result of a check.
func (l List) On(host string) check.Result {
	res := check.Result{Check: JobsCompared, Title: "jobs by the provider and by the host", State: check.Found}
	for _, d := range l.Differences {
		if d.Host == host {
			res.Findings = append(res.Findings, d.Finding)
		}
	}
	return res
}
