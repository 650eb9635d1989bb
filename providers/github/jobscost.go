package github

import (
	"context"
	"fmt"
	"time"

	"cordon/internal/target"
	"cordon/providers"
)

// sampled is how many repositories are counted for an estimate; the others are taken to
// be like them.
const sampled = 20

// JobsCost implements providers.Coster: one request counts the runs of a repository, and
// each run costs one more for its jobs. The time before the window costs its lists alone.
func (p *Provider) JobsCost(ctx context.Context, t target.Ref, since time.Time) (providers.Cost, error) {
	sc, id, err := p.placed(ctx, t)
	if err != nil {
		return providers.Cost{}, err
	}
	b := p.spend(ctx, sampled+10)
	c := providers.Cost{Left: -1}
	fail := func(err error) (providers.Cost, error) {
		return c, fmt.Errorf("estimate the search for jobs of %s: %w", t.Short(), err)
	}
	w, _, err := p.runnerOf(ctx, b, sc, id)
	if err != nil {
		return fail(err)
	}
	places, _, err := p.servedBy(ctx, b, sc, w)
	if err != nil && len(places) == 0 {
		return fail(err)
	}
	now := p.clock.Now()
	runs, before, n := 0, 0, 0
	for _, pl := range places[:min(len(places), sampled)] {
		in, err1 := countRuns(ctx, b, pl.repo, nil, ">="+since.UTC().Format(time.RFC3339))
		all := in
		if err1 == nil && n == 0 { // the margin is longer by a known factor
			all, err1 = countRuns(ctx, b, pl.repo, nil, ">="+since.Add(-again).UTC().Format(time.RFC3339))
		} else if days := now.Sub(since); days > 0 {
			all = int(float64(in) * float64(days+again) / float64(days))
		}
		if ends(ctx, err1) {
			c.AtLeast = true
			break
		}
		if err1 == nil {
			n, runs, before = n+1, runs+in, before+max(all-in, 0)
		}
	}
	c.Spent = b.used
	if n == 0 {
		return fail(fmt.Errorf("no repository's runs could be counted"))
	}
	scale := float64(len(places)) / float64(n)
	lists := 2*len(places) + int(scale*float64(runs+before)/100)
	c.Requests = lists + int(scale*float64(runs))
	c.AtLeast = c.AtLeast || n < len(places) || runs+before >= mostFiltered
	c.Left = p.limits.left("core")
	c.Why = fmt.Sprintf("%d repositories may use it; about %d runs since %s, each asked for its jobs; one search stops after %d requests and says what it left out",
		len(places), int(scale*float64(runs)), since.UTC().Format("2006-01-02"), providers.CallsFrom(ctx, jobCalls))
	return c, ctx.Err()
}

// left is how many calls of a resource mere looking may still make; -1: not told.
func (l *limits) left(resource string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, ok := l.by[resource]
	if !ok || !l.clock.Now().Before(k.until) {
		return -1
	}
	return max(k.Remaining-k.reserve(), 0)
}
