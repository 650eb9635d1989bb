package github

import (
	"context"
	"fmt"
	"net/url"

	"cordon/internal/target"
	"cordon/providers"
)

// RunningJobs implements providers.Running. What GitHub calls idle is not searched: that is
// ErrNotSearched and no empty list, since it can be wrong about it (actions/runner#4422).
// Jobs of another registration with its name are marked as such.
func (p *Provider) RunningJobs(ctx context.Context, t target.Ref) ([]providers.Job, string, error) {
	sc, id, err := p.placed(ctx, t)
	if err != nil {
		return nil, "", err
	}
	s := &search{p: p, b: p.spend(ctx, runningCalls), sc: sc, id: id, now: p.clock.Now(), history: map[string]*history{}}
	w, why, err := p.runnerOf(ctx, s.b, sc, id)
	if err != nil {
		return nil, "", fmt.Errorf("list running jobs of %s: %w", t.Short(), err)
	}
	s.w = w
	s.lack(why)
	if w != nil && w.Busy != nil && !*w.Busy {
		return nil, "", fmt.Errorf("%w: GitHub says that %s is idle, and is known to be wrong about that", providers.ErrNotSearched, t.Short())
	}
	places, why, err := p.servedBy(ctx, s.b, sc, w)
	s.lack(why)
	if err != nil && len(places) == 0 {
		return nil, "", fmt.Errorf("list running jobs of %s: %w", t.Short(), err)
	}
	unread := err
	for i, pl := range places {
		err = s.running(ctx, pl.repo)
		if failed(err) && !failed(unread) {
			unread = err
		}
		if ends(ctx, err) {
			s.stopped(err, len(places)-i, false)
			break
		}
		if err != nil {
			s.lack(pl.repo + ": " + err.Error())
			if len(places) == 1 {
				return nil, "", fmt.Errorf("list running jobs of %s: %w", t.Short(), err)
			}
		}
	}
	list := s.newest(100)
	if len(list) == 0 && failed(unread) && ctx.Err() == nil { // a read that failed is not the word that nothing runs
		return nil, "", fmt.Errorf("list running jobs of %s: %w", t.Short(), unread)
	}
	out := make([]providers.Job, 0, len(list))
	for _, h := range list {
		var flags []string
		if h.byName {
			flags = []string{fmt.Sprintf("%s (runner id %d)", flagByName, h.job.RunnerID)}
		}
		out = append(out, p.job(h, flags))
	}
	return out, s.partial(), ctx.Err()
}

func (s *search) running(ctx context.Context, repo string) error {
	q := url.Values{"status": {"in_progress"}, "exclude_pull_requests": {"true"}}
	return s.b.all(ctx, repoPath(repo)+"/actions/runs", q, 10, func(a answer) (bool, error) {
		l, err := runRows(a)
		if err != nil {
			return false, err
		}
		for _, r := range l.Runs {
			jobs, err := s.p.runJobs(ctx, s.b, repo, r)
			if err != nil {
				return false, err
			}
			for _, j := range jobs {
				is, byName := s.matches(j)
				switch {
				case !is || j.Status == completed:
				case s.exact && (byName || j.RunnerName == ""):
					s.leave(repo, j, byName)
				default:
					s.found = append(s.found, hit{repo: repo, run: r, job: j, byName: byName})
				}
			}
		}
		return true, nil
	})
}

// leave says of a job that it is not taken for this runner's. Its run would be cancelled,
// and an id alone, or a name alone, is that of another scope's runner as well.
func (s *search) leave(repo string, j wireJob, byName bool) {
	what := fmt.Sprintf("job %d of %s has its id and no name of a runner: whether it is on this one is not known", j.ID, s.p.text(repo))
	if !byName {
		s.lack(what)
		return
	}
	if len(s.apart) < 3 {
		s.apart = append(s.apart, fmt.Sprintf("job %d of %s is on runner %d, another one that is called %s too", j.ID, s.p.text(repo), j.RunnerID, s.p.text(j.RunnerName)))
	}
}
