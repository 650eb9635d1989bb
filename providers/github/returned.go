package github

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
	"cordon/providers"
)

// lateCalls bounds, in requests, the search for jobs that began after the registration
// should be dead: it is made again at every look.
const lateCalls = 60

// named compares as GitHub does: two names that differ in case alone are one.
func named(t providers.Traits, name string) bool {
	same := func(s string) bool { return s != "" && strings.EqualFold(s, name) }
	return slices.ContainsFunc(t.Names, same) || slices.ContainsFunc(t.Hosts, same)
}

// Returned implements providers.Returner: the same name, or the name of the machine itself,
// under another registration in any configured scope, and jobs that ran under such a name
// since. GitHub tells neither when a runner was registered nor from where. In its own
// scope, where names are unique, a runner with its name was registered after it was gone;
// elsewhere it may have been there before: what Namesakes kept of that decides, and where
// nothing was kept it cannot be told.
func (p *Provider) Returned(ctx context.Context, gone target.Ref, t providers.Traits, since time.Time) (witness.Observation, error) {
	sc, id, err := p.own(gone)
	if err != nil {
		return witness.Observation{}, err
	}
	if old, ok := p.memory.named(sc, id); ok && len(t.Names) == 0 {
		t.Names = append(t.Names, old.Name)
	}
	o := witness.Observation{Subject: gone, Source: witness.ProviderAPI, At: p.clock.Now()}
	if !slices.ContainsFunc(slices.Concat(t.Names, t.Hosts), func(s string) bool { return s != "" }) {
		o.CouldNot = "neither its name nor a host of it is known: it would not be recognised"
		return o, nil
	}
	r := returning{p: p, o: &o, gone: p.ref(sc, id), sc: sc, id: id, t: t, since: since}
	if sc == (scope{}) {
		r.gone = gone
	}
	err = p.Runners(ctx, func(page providers.Page) error {
		if page.Gap != nil {
			r.blind(page.Gap.Name + ": " + page.Gap.Why)
		}
		for _, x := range page.Runners {
			r.weigh(x)
		}
		return ctx.Err()
	})
	if ctx.Err() != nil {
		return o, ctx.Err()
	}
	if err != nil {
		r.blind("the runners of every scope could not be read: " + err.Error())
	}
	late := r.jobs(ctx)
	if ctx.Err() != nil {
		return o, ctx.Err()
	}
	r.end(late)
	return o, nil
}

type returning struct {
	p         *Provider
	o         *witness.Observation
	gone      target.Ref
	sc        scope
	id        int64
	t         providers.Traits
	since     time.Time
	n         int      // other registrations that were looked at
	alike     int      // of these, with the same custom labels
	unseen    []string // why not everything was seen
	elsewhere []string // the same name, and nothing says since when
	undated   []string // their ids
	left      int      // those that were there before
}

func (r *returning) blind(why string) {
	if len(r.unseen) < 3 {
		r.unseen = append(r.unseen, why)
	}
}

func (r *returning) weigh(x providers.Runner) {
	if x.Ref == r.gone || r.sc == (scope{}) && x.Ref.ID == r.gone.ID {
		return
	}
	r.n++
	if len(r.t.Labels) > 0 && sameLabels(x, r.t.Labels) {
		r.alike++
	}
	if !named(r.t, string(x.Name)) {
		return
	}
	if wasThere(r.t.Known, x.Ref) {
		r.left++
		return
	}
	what := fmt.Sprintf("runner %s of %s is called %s", x.Ref.ID, r.scopeOf(x), x.Name)
	why := ""
	switch {
	case r.only(x):
		why = "names are unique there, so it was registered after ours was gone"
	case wasLookedFor(r.t.Known, string(x.Name)):
		why = "it was not there when every list was read at " + r.t.Known.At.UTC().Format(time.RFC3339)
	default:
		r.undated = append(r.undated, x.Ref.ID)
		if len(r.elsewhere) < 5 {
			r.elsewhere = append(r.elsewhere, what)
		}
		return
	}
	if r.o.Returned != witness.Yes {
		r.o.Returned = witness.Yes
		r.o.Says = what + ": " + why + "; GitHub calls it " + untrusted.Clean(x.Status, 20)
	}
}

// only reports whether x has the name that was ours in our own scope, where it cannot have
// been another's at the same time. The name of a host can.
func (r *returning) only(x providers.Runner) bool {
	return x.Ref.Scope == r.gone.Scope && x.Ref.Scope != (target.Scope{}) &&
		slices.ContainsFunc(r.t.Names, func(s string) bool { return s != "" && strings.EqualFold(s, string(x.Name)) })
}

func (r *returning) scopeOf(x providers.Runner) string {
	return untrusted.Clean(strings.TrimSpace(x.Ref.Scope.Level+" "+x.Ref.Scope.Path), 140)
}

// sameLabels compares the labels that people give: those of GitHub's are everywhere.
func sameLabels(x providers.Runner, want []string) bool {
	for _, l := range want {
		if !slices.ContainsFunc(x.Labels, func(s untrusted.Text) bool { return strings.EqualFold(string(s), l) }) {
			return false
		}
	}
	return true
}

// jobs looks for what began since under its name or id. A job under another registration's
// id and its name is its return; one under its own id means that it is not gone.
func (r *returning) jobs(ctx context.Context) string {
	if r.sc == (scope{}) {
		return "jobs since were not looked for: in which scope it was is not known"
	}
	s, err := r.p.seek(ctx, r.gone, r.since, min(providers.CallsFrom(ctx, lateCalls), lateCalls))
	if err != nil {
		return "jobs since could not be looked for: " + err.Error()
	}
	others := ""
	for _, h := range s.found {
		if !h.job.began().After(r.since) {
			continue
		}
		id := target.Ref{ID: strconv.FormatInt(h.job.RunnerID, 10)}
		what := fmt.Sprintf("job %d of %s ran on runner %d %q from %s", h.job.ID, r.p.text(h.repo), h.job.RunnerID, r.p.text(h.job.RunnerName), h.job.began().UTC().Format(time.RFC3339))
		switch {
		case h.byName && (wasThere(r.t.Known, id) || slices.Contains(r.undated, id.ID)):
			others = fmt.Sprintf(" (those of runner %d, which has its name and may have been there before, are not counted)", h.job.RunnerID)
		case h.byName && r.o.Returned != witness.Yes:
			r.o.Returned, r.o.Says = witness.Yes, what+", another registration with its name"
			r.o.LastContact, r.o.Clock = h.job.began().UTC(), witness.ClockEvent
		case !h.byName && r.o.Polling != witness.Yes:
			r.o.Polling, r.o.LastContact, r.o.Clock = witness.Yes, h.job.began().UTC(), witness.ClockEvent
			return what + ", under its own registration"
		}
	}
	if why := s.partial(); why != "" {
		return "no job of it since was found, but not all were looked at: " + why + others
	}
	return "no job of it began since" + others
}

// end says what is known. What was seen stays seen whatever else could not be.
func (r *returning) end(late string) {
	o := r.o
	switch {
	case o.Returned == witness.Yes:
	case o.Polling == witness.Yes && len(r.elsewhere)+len(r.unseen) > 0:
		o.Says = "whether it came back under another registration is not known (" + strings.Join(append(r.elsewhere, r.unseen...), "; ") + ")"
	case len(r.elsewhere) > 0:
		o.CouldNot = strings.Join(r.elsewhere, ", ") + ": GitHub does not say since when, so whether it is the same machine has to be looked at"
	case len(r.unseen) > 0:
		o.CouldNot = "not every list of runners could be read: " + strings.Join(r.unseen, "; ")
	default:
		o.Returned = witness.No
		o.Says = fmt.Sprintf("none of %d other runners has its name or that of its host", r.n)
		if r.left > 0 {
			o.Says = fmt.Sprintf("none of %d other runners has its name or that of its host and came since; %d with such a name were there already at %s", r.n, r.left, r.t.Known.At.UTC().Format(time.RFC3339))
		}
		if r.alike > 0 {
			o.Says += fmt.Sprintf(" (%d have its custom labels, as others of a pool do)", r.alike)
		}
	}
	if o.CouldNot != "" {
		o.Says = o.CouldNot
	}
	o.Says = untrusted.Clean(o.Says+"; "+late, 600)
	if o.CouldNot != "" {
		o.CouldNot = o.Says
	}
}
