package github

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

// maxFoundRuns is how many jobs of a run are told on a card.
const maxFoundRuns = 50

// Find implements providers.Finder: pages of runs, of jobs, and of runners of a
// repository, an organization or an enterprise.
func (p *Provider) Find(ctx context.Context, page *url.URL) (providers.Found, error) {
	notOurs := func(why string) (providers.Found, error) {
		return providers.Found{}, fmt.Errorf("%w: %s", providers.ErrNotYours, why)
	}
	if page == nil || !strings.EqualFold(page.Host, p.web.Host) && !strings.EqualFold(page.Host, "www."+p.web.Host) {
		return notOurs("it is not at " + p.web.String())
	}
	s := strings.Split(strings.Trim(page.Path, "/"), "/")
	at := func(i int) string {
		if i < len(s) {
			return s[i]
		}
		return ""
	}
	var sc scope
	var rest []string
	switch {
	case (at(0) == "organizations" || at(0) == "orgs") && len(s) > 2:
		sc, rest = scope{organization, strings.ToLower(at(1))}, s[2:]
	case at(0) == "enterprises" && len(s) > 2:
		sc, rest = scope{enterprise, strings.ToLower(at(1))}, s[2:]
	case len(s) > 2:
		sc, rest = scope{repository, strings.ToLower(at(0) + "/" + at(1))}, s[2:]
	default:
		return notOurs("no page of a run, a job or a runner")
	}
	if _, err := parseScope(sc.level + ":" + sc.path); err != nil {
		return notOurs("no organization, enterprise or repository has that name")
	}
	switch {
	case len(rest) >= 4 && rest[0] == "settings" && rest[1] == "actions" && rest[2] == "runners":
		return p.foundRunner(sc, rest[3])
	case sc.level != repository || len(rest) < 3 || rest[0] != "actions" || rest[1] != "runs":
		return notOurs("no page of a run, a job or a runner")
	}
	if _, err := number(rest[2]); err != nil {
		return providers.Found{}, err
	}
	if len(rest) >= 5 && rest[3] == "job" {
		return p.foundJob(ctx, sc.path, rest[4])
	}
	return p.foundRun(ctx, sc.path, rest[2])
}

func number(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 || strconv.FormatInt(n, 10) != s {
		return 0, fmt.Errorf("%w: %q is no number", providers.ErrNotYours, untrusted.Clean(s, 40))
	}
	return n, nil
}

func (p *Provider) foundRunner(sc scope, id string) (providers.Found, error) {
	n, err := number(id)
	if err != nil {
		return providers.Found{}, err
	}
	return providers.Found{
		What:    untrusted.Text(fmt.Sprintf("the page of runner %d of %s", n, sc)),
		Runners: []providers.Runner{{Ref: p.ref(sc, n)}}, Why: "its number and its place are in the address",
	}, nil
}

func (p *Provider) foundJob(ctx context.Context, repo, id string) (providers.Found, error) {
	n, err := number(id)
	if err != nil {
		return providers.Found{}, err
	}
	j, _, err := one(ctx, p.look, fmt.Sprintf("%s/actions/jobs/%d", repoPath(repo), n), "job", func(j wireJob) bool { return j.ID == n && j.RunID > 0 })
	if err != nil {
		return providers.Found{}, fmt.Errorf("read job %d: %w", n, err)
	}
	f := providers.Found{
		What: p.text(fmt.Sprintf("job %d %q of %s", n, j.Name, repo)),
		Jobs: []providers.Job{p.job(hit{repo: repo, run: wireRun{Branch: j.Branch}, job: j}, nil)},
	}
	if f.Runners, f.Why, err = p.tookIt(ctx, repo, j); err != nil {
		return f, err
	}
	return f, nil
}

// foundRun tells what took the jobs of a run, of all its attempts.
func (p *Provider) foundRun(ctx context.Context, repo, id string) (providers.Found, error) {
	n, err := number(id)
	if err != nil {
		return providers.Found{}, err
	}
	r, _, err := one(ctx, p.look, fmt.Sprintf("%s/actions/runs/%d", repoPath(repo), n), "run", func(r wireRun) bool { return r.ID == n })
	if err != nil {
		return providers.Found{}, fmt.Errorf("read run %d: %w", n, err)
	}
	jobs, err := p.runJobs(ctx, p.spend(ctx, runningCalls), repo, r)
	if err != nil && len(jobs) == 0 {
		return providers.Found{}, fmt.Errorf("read jobs of run %d: %w", n, err)
	}
	f := providers.Found{What: p.text(fmt.Sprintf("run %d of %s", n, repo)), Why: "no runner took a job of it yet"}
	seen := map[target.Ref]bool{}
	asked := map[string]bool{}
	for i, j := range jobs {
		if i < maxFoundRuns {
			f.Jobs = append(f.Jobs, p.job(hit{repo: repo, run: r, job: j}, nil))
		}
		key := fmt.Sprintf("%d %s", j.RunnerID, j.RunnerName)
		if asked[key] || len(asked) == 10 {
			continue
		}
		asked[key] = true
		list, why, err := p.tookIt(ctx, repo, j)
		if err != nil {
			return f, err
		}
		if len(list) == 0 && len(f.Runners) == 0 {
			f.Why = why
		}
		for _, x := range list {
			if !seen[x.Ref] {
				seen[x.Ref] = true
				f.Runners, f.Why = append(f.Runners, x), "they took jobs of the run, of all its attempts"
			}
		}
	}
	return f, nil
}

// tookIt finds the registration that took a job. Ids are unique only in their scope, and a
// job does not say in which: the repository, its organization and the configured
// enterprises are asked, and the name has to be the job's.
func (p *Provider) tookIt(ctx context.Context, repo string, j wireJob) ([]providers.Runner, string, error) {
	if j.RunnerID <= 0 && j.RunnerName == "" {
		return nil, "no runner took it yet", nil
	}
	owner, _, _ := strings.Cut(repo, "/")
	places := []scope{{repository, repo}, {organization, owner}}
	for _, s := range p.scopes {
		if s.level == enterprise {
			places = append(places, s)
		}
	}
	var unread error
	for _, sc := range places {
		if j.RunnerID <= 0 {
			break
		}
		w, _, err := p.details(ctx, p.look, sc, j.RunnerID)
		switch {
		case ctx.Err() != nil:
			return nil, "", ctx.Err()
		case err == nil && (j.RunnerName == "" || strings.EqualFold(j.RunnerName, w.Name)):
			p.memory.name(sc, w)
			return []providers.Runner{p.runner(sc, w, nil)}, "the job ran on it", nil
		case err != nil && !errors.Is(err, providers.ErrNotFound):
			unread = err
		}
	}
	why := fmt.Sprintf("the job ran on runner %d %q, which is none of its repository's, its organization's or a configured enterprise's now: it is gone, GitHub's own, or hidden from this credential",
		j.RunnerID, p.text(j.RunnerName))
	if unread != nil {
		why += "; " + unread.Error()
	}
	return nil, why, nil
}
