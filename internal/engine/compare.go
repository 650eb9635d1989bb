package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"cordon/internal/check"
	"cordon/internal/exposure"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/providers"
)

// sharedReads is how old, in real time, the search for a runner's jobs may be that what ran
// and what came out of it are told by, right after what it could reach.
const sharedReads = 5 * time.Minute

// compared holds the provider's jobs against what the hosts of the case tell, where they
// were read already; a host that is read later is compared then.
func (r *Run) compared(l exposure.List) exposure.List {
	for _, h := range r.o.Hosts {
		if snap, err := r.snapshot(h.ID); err == nil {
			l = r.comparedWith(l, h, snap)
		}
	}
	return l
}

// comparedWith compares with one host, unless it is another runner's: what that one ran
// is no difference.
func (r *Run) comparedWith(l exposure.List, host target.Ref, snap *snapshot.Snapshot) exposure.List {
	on := r.runnersOn(host)
	if len(on) == 0 && len(r.o.Runners) > 0 {
		return l
	}
	return l.Compared(exposure.HostJobsOf(snap, on...))
}

// differing is what a host and the provider tell differently, as the result of a check.
func differing(l exposure.List, host string) []check.Result {
	if res := l.On(host); len(res.Findings) > 0 {
		return []check.Result{res}
	}
	return nil
}

// runnersOn are the runners of the case that use a host.
func (r *Run) runnersOn(host target.Ref) []target.Ref {
	var out []target.Ref
	for _, rn := range r.o.Runners {
		if slices.Contains(r.hostsOf(rn), host) {
			out = append(out, rn)
		}
	}
	return out
}

// foretell says once what the search for a runner's jobs will cost, where its provider has
// to search for them, and Next comes back for the search itself: a person sees why it
// takes long, and can stop it, before it is paid for.
func (r *Run) foretell(ctx context.Context, t task, since time.Time) (p Prompt, first bool) {
	c, ok := r.provider(t.on).(providers.Coster)
	key := "cost of " + t.key()
	if !ok || r.looked[key] {
		return Prompt{}, false
	}
	r.looked[key] = true
	ctx, left := r.spend(ctx)
	defer left()
	cost, err := c.JobsCost(ctx, t.on, since)
	if err != nil {
		return Prompt{}, false // the search says so itself
	}
	return r.prompt(t, Progress, fmt.Sprintf("the search for its jobs takes about %d requests: %s", cost.Requests, cost.Why)), true
}
