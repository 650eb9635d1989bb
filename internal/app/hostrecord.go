package app

import (
	"slices"
	"time"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
)

// HostRecord is what is configured of a host and what its last whole read said; where
// none is whole, the last. Nobody is asked. Read is false where no case of this machine has
// a read of it.
type HostRecord struct {
	Name       string
	Configured bool
	Address    string // HOST:PORT, as configured
	User, Unit string
	Read       bool
	Taken      time.Time
	Report     HostReport
	Failed     *FailedRead // the newest that failed, if it is newer than Taken
}

// FailedRead is a read of a host that brought nothing, or not all.
type FailedRead struct {
	At        time.Time
	Why, Case string
}

// failedRead is one in a case.
type failedRead struct {
	host string
	FailedRead
}

// HostRecord reads the cases. A host that is not configured may have been once.
func (a *App) HostRecord(name string) (HostRecord, error) {
	r := HostRecord{Name: name}
	if h, ok := a.cfg.Hosts[name]; ok {
		r.Configured, r.Address, r.User, r.Unit = true, h.Address, h.User, h.Unit
	}
	cases, err := a.kept()
	if err != nil {
		return r, err
	}
	newest, in := newestRead(cases, name)
	r.Failed = newestFailed(cases, name, newest, in)
	if newest == nil {
		return r, nil
	}
	r.Read, r.Taken = true, newest.Taken
	r.Report.Schema, r.Report.Simulated, r.Report.Host, r.Report.Case = "cordon.host/1", a.Simulated(), name, in
	r.Report.Complete, r.Report.Ident, r.Report.Gaps = newest.Complete, newest.Ident, slices.Clone(newest.Gaps)
	r.Report.Results, r.Report.Installations = check.RunWith(newest, a.checks()), check.Installations(newest)
	return r, nil
}

// newestRead is the newest whole read of a host, else the newest, and the case it is in.
// One that was cut off says less than the whole one before it.
func newestRead(cases []keptCase, name string) (newest *snapshot.Snapshot, in string) {
	for _, k := range cases {
		for _, s := range k.snaps {
			switch {
			case s.Host != name, newest != nil && newest.Complete && !s.Complete:
			case newest == nil, s.Complete && !newest.Complete, s.Taken.After(newest.Taken):
				newest, in = s, k.sum.ID
			}
		}
	}
	return newest, in
}

// newestFailed is the newest read that failed after the one that is shown, nil for none.
// What is missing from the one that is shown is no other read.
func newestFailed(cases []keptCase, name string, shown *snapshot.Snapshot, in string) *FailedRead {
	var last *FailedRead
	consider := func(f FailedRead) {
		if shown != nil && (!f.At.After(shown.Taken) || f.Case == in && !shown.Complete) {
			return
		}
		if last == nil || f.At.After(last.At) {
			last = &f
		}
	}
	for _, k := range cases {
		for _, f := range k.failed {
			if f.host == name {
				consider(f.FailedRead)
			}
		}
		for _, s := range k.snaps {
			if s.Host == name && !s.Complete {
				consider(FailedRead{s.Taken, "its answer was not read to the end", k.sum.ID})
			}
		}
	}
	return last
}
