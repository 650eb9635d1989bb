package github

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"cordon/internal/target"
)

// Bounds of the look at what uses a runner, which is made once for a plan.
const (
	trafficCalls = 24                 // requests
	trafficTries = 3                  // runs of a workflow that are over and are asked for their jobs
	lately       = 7 * 24 * time.Hour // where no window is told
)

// flow is a workflow whose jobs are of a runner.
type flow struct {
	repo           string
	id             int64
	path           string // of its file, as the run says
	on, ran, waits int    // jobs: on it now, that were on it, that wait and ask for labels that it has
	runs           int    // of the workflow, on any runner
	more           bool   // there are more of them than were listed
	scheduled      bool   // some were started by a schedule
}

// file is the name of its file.
func (f *flow) file() string { return f.path[strings.LastIndexByte(f.path, '/')+1:] }

// traffic is what uses a runner. GitHub has no list of it: the latest runs of the
// repositories that it serves are asked for their jobs.
type traffic struct {
	since   time.Time
	flows   []*flow
	waits   int // jobs that wait and ask for labels that it has
	runs    int // of the repositories that were looked at, on any runner
	read    int // repositories that were looked at
	of      int
	partial string // what was not looked at; "": nothing
	err     error  // nothing could be looked at
}

// traffic looks at what uses the runner of v. It is of containment, and not held back at
// the reserve. The error is that of a caller who gave up.
func (p *Provider) traffic(ctx context.Context, v view) (traffic, error) {
	t := traffic{since: v.since}
	if now := p.clock.Now(); t.since.IsZero() || now.Sub(t.since) > again {
		t.since = now.Add(-lately)
	}
	s := &search{p: p, b: p.few(trafficCalls), sc: v.sc, id: v.runner.ID, w: &v.runner, exact: true}
	places, why, err := p.placesOf(ctx, s.b, v.sc, v.runner)
	if why != "" && !strings.HasSuffix(why, onlySeen) {
		s.lack(why)
	}
	if done := finished(ctx, err); done != nil {
		return t, done
	}
	if t.of = len(places); err != nil && t.of == 0 {
		t.err = err
		return t, nil
	}
	for i, pl := range places {
		err := t.repo(ctx, s, pl.repo)
		switch {
		case finished(ctx, err) != nil:
			return t, finished(ctx, err)
		case err == nil:
			t.read++
			continue
		case t.err == nil:
			t.err = err
		}
		if ends(ctx, err) {
			s.stopped(err, len(places)-i, false)
			break
		}
		s.lack(pl.repo + ": " + err.Error())
	}
	t.partial = s.partial()
	if t.read > 0 || len(t.flows) > 0 {
		t.err = nil
	}
	return t, nil
}

// repo looks at the latest runs of one repository. All that are not over are asked for
// their jobs; of those that are, enough to see whether their workflow uses the runner.
func (t *traffic) repo(ctx context.Context, s *search, repo string) error {
	q := url.Values{"created": {">=" + t.since.UTC().Format(time.RFC3339)}, "exclude_pull_requests": {"true"}}
	a, err := s.b.get(ctx, repoPath(repo)+"/actions/runs", pageOf(q, 1, 100))
	if err != nil {
		return err
	}
	l, err := runRows(a)
	if err != nil {
		return err
	}
	t.runs += *l.Total
	cut := *l.Total > len(l.Runs)
	if cut {
		s.lack(fmt.Sprintf("%s: only the latest %d of %d runs", repo, len(l.Runs), *l.Total))
	}
	defer func() {
		for _, r := range l.Runs {
			if f := t.find(repo, r.Workflow); f != nil {
				f.runs, f.more, f.scheduled = f.runs+1, cut, f.scheduled || r.Event == "schedule"
			}
		}
	}()
	tries := map[int64]int{}
	for _, r := range l.Runs {
		f := t.find(repo, r.Workflow)
		if r.Status == completed {
			if f != nil && f.on+f.ran > 0 || tries[r.Workflow] == trafficTries {
				continue
			}
			tries[r.Workflow]++
		}
		jobs, err := s.p.runJobs(ctx, s.b, repo, r)
		if err != nil {
			return err
		}
		for _, j := range jobs {
			t.count(s, repo, r, j)
		}
	}
	return nil
}

func (t *traffic) find(repo string, id int64) *flow {
	i := slices.IndexFunc(t.flows, func(f *flow) bool { return f.repo == repo && f.id == id })
	if i < 0 {
		return nil
	}
	return t.flows[i]
}

// count adds a job that is the runner's, or may become it.
func (t *traffic) count(s *search, repo string, r wireRun, j wireJob) {
	waits := j.RunnerID == 0 && j.RunnerName == "" && j.Status != completed && s.w.takes(j)
	is := hit{job: j}.surely(*s.w)
	if !is && !waits {
		return
	}
	f := t.find(repo, r.Workflow)
	if f == nil {
		f = &flow{repo: repo, id: r.Workflow, path: r.Path}
		t.flows = append(t.flows, f)
	}
	switch {
	case waits:
		f.waits++
		t.waits++
	case j.Status == completed:
		f.ran++
	default:
		f.on++
	}
}

// takes reports whether the runner has every label that a job asks for. A job that asks for
// a group alone has none.
func (w wireRunner) takes(j wireJob) bool {
	return !slices.ContainsFunc(j.Labels, func(want string) bool {
		return !slices.ContainsFunc(w.Labels, func(l wireLabel) bool { return strings.EqualFold(l.Name, want) })
	})
}

// queue says how many jobs wait for it.
func (t traffic) queue() string {
	switch {
	case t.err != nil && t.read == 0:
		return "; how many wait was not counted"
	case t.read < t.of || t.partial != "":
		return fmt.Sprintf("; at least %d jobs wait now that ask for labels it has (%d of %d repositories were looked at)", t.waits, t.read, t.of)
	}
	return fmt.Sprintf("; %d jobs wait now that ask for labels it has, in %d repositories", t.waits, t.read)
}

// projectHit is a repository that a change touches.
func (p *Provider) projectHit(repo string) target.Ref {
	return target.Ref{System: p.o.Name, Scope: target.Scope{Level: repository, Path: repo}, Kind: target.Project, ID: repo}
}
