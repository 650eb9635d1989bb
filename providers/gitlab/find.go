package gitlab

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/providers"
)

// wireJobRunner is a job with the runner that took it; null while none did
// (lib/api/entities/ci/job.rb).
type wireJobRunner struct {
	wireJob
	Runner *wireRunner `json:"runner"`
}

// RunningJobs implements providers.Running.
func (p *Provider) RunningJobs(ctx context.Context, t target.Ref) ([]providers.Job, string, error) {
	id, err := p.own(t)
	if err != nil {
		return nil, "", err
	}
	list, _, err := p.jobsWith(ctx, id, "running")
	if err != nil {
		return nil, "", fmt.Errorf("list running jobs of %s: %w", t.Short(), err)
	}
	out := make([]providers.Job, 0, len(list))
	for _, j := range list {
		out = append(out, p.job(j))
	}
	return out, p.unseen(len(list), len(list) == 100), nil
}

// Find implements providers.Finder: pages of runners, jobs, pipelines and projects.
func (p *Provider) Find(ctx context.Context, page *url.URL) (providers.Found, error) {
	rest, ok := p.here(page)
	if !ok {
		return providers.Found{}, fmt.Errorf("%w: it is not at %s", providers.ErrNotYours, p.base)
	}
	owner, tail, _ := strings.Cut(rest, "/-/")
	parts := strings.Split(tail, "/")
	switch {
	case strings.HasPrefix(rest, "admin/runners/"):
		return p.runnerPage(strings.Split(strings.TrimPrefix(rest, "admin/runners/"), "/")[0])
	case len(parts) >= 2 && parts[0] == "runners":
		return p.runnerPage(parts[1])
	case len(parts) >= 2 && parts[0] == "jobs":
		return p.jobPage(ctx, owner, parts[1])
	case len(parts) >= 2 && parts[0] == "pipelines":
		f, err := p.projectPage(ctx, owner)
		f.Why = "which runner took the jobs of a pipeline is not on its page: these may take jobs of the project; give the address of one of its jobs"
		return f, err
	case strings.Contains(owner, "/") && !strings.HasPrefix(owner, "groups/") && !strings.HasPrefix(owner, "admin/"):
		return p.projectPage(ctx, owner)
	}
	return providers.Found{}, fmt.Errorf("%w: no page of a runner, a job, a pipeline or a project", providers.ErrNotYours)
}

// here is the path of a page below the service's own address.
func (p *Provider) here(page *url.URL) (string, bool) {
	if page == nil || !strings.EqualFold(page.Host, p.base.Host) {
		return "", false
	}
	rest, ok := strings.CutPrefix(page.Path, p.base.Path+"/")
	return strings.Trim(rest, "/"), ok && rest != ""
}

func (p *Provider) runnerPage(id string) (providers.Found, error) {
	ref := target.Ref{System: p.o.Name, Kind: target.Runner, ID: id}
	if _, err := p.own(ref); err != nil {
		return providers.Found{}, err
	}
	return providers.Found{
		What: untrusted.Text("the page of runner " + id), Runners: []providers.Runner{{Ref: ref}}, Why: "its number is in the address",
	}, nil
}

// jobPage reads the job: GitLab names the runner that took it.
func (p *Provider) jobPage(ctx context.Context, project, id string) (providers.Found, error) {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || n <= 0 || project == "" {
		return providers.Found{}, fmt.Errorf("%w: no number of a job is in the address", providers.ErrNotYours)
	}
	a, err := p.api.get(ctx, "projects/"+segment(project)+"/jobs/"+strconv.FormatInt(n, 10), nil)
	if err != nil {
		return providers.Found{}, fmt.Errorf("read job %d: %w", n, err)
	}
	j, err := decode[wireJobRunner](a)
	if err == nil && j.ID != n {
		err = malformed(a, "not the job that was asked for")
	}
	if err != nil {
		return providers.Found{}, fmt.Errorf("read job %d: %w", n, err)
	}
	if j.Project.Path == "" { // alone, a job does not repeat its project's path
		j.Project.Path = project
	}
	f := providers.Found{
		What: p.text(fmt.Sprintf("job %d %q of %s", n, j.Name, project)), Jobs: []providers.Job{p.job(j.wireJob)},
		Why: "no runner took it, or GitLab does not say which",
	}
	if j.Runner != nil {
		if err := j.Runner.check(); err != nil {
			return f, malformed(a, err.Error())
		}
		f.Runners, f.Why = []providers.Runner{p.runner(*j.Runner)}, "the job ran on it"
	}
	return f, nil
}

// projectPage lists what may take jobs of a project.
func (p *Provider) projectPage(ctx context.Context, project string) (providers.Found, error) {
	f := providers.Found{What: p.text("project " + project), Why: "may take jobs of the project"}
	err := p.pages(ctx, "projects/"+segment(project)+"/runners", nil, peerPages+1, func(a answer) (bool, error) {
		list, err := rows(a, wireRunner.check)
		if err != nil {
			return false, err
		}
		for _, w := range list {
			f.Runners = append(f.Runners, p.runner(w))
		}
		return true, nil
	})
	if err != nil && (len(f.Runners) == 0 || errors.Is(err, ctx.Err())) {
		return f, fmt.Errorf("list runners of the project: %w", err)
	}
	if err != nil {
		f.Why += "; there are more than these"
	}
	return f, nil
}
