package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"cordon/providers"
)

// Bounds of the search for the jobs that are on a runner now, in requests. GitHub lists no
// jobs by runner: every repository that may use it is asked for its runs in progress, the
// latest pushed first, and each of those for its jobs. What a bound leaves out is said.
const (
	planCalls = 60 // somebody waits for it once
	fewCalls  = 20 // made again and again while a case is open
)

// onNow is what was found of the jobs on a runner.
type onNow struct {
	jobs    []hit
	apart   []string // jobs on other runners with its name: not its own
	partial string   // why there may be more
	whole   bool     // all that this credential can see was looked at, whatever partial says
	failed  error    // a read that did not tell what it might have told: then no job found is no word for it
}

// failed reports whether err is a read that may tell something when it is made again: an
// outage, a limit, an answer that is none. What a credential may not see is said and is no
// such error, and neither is the bound that a search sets itself.
func failed(err error) bool {
	if errors.Is(err, errBound) {
		return false
	}
	for _, lasting := range []error{providers.ErrForbidden, providers.ErrNotFound, providers.ErrConflict} {
		if errors.Is(err, lasting) {
			return false
		}
	}
	return err != nil
}

// onIt finds the jobs that are on a runner now, whatever the word busy says
// (actions/runner#4422). Both the id and the name have to be the runner's: neither alone is
// unique, and what is found may be cancelled. It is of containment, and not held back at the reserve.
func (p *Provider) onIt(ctx context.Context, sc scope, w wireRunner, calls int) (onNow, error) {
	s := &search{p: p, b: p.few(calls), sc: sc, id: w.ID, w: &w, now: p.clock.Now(), exact: true, history: map[string]*history{}}
	places, why, err := p.placesOf(ctx, s.b, sc, w)
	s.lack(why)
	if err != nil && len(places) == 0 {
		return onNow{}, err
	}
	var unread error
	miss := func(err error) {
		if unread == nil && failed(err) {
			unread = err
		}
	}
	if err != nil {
		s.lack("not every repository could be listed: " + err.Error())
		miss(err)
	}
	for i, pl := range places {
		err := s.running(ctx, pl.repo)
		miss(err)
		if done := finished(ctx, err); done != nil {
			return onNow{}, done
		}
		if ends(ctx, err) {
			s.stopped(err, len(places)-i, false)
			break
		}
		if err != nil {
			if len(places) == 1 {
				return onNow{}, err
			}
			s.lack(pl.repo + ": " + err.Error())
		}
	}
	left := s.left()
	return onNow{s.newest(50), s.apart, s.partial(), !left, unread}, nil
}

// left reports whether something that this credential can see was not looked at.
func (s *search) left() bool {
	return slices.ContainsFunc(s.lacks, func(l string) bool {
		return slices.ContainsFunc(strings.Split(l, "; "), func(part string) bool {
			return !strings.HasSuffix(part, onlySeen) && !strings.HasSuffix(part, wider) && !strings.HasPrefix(part, servesNobody)
		})
	})
}

// placesOf are the repositories whose jobs may be on a runner, from few requests: those that
// its group selects, else the organization's latest pushed ones. In a group that serves
// nobody it may still have a job from before it came there.
func (p *Provider) placesOf(ctx context.Context, b *bounded, sc scope, w wireRunner) ([]served, string, error) {
	if sc.level != organization {
		return p.servedBy(ctx, b, sc, &w)
	}
	at, caveat, more := sc.prefix()+"/repos", "", false
	q := url.Values{"type": {"all"}, "sort": {"pushed"}, "direction": {"desc"}}
	c := collector{seen: map[string]bool{}, expect: -1}
	if g, _, err := p.groupOf(ctx, sc, w); err == nil && g.Visibility == "selected" {
		path, _ := sc.served(g.ID)
		pages := 0
		err := b.all(ctx, path, nil, 3, func(a answer) (bool, error) {
			l, err := decode[wireGroupRepos](a)
			if err != nil || l.Total == nil || l.Repos == nil {
				return false, cmpErr(err, malformed(a, "a list of repositories without repositories or total_count"))
			}
			c.expect = *l.Total
			c.add(l.Repos)
			pages++
			return pages < 3, nil
		})
		if err != nil || len(c.list)+c.odd > 0 {
			return lastPushed(c), strings.Join(c.lacks(), "; "), err
		}
		if was, ok := p.memory.home(sc, w); ok {
			return p.placesOf(ctx, b, sc, was)
		}
		c, caveat = collector{seen: map[string]bool{}, expect: -1}, servesNobody
	} else if err != nil {
		caveat = "the runner's group is not known, so "
	}
	err := b.all(ctx, at, q, 1, func(a answer) (bool, error) {
		l, err := decode[[]wireRepo](a)
		c.add(l)
		more = a.Next != 0
		return false, err
	})
	switch {
	case more:
		caveat = fmt.Sprintf("only the %d latest pushed repositories of %s were looked through", len(c.list), sc.path)
	case caveat != "":
		caveat += "all repositories of " + sc.path + " were looked at " + onlySeen
	default:
		caveat = "GitHub lists only repositories of " + sc.path + " " + onlySeen
	}
	return lastPushed(c), caveat, err
}

// lastPushed are the repositories of c, the latest pushed first.
func lastPushed(c collector) []served {
	slices.SortStableFunc(c.list, func(x, y served) int { return y.PushedAt.Compare(x.PushedAt) })
	return c.list
}

// beside are the other jobs of a run that are not over: they end with it.
func (p *Provider) beside(ctx context.Context, h hit) ([]wireJob, error) {
	all, err := p.runJobs(ctx, p.few(5), h.repo, h.run)
	return slices.DeleteFunc(all, func(j wireJob) bool { return j.ID == h.job.ID || j.Status == completed }), err
}

// busy decides whether a job runs on it, and in which words. GitHub's own word is known to
// be wrong both ways: it answers no only together with a look at all the jobs that this
// credential can see. Where a read failed, that is said and no reason is guessed.
func busy(w wireRunner, on onNow, err error) (says string, is, known bool) {
	idle := w.Busy != nil && !*w.Busy
	if err == nil {
		err = on.failed
	}
	switch n := len(on.jobs); {
	case n > 0 && idle:
		return fmt.Sprintf("%d jobs on it, though GitHub's word is idle (actions/runner#4422)", n), true, true
	case n > 0:
		return fmt.Sprintf("%d jobs on it", n), true, true
	case w.Busy != nil && *w.Busy && err != nil:
		return "GitHub's word is busy, and its jobs could not be read: " + err.Error(), true, true
	case w.Busy != nil && *w.Busy && !on.whole:
		return "GitHub's word is busy, and no job on it was found; not all could be looked at (" + on.partial + ")", true, true
	case w.Busy != nil && *w.Busy:
		return "GitHub's word is busy, and no job on it can be seen (actions/runner#3775)", true, true
	case err != nil:
		return "jobs could not be read: " + err.Error(), false, false
	case !on.whole:
		return "no job on it was found, and not all could be looked at (" + on.partial + ")", false, false
	case !idle:
		return "no job on it was found, and GitHub does not say whether it is busy", false, false
	}
	return "no job on it " + onlySeen, false, true
}
