package gitlab

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"cordon/internal/target"
	"cordon/providers"
)

// jobsPartial is true of GitLab's answer to most people and cannot be seen from it.
const jobsPartial = "GitLab lists only jobs of projects where this credential has at least Reporter"

// Jobs implements providers.JobLister.
func (p *Provider) Jobs(ctx context.Context, t target.Ref, since time.Time, max int) ([]providers.Job, string, error) {
	id, err := p.own(t)
	if err != nil {
		return nil, "", err
	}
	list, cut, err := p.jobsSince(ctx, id, since, max)
	if err != nil {
		return nil, "", fmt.Errorf("list jobs of %s: %w", t.Short(), err)
	}
	out := make([]providers.Job, 0, len(list))
	for _, j := range list {
		out = append(out, p.job(j))
	}
	return out, p.unseen(len(list), cut), nil
}

// unseen says what a list of jobs may lack. Only who reads the whole instance (an
// administrator or auditor, which the scope "instance" needs) sees every job.
func (p *Provider) unseen(n int, cut bool) string {
	why := jobsPartial
	for _, s := range p.scopes {
		if s.level == Instance {
			why = ""
		}
	}
	if cut {
		why = strings.TrimSuffix(fmt.Sprintf("stopped after %d jobs; %s", n, why), "; ")
	}
	return why
}

// jobsSince reads jobs newest first; cut says that max or the page limit ended it.
// Ids grow with creation, so the first older job ends the list.
func (p *Provider) jobsSince(ctx context.Context, id int64, since time.Time, max int) (out []wireJob, cut bool, err error) {
	q := url.Values{"order_by": {"id"}, "sort": {"desc"}}
	err = p.pages(ctx, fmt.Sprintf("runners/%d/jobs", id), q, maxPages, func(a answer) (bool, error) {
		list, err := rows(a, checkJob)
		if err != nil {
			return false, err
		}
		for _, j := range list {
			if j.CreatedAt.Before(since) {
				return false, nil
			}
			if len(out) == max {
				cut = true
				return false, nil
			}
			out = append(out, j)
		}
		return true, nil
	})
	return out, cut, err
}

func (p *Provider) job(j wireJob) providers.Job {
	out := providers.Job{
		Ref: target.Ref{
			System: p.o.Name, Scope: target.Scope{Level: Project, Path: j.Project.Path},
			Kind: target.Job, ID: strconv.FormatInt(j.ID, 10),
		},
		Name: p.text(j.Name), Project: p.text(j.Project.Path), Branch: p.text(j.Ref), Actor: p.text(j.User.Username),
		Status: word(j.Status), StartedAt: j.StartedAt, FinishedAt: j.FinishedAt,
	}
	if strings.Trim(j.Project.Path, "/") != "" {
		out.Web = p.page(fmt.Sprintf("%s/-/jobs/%d", escapePath(j.Project.Path), j.ID))
	}
	return out
}
