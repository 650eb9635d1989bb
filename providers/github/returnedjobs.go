package github

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/providers"
)

// The search for jobs that began after the registration should be dead is made again at
// every look. These bound it, in requests: the last look, which a verdict rests on, goes to
// its end where that is possible; those before it are for an early alarm.
const (
	lateCalls = 60
	lateWhole = 1000
)

// jobs looks for what began since under its name or id, and says it; r.late is what stands
// against that it found all. A job under another
// registration's id and its name is its return; one under its own id and name means that it
// is not gone. Ids are counted in each scope anew: one whose name is not known to be its own
// means neither.
func (r *returning) jobs(ctx context.Context) string {
	if r.sc == (scope{}) {
		r.late = "jobs since were not looked for: in which scope it was is not known"
		return ""
	}
	most := lateWhole
	if r.look != providers.LookWhole {
		most = lateCalls
	}
	s, err := r.p.seek(ctx, r.gone, r.since, min(providers.CallsFrom(ctx, most), most), r.t.Names...)
	if err != nil {
		r.late = "jobs since could not be looked for: " + err.Error()
		return ""
	}
	others, came := "", false
	for _, h := range s.found {
		if !h.job.began().After(r.since) {
			continue
		}
		id := target.Ref{ID: strconv.FormatInt(h.job.RunnerID, 10)}
		what := fmt.Sprintf("job %d of %s ran on runner %d %q from %s", h.job.ID, r.p.text(h.repo), h.job.RunnerID, r.p.text(h.job.RunnerName), h.job.began().UTC().Format(time.RFC3339))
		switch {
		case h.byID:
			r.late = what + ", which has its number, and nothing tells that the name is its own"
		case h.byName && (wasThere(r.t.Known, id) || slices.Contains(r.undated, id.ID)):
			others = fmt.Sprintf(" (those of runner %d, which has its name and may have been there before, are not counted)", h.job.RunnerID)
		case h.byName && r.o.Returned != witness.Yes:
			came = true
			r.o.Returned, r.o.Says = witness.Yes, what+", another registration with its name"
			r.o.LastContact, r.o.Clock = h.job.began().UTC(), witness.ClockEvent
		case !h.byName && r.o.Polling != witness.Yes:
			r.o.Polling, r.o.LastContact, r.o.Clock = witness.Yes, h.job.began().UTC(), witness.ClockEvent
			return what + ", under its own registration"
		}
	}
	switch why := s.partial(); {
	case r.late != "" || came:
		return ""
	case s.undone > 0 || s.left():
		r.late = "no job of it since was found, but not all were looked at: " + why + others
		return ""
	case why != "":
		others += " (" + why + ")"
	}
	return "no job of it began since" + others
}
