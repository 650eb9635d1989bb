package github

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cordon/internal/target"
	"cordon/providers"
)

const (
	completed = "completed"

	// jobCalls bounds one search for jobs, in requests, where the caller names no bound.
	jobCalls = 1000
	// runningCalls bounds the search for what runs now: a card does not wait for more.
	runningCalls = 40

	// again is how long before a window runs are looked at that may have had jobs in it: a
	// run can be started again for 30 days, and waits and runs for 35 at most (docs:
	// re-running workflows and jobs; usage limits of workflows). Its created_at stays.
	again = 35 * 24 * time.Hour
)

// hit is a job of the runner, with the run that it is a part of.
type hit struct {
	repo   string
	run    wireRun
	job    wireJob
	byName bool   // another registration's id, the same name
	byID   bool   // its id, and nothing says that the name is its own: another scope may have that id
	by     string // who started the job's attempt, where it is neither the first nor the last; "": not told
}

// surely reports whether both the id and the name of the job's runner are this one's:
// neither alone is unique, and what a change touches has to be its own.
func (h hit) surely(w wireRunner) bool {
	return !h.byName && h.job.RunnerID == w.ID && strings.EqualFold(h.job.RunnerName, w.Name)
}

// search looks for the jobs of one runner. GitHub has no list of them: every run of every
// repository that may use it has to be asked for its jobs.
type search struct {
	p     *Provider
	b     *bounded
	sc    scope
	id    int64
	w     *wireRunner // nil: the name is not known
	names []string    // others that it is known by
	since time.Time
	now   time.Time
	exact bool // for a change: what is not surely this registration's is not found

	found   []hit
	apart   []string // with exact: the jobs that were left out, and why
	lacks   []string // what was not looked at, and why
	undone  int      // runs whose jobs were not read
	skipped int      // repositories of which nothing was seen
	err     error    // of the first that could not be read
	history map[string]*history
}

// Jobs implements providers.JobLister: what ran, or still runs, at or after since. It
// stops at its bound, at the reserve that is kept for containment and with ctx, and says
// what it did not look at; asked again, it goes on from there.
func (p *Provider) Jobs(ctx context.Context, t target.Ref, since time.Time, max int) ([]providers.Job, string, error) {
	s, err := p.seek(ctx, t, since, jobCalls)
	if err != nil {
		return nil, "", fmt.Errorf("list jobs of %s: %w", t.Short(), err)
	}
	list := s.newest(max)
	s.starters(ctx, list)
	flags := s.flags(ctx, list)
	out := make([]providers.Job, 0, len(list))
	for i, h := range list {
		out = append(out, p.job(h, flags[i]))
	}
	return out, s.partial(), ctx.Err()
}

// seek finds all the jobs of a runner that touch the time since. names are what the caller
// knows it by: of a registration that is gone GitHub tells no name, and another process may
// have been the one that read it.
func (p *Provider) seek(ctx context.Context, t target.Ref, since time.Time, calls int, names ...string) (*search, error) {
	sc, id, err := p.placed(ctx, t)
	if err != nil {
		return nil, err
	}
	if s := p.memory.search(sc, id, since, providers.RecentFrom(ctx)); s != nil && (s.w != nil || len(names) == 0) {
		s.b = p.spend(ctx, calls)
		return s, nil
	}
	s := &search{p: p, b: p.spend(ctx, calls), sc: sc, id: id, since: since, now: p.clock.Now(), history: map[string]*history{}}
	s.names = slices.DeleteFunc(names, func(n string) bool { return n == "" })
	w, why, err := p.runnerOf(ctx, s.b, sc, id, s.names...)
	if err != nil {
		return nil, err
	}
	s.w = w
	s.lack(why)
	places, why, err := p.servedBy(ctx, s.b, sc, w)
	s.lack(why)
	if err != nil {
		if len(places) == 0 || ctx.Err() != nil {
			return nil, err
		}
		s.lack("not every repository could be listed: " + err.Error())
	}
	s.walk(ctx, places)
	if s.err != nil && len(s.found) == 0 && s.skipped >= len(places) && !ends(ctx, s.err) {
		return nil, s.err // nothing was seen at all
	}
	if ctx.Err() == nil {
		p.memory.keepSearch(s)
	}
	return s, nil
}

func (s *search) lack(why string) {
	if why != "" && !slices.Contains(s.lacks, why) {
		s.lacks = append(s.lacks, why)
	}
}

// walk goes through the window in every repository first, and then through the time
// before it, where only what changed since can have had jobs in the window.
func (s *search) walk(ctx context.Context, places []served) {
	for _, part := range []struct{ from, until time.Time }{{s.since, s.now.Add(time.Minute)}, {s.since.Add(-again), s.since.Add(-time.Second)}} {
		for i, pl := range places {
			err := s.within(ctx, pl.repo, part.from, part.until)
			if err == nil {
				continue
			}
			if s.err == nil {
				s.err = err
			}
			before := part.until.Before(s.since)
			if ends(ctx, err) {
				s.stopped(err, len(places)-i, before)
				return
			}
			s.lack(fmt.Sprintf("%s%s: %v", pl.repo, map[bool]string{true: ", runs before the window that may have run again"}[before], err))
		}
	}
}

// stopped says why a search ended early, and what it has not seen.
func (s *search) stopped(err error, left int, before bool) {
	what := fmt.Sprintf("%d repositories were not searched to their end", left)
	if before {
		what = fmt.Sprintf("runs from before the window that may have run again were not searched in %d repositories", left)
	}
	s.lack(fmt.Sprintf("stopped after %d requests (%v): %s", s.b.used, err, what))
}

// within looks through the runs of one repository that were created in a slice of time.
func (s *search) within(ctx context.Context, repo string, from, until time.Time) error {
	h := s.history[repo]
	if h == nil {
		h = &history{seen: map[int64]bool{}, actors: map[string]time.Time{}, workflows: map[int64]time.Time{}}
		s.history[repo] = h
	}
	var runs []wireRun
	err := runsBetween(ctx, s.b, repo, nil, from, until, func(r wireRun) {
		if !h.add(r, s.since) || !s.touches(r) {
			return
		}
		runs = append(runs, r)
	})
	switch {
	case err == nil && until.Before(s.since):
		h.whole = true
	case err != nil && len(h.seen) == 0 && !errors.Is(err, errDense):
		s.skipped++
	}
	for i, r := range runs {
		if jerr := s.run(ctx, repo, r); jerr != nil {
			err = errors.Join(err, jerr)
			if ends(ctx, jerr) {
				s.undone += len(runs) - i
				break
			}
			s.undone++
		}
	}
	return err
}

// touches reports whether a run can have had a job at or after since.
func (s *search) touches(r wireRun) bool {
	return r.Status != completed || r.UpdatedAt.IsZero() || !r.UpdatedAt.Before(s.since)
}

func (s *search) run(ctx context.Context, repo string, r wireRun) error {
	jobs, err := s.p.runJobs(ctx, s.b, repo, r)
	for _, j := range jobs {
		is, byName := s.matches(j)
		if is && (j.CompletedAt.IsZero() || !j.CompletedAt.Before(s.since)) {
			s.found = append(s.found, hit{repo: repo, run: r, job: j, byName: byName, byID: !byName && !s.called(j.RunnerName)})
		}
	}
	return err
}

// matches tells the runner's jobs. Ids are unique only in the scope of a registration,
// so an id with another name is another runner; a name with another id is the same
// machine registered again, or one that took its name.
func (s *search) matches(j wireJob) (is, byName bool) {
	switch {
	case j.RunnerID == 0 && j.RunnerName == "":
		return false, false
	case s.w == nil:
		return j.RunnerID == s.id, false
	case j.RunnerID == s.id:
		return j.RunnerName == "" || s.called(j.RunnerName), false
	}
	return s.called(j.RunnerName), true
}

// called reports whether a name is one of the runner's.
func (s *search) called(name string) bool {
	if name == "" || s.w == nil {
		return false
	}
	same := func(n string) bool { return strings.EqualFold(n, name) }
	return same(s.w.Name) || slices.ContainsFunc(s.names, same)
}

// newest are the newest of what was found; what is cut off is said.
func (s *search) newest(most int) []hit {
	slices.SortStableFunc(s.found, func(x, y hit) int {
		if d := y.job.began().Compare(x.job.began()); d != 0 {
			return d
		}
		return int(y.job.ID - x.job.ID)
	})
	s.found = slices.CompactFunc(s.found, func(x, y hit) bool { return x.job.ID == y.job.ID })
	if n := len(s.found); n > most {
		s.lack(fmt.Sprintf("stopped after %d of %d jobs", most, n))
		return s.found[:most]
	}
	return s.found
}

// partial says what the list may lack.
func (s *search) partial() string {
	if s.undone > 0 {
		return fmt.Sprintf("the jobs of %d runs were not read; ", s.undone) + strings.Join(s.lacks, "; ")
	}
	return strings.Join(s.lacks, "; ")
}

func (j wireJob) began() time.Time {
	if j.StartedAt.IsZero() {
		return j.CreatedAt
	}
	return j.StartedAt
}

func (p *Provider) job(h hit, flags []string) providers.Job {
	j := h.job
	status := word(j.Status)
	if j.Status == completed && j.Conclusion != "" {
		status = word(j.Conclusion)
	}
	return providers.Job{
		Ref: target.Ref{
			System: p.o.Name, Scope: target.Scope{Level: repository, Path: h.repo}, Kind: target.Job, ID: strconv.FormatInt(j.ID, 10),
		},
		Name: p.text(j.Name), Project: p.text(h.repo), Branch: p.text(h.run.Branch), Actor: p.text(h.who()),
		Status: status, StartedAt: j.StartedAt, FinishedAt: j.CompletedAt, Run: strconv.FormatInt(j.RunID, 10), Flags: flags,
		Web: p.page(escapeRepo(h.repo) + fmt.Sprintf("/actions/runs/%d/job/%d", j.RunID, j.ID)),
	}
}

// escapeRepo is OWNER/REPO for a web address.
func escapeRepo(repo string) string {
	return strings.TrimPrefix(repoPath(repo), "repos/")
}
