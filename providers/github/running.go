package github

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"cordon/providers"
)

// Bounds of the search for the jobs that are on a runner now, in requests. GitHub lists no
// jobs by runner: every repository that may use it is asked for its runs in progress, the
// latest pushed first, and each of those for its jobs. What a bound leaves out is said.
const (
	planCalls = 60 // somebody waits for it once
	fewCalls  = 20 // made again and again while a case is open
)

// onIt finds the jobs that are on a runner now, whatever the word busy says
// (actions/runner#4422). partial says why there may be more. It is of containment, and
// not held back at the reserve.
func (p *Provider) onIt(ctx context.Context, sc scope, w wireRunner, calls int) (jobs []hit, partial string, err error) {
	s := &search{p: p, b: p.few(calls), sc: sc, id: w.ID, w: &w, now: p.clock.Now(), history: map[string]*history{}}
	places, why, err := p.placesOf(ctx, s.b, sc, w)
	s.lack(why)
	if err != nil && len(places) == 0 {
		return nil, "", err
	}
	if err != nil {
		s.lack("not every repository could be listed: " + err.Error())
	}
	for i, pl := range places {
		err := s.running(ctx, pl.repo)
		if done := finished(ctx, err); done != nil {
			return nil, "", done
		}
		if ends(ctx, err) {
			s.stopped(err, len(places)-i, false)
			break
		}
		if err != nil {
			if len(places) == 1 {
				return nil, "", err
			}
			s.lack(pl.repo + ": " + err.Error())
		}
	}
	return s.newest(50), s.partial(), nil
}

// placesOf are the repositories whose jobs may be on a runner. In a group that serves nobody
// it may still have a job from before it came there: then it is the organization's latest
// pushed ones.
func (p *Provider) placesOf(ctx context.Context, b *bounded, sc scope, w wireRunner) ([]served, string, error) {
	if sc.level == organization && w.GroupID == nil {
		if g, _, err := p.groupOf(ctx, sc, w); err == nil {
			w.GroupID = &g.ID
		}
	}
	places, why, err := p.servedBy(ctx, b, sc, &w)
	if err != nil || len(places) > 0 || sc.level != organization {
		return places, why, err
	}
	c := collector{seen: map[string]bool{}, expect: -1}
	more := false
	q := url.Values{"type": {"all"}, "sort": {"pushed"}, "direction": {"desc"}}
	err = b.all(ctx, sc.prefix()+"/repos", q, 1, func(a answer) (bool, error) {
		l, err := decode[[]wireRepo](a)
		c.add(l)
		more = a.Next != 0
		return false, err
	})
	slices.SortStableFunc(c.list, func(x, y served) int { return y.PushedAt.Compare(x.PushedAt) })
	why = "its group serves nobody: which repository a job from before came from is not known"
	if more {
		why += fmt.Sprintf(", and only the %d latest pushed ones were looked through", len(c.list))
	}
	return c.list, why, err
}

// beside are the other jobs of a run that are not over: they end with it.
func (p *Provider) beside(ctx context.Context, h hit) ([]wireJob, error) {
	all, err := p.runJobs(ctx, p.few(5), h.repo, h.run)
	return slices.DeleteFunc(all, func(j wireJob) bool { return j.ID == h.job.ID || j.Status == completed }), err
}

// busy decides whether a job runs on it, and in which words. GitHub's own word is known to
// be wrong both ways; only a whole look at the jobs answers no.
func busy(w wireRunner, jobs []hit, partial string, err error) (says string, is, known bool) {
	switch {
	case len(jobs) > 0 && w.Busy != nil && !*w.Busy:
		return fmt.Sprintf("%d jobs on it, though GitHub's word is idle (actions/runner#4422)", len(jobs)), true, true
	case len(jobs) > 0:
		return fmt.Sprintf("%d jobs on it", len(jobs)), true, true
	case w.Busy != nil && *w.Busy:
		return "GitHub's word is busy, and no job on it can be seen (actions/runner#3775)", true, true
	case err != nil:
		return "jobs could not be read: " + err.Error(), false, false
	case partial != "":
		return "no job on it was found, and not all could be looked at (" + partial + ")", false, false
	}
	return "no job on it", false, true
}

var _ providers.System = (*Provider)(nil)
