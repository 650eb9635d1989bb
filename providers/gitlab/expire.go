package gitlab

import (
	"context"
	"fmt"
	"slices"
	"time"

	"cordon/internal/target"
	"cordon/providers"
)

// maxExpiring is how many jobs are asked one by one when their artifacts expire.
const maxExpiring = 50

// wireKept is the part of a job that says what is kept of it and until when
// (lib/api/entities/ci/job.rb). artifacts lists the log too, which does not expire.
type wireKept struct {
	ID        int64     `json:"id"`
	Name      string    `json:"name"`
	Expires   time.Time `json:"artifacts_expire_at"`
	ErasedAt  time.Time `json:"erased_at"`
	Artifacts []struct {
		Type string `json:"file_type"`
		Size int64  `json:"size"`
	} `json:"artifacts"`
}

// Expiring implements providers.Expirer: one read for each job since a time, at most
// maxExpiring. What GitLab's API does not tell is said as such.
func (p *Provider) Expiring(ctx context.Context, t target.Ref, since time.Time) ([]providers.Expiry, error) {
	id, err := p.own(t)
	if err != nil {
		return nil, err
	}
	jobs, cut, err := p.jobsSince(ctx, id, since, maxExpiring)
	if done := finished(ctx, err); done != nil {
		return nil, done
	}
	var out []providers.Expiry
	if err != nil {
		out = append(out, providers.Expiry{What: "artifacts and logs of jobs", Where: p.o.Name, Why: "not known: the jobs cannot be listed: " + err.Error()})
	}
	for _, j := range jobs {
		out = append(out, p.expiry(ctx, j)...)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if err == nil {
		if why := p.unseen(len(jobs), cut); why != "" {
			out = append(out, providers.Expiry{What: "artifacts and logs of other jobs", Where: p.o.Name, Why: "not known: " + why})
		}
	}
	slices.SortStableFunc(out, func(x, y providers.Expiry) int { // what goes first stands first, what is not known last
		if x.At.IsZero() != y.At.IsZero() {
			if x.At.IsZero() {
				return 1
			}
			return -1
		}
		return x.At.Compare(y.At)
	})
	return append(out,
		providers.Expiry{What: "job logs", Where: p.o.Name, Why: "not known: GitLab keeps them until somebody erases the job or deletes its project; an instance's own clean-up is not in its API"},
		providers.Expiry{What: "audit events", Where: p.o.Name, Why: "not known: how long they are kept is the instance's setting and not in its API; one query reaches 30 days"},
		providers.Expiry{What: "the runner and its managers", Where: t.Short(), Why: "not known: GitLab calls them stale after 7 days without contact (3 months on older versions), and a group may have stale runners removed"},
	), nil
}

func (p *Provider) expiry(ctx context.Context, j wireJob) []providers.Expiry {
	x := providers.Expiry{What: fmt.Sprintf("artifacts of job %d (%s)", j.ID, p.text(j.Name)), Where: string(p.text(j.Project.Path))}
	a, err := p.api.get(ctx, fmt.Sprintf("projects/%d/jobs/%d", j.Project.ID, j.ID), nil)
	if err != nil {
		x.Why = "not known: " + err.Error()
		return []providers.Expiry{x}
	}
	k, err := decode[wireKept](a)
	switch {
	case err != nil:
		x.Why = "not known: " + err.Error()
	case !k.Expires.IsZero():
		x.At, x.Why = k.Expires.UTC(), "artifacts_expire_at"
	case !k.holds():
		return nil
	default:
		x.Never, x.Why = true, "it has artifacts and no artifacts_expire_at: they are kept, as those of a branch's latest job are"
	}
	return []providers.Expiry{x}
}

// holds reports whether there is more than the log.
func (k wireKept) holds() bool {
	for _, a := range k.Artifacts {
		if a.Type != "trace" {
			return true
		}
	}
	return false
}
