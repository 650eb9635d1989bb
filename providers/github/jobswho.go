package github

import (
	"cmp"
	"context"
	"fmt"
)

// maxAttempts is how many attempts of runs are asked who started them, for one list of jobs.
const maxAttempts = 50

// who started the attempt that the job is of; "": not told. A run has one actor, who
// started it first, and one triggering actor, who started its last attempt (docs:
// actions/workflow-runs): for those between, each attempt has to be asked.
func (h hit) who() string {
	switch {
	case h.job.Attempt == 1 && (h.run.Actor.Login != "" || h.run.Attempt > 1):
		return h.run.Actor.Login
	case h.job.Attempt == h.run.Attempt, h.job.Attempt == 0, h.run.Attempt == 0:
		return h.run.last()
	}
	return h.by
}

// last is who started the last attempt of a run.
func (r wireRun) last() string {
	if r.Attempt != 1 && r.Triggering.Login != "" {
		return r.Triggering.Login
	}
	return cmp.Or(r.Actor.Login, r.Triggering.Login)
}

// starters asks who started the attempts that a run does not tell. Of those that could not
// be asked nobody is named, and the list is said to lack it.
func (s *search) starters(ctx context.Context, list []hit) {
	type attempt struct {
		run int64
		n   int
	}
	known := map[attempt]string{}
	for i, h := range list {
		if h.job.Attempt <= 1 || h.job.Attempt == h.run.Attempt || h.run.Attempt == 0 {
			continue
		}
		of := attempt{h.run.ID, h.job.Attempt}
		by, ok := known[of]
		if !ok {
			var err error
			if len(known) == maxAttempts {
				err = errBound
			} else {
				by, err = s.starter(ctx, h)
				known[of] = by
			}
			if err != nil {
				s.lack(fmt.Sprintf("who started attempt %d of run %d of %s: %v", of.n, of.run, h.repo, err))
			}
		}
		list[i].by = by
	}
}

func (s *search) starter(ctx context.Context, h hit) (string, error) {
	path := fmt.Sprintf("%s/actions/runs/%d/attempts/%d", repoPath(h.repo), h.run.ID, h.job.Attempt)
	r, _, err := one(ctx, s.b, path, "attempt", func(r wireRun) bool { return r.ID == h.run.ID && r.Attempt == h.job.Attempt })
	if err != nil {
		return "", err
	}
	return r.Triggering.Login, nil
}
