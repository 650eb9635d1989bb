package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"
)

// mostFiltered is how many results GitHub gives of a search that filters, whatever its
// total_count says (docs: actions/workflow-runs, list workflow runs for a repository).
const mostFiltered = 1000

// errDense is a second with more runs than GitHub lists.
var errDense = errors.New("more than 1,000 runs in one second: GitHub lists no more of them")

// runsBetween hands every run of a repository that was created in [from, until] to each,
// the newest slice of time first. A slice with more runs than GitHub lists is halved. A
// run may be handed over twice where the list moved while it was read.
func runsBetween(ctx context.Context, b *bounded, repo string, q url.Values, from, until time.Time, each func(wireRun)) error {
	from, until = from.UTC().Truncate(time.Second), until.UTC().Truncate(time.Second)
	if until.Before(from) {
		return nil
	}
	path := repoPath(repo) + "/actions/runs"
	ask := url.Values{"created": {from.Format(time.RFC3339) + ".." + until.Format(time.RFC3339)}, "exclude_pull_requests": {"true"}}
	for k, v := range q {
		ask[k] = v
	}
	n, total, halve := 0, 0, false
	err := b.all(ctx, path, ask, mostFiltered/100+1, func(a answer) (bool, error) {
		l, err := runRows(a)
		if err != nil {
			return false, err
		}
		total = *l.Total
		if total >= mostFiltered && until.After(from) { // at exactly 1,000 there may be more
			halve = true
			return false, nil
		}
		for _, r := range l.Runs {
			each(r)
		}
		n += len(l.Runs)
		return n < mostFiltered, nil
	})
	if err != nil {
		return err
	}
	if !halve {
		switch {
		case total > n && total >= mostFiltered:
			return fmt.Errorf("%s, %s: %w", repo, from.Format(time.RFC3339), errDense)
		case total != n: // a list that moves may lose one; what is missing is said
			return fmt.Errorf("GitHub counts %d runs of %s and listed %d", total, repo, n)
		}
		return nil
	}
	mid := from.Add(until.Sub(from) / 2).Truncate(time.Second)
	err = runsBetween(ctx, b, repo, q, mid.Add(time.Second), until, each)
	if ends(ctx, err) {
		return err
	}
	return errors.Join(err, runsBetween(ctx, b, repo, q, from, mid, each))
}

// countRuns is how many runs there are in a slice of time: one request.
func countRuns(ctx context.Context, s service, repo string, q url.Values, created string) (int, error) {
	ask := url.Values{"created": {created}, "exclude_pull_requests": {"true"}, "per_page": {"1"}}
	for k, v := range q {
		ask[k] = v
	}
	a, err := s.get(ctx, repoPath(repo)+"/actions/runs", ask)
	if err != nil {
		return 0, err
	}
	l, err := runRows(a)
	if err != nil {
		return 0, err
	}
	return *l.Total, nil
}

// runJobs reads the jobs of all attempts of a run: the latest alone would hide what an
// earlier attempt did.
func (p *Provider) runJobs(ctx context.Context, b *bounded, repo string, r wireRun) ([]wireJob, error) {
	if jobs, ok := p.memory.recall(r); ok {
		return jobs, nil
	}
	var out []wireJob
	seen := map[int64]bool{}
	total := 0
	err := b.all(ctx, fmt.Sprintf("%s/actions/runs/%d/jobs", repoPath(repo), r.ID), url.Values{"filter": {"all"}}, 50, func(a answer) (bool, error) {
		l, err := jobRows(a, r.ID)
		if err != nil {
			return false, err
		}
		total = *l.Total
		for _, j := range l.Jobs {
			if !seen[j.ID] {
				seen[j.ID] = true
				out = append(out, j)
			}
		}
		return true, nil
	})
	if err == nil && total != len(out) {
		err = fmt.Errorf("GitHub counts %d jobs of run %d and listed %d", total, r.ID, len(out))
	}
	if err == nil {
		p.memory.keep(r, out)
	}
	return out, err
}
