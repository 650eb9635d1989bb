package github

import (
	"context"
	"fmt"
	"strings"

	"cordon/internal/change"
	"cordon/internal/target"
)

// maxPurged is how many caches and artifacts one plan removes.
const maxPurged = 100

var (
	cacheFields    = []string{"id", "ref", "key", "version", "created_at", "last_accessed_at", "size_in_bytes"}
	artifactFields = []string{"id", "name", "size_in_bytes", "expired", "created_at", "expires_at", "digest", "workflow_run", "head_branch", "head_sha"}
)

// planPurge offers to remove the caches of the branches that the runner's jobs ran on, and
// the artifacts of its runs: a job that was the attacker's may have put something there
// that a later one restores. What is removed is described in the evidence first.
func (p *Provider) planPurge(ctx context.Context, v view) ([]change.Plan, error) {
	on, err := p.onIt(ctx, v.sc, v.runner, planCalls)
	if err != nil {
		return nil, err
	}
	limits := []string{
		"it cannot be undone: caches are made again by the next job, artifacts are not",
		"only the runs whose jobs are on it now are looked at: for earlier ones look at its job list",
		"GitHub does not say which job wrote a cache: those of the run's branch are taken",
	}
	if on.partial != "" {
		limits = append(limits, "there may be more: "+on.partial)
	}
	caches := change.Plan{Option: "caches", Covers: "no later job restores what was put there", Limits: limits}
	artifacts := change.Plan{Option: "artifacts", Covers: "nobody downloads what was put there", Limits: limits}
	seen := map[string]bool{}
	for _, h := range on.jobs {
		if at := h.repo + " " + h.run.Branch; !seen[at] {
			seen[at] = true
			if err := p.purgeCaches(ctx, v, h, &caches); err != nil {
				return nil, err
			}
		}
		if at := fmt.Sprint(h.repo, h.run.ID); !seen[at] {
			seen[at] = true
			if err := p.purgeArtifacts(ctx, v, h, &artifacts); err != nil {
				return nil, err
			}
		}
	}
	var plans []change.Plan
	for _, x := range []*change.Plan{&caches, &artifacts} {
		if n := len(x.Changes); n > 0 {
			x.Title = fmt.Sprintf("remove %d %s of the runs on %s", n, x.Option, v.name)
			plans = append(plans, *x)
		}
	}
	if len(plans) > 0 {
		return plans, nil
	}
	plan := change.Plan{
		Option: "by-hand", Title: "no cache or artifact of a run on " + v.name + " was found", Nothing: on.whole && len(on.jobs) == 0, Limits: limits,
		Manual: []string{"look at the caches and artifacts of its earlier runs by hand, and keep their description before you remove one"},
	}
	for _, h := range on.jobs {
		plan.ByHand = append(plan.ByHand, change.Link{Title: "caches of " + string(p.text(h.repo)), URL: p.page(escapeRepo(h.repo) + "/actions/caches")})
	}
	return []change.Plan{plan}, nil
}

// branchRef is the ref under which caches of a branch are kept; those of a pull request are
// kept under its merge ref, which the run does not tell.
func branchRef(branch string) string {
	if strings.HasPrefix(branch, "refs/") {
		return branch
	}
	return "refs/heads/" + branch
}

func (p *Provider) purgeCaches(ctx context.Context, v view, h hit, plan *change.Plan) error {
	ask := pageOf(nil, 1, 100)
	ask.Set("ref", branchRef(h.run.Branch))
	a, err := p.act.get(ctx, repoPath(h.repo)+"/actions/caches", ask)
	if err != nil {
		plan.Limits = append(plan.Limits, "the caches of "+h.repo+" could not be listed: "+err.Error())
		return finished(ctx, err)
	}
	l, err := decode[cachePage](a)
	if err == nil && l.Caches == nil {
		err = malformed(a, "no caches")
	}
	if err != nil {
		return err
	}
	for _, x := range l.Caches {
		if len(plan.Changes) == maxPurged || x.ID <= 0 {
			break
		}
		op := cacheRemove{h.repo, x.ID}
		title := fmt.Sprintf("remove the cache %q of %s (%s, %d bytes, made %s)", p.text(x.Key), p.text(h.repo), p.text(x.Ref), x.Size, p.text(x.Created))
		if err := p.purge(ctx, v, h.repo, op, opCache, title, a.Request, x, cacheFields, pack(struct{}{}), plan); err != nil {
			return err
		}
	}
	plan.ByHand = append(plan.ByHand, change.Link{Title: "caches of " + string(p.text(h.repo)), URL: p.page(escapeRepo(h.repo) + "/actions/caches")})
	return nil
}

func (p *Provider) purgeArtifacts(ctx context.Context, v view, h hit, plan *change.Plan) error {
	a, err := p.act.get(ctx, fmt.Sprintf("%s/actions/runs/%d/artifacts", repoPath(h.repo), h.run.ID), pageOf(nil, 1, 100))
	if err != nil {
		plan.Limits = append(plan.Limits, "the artifacts of "+h.repo+" could not be listed: "+err.Error())
		return finished(ctx, err)
	}
	l, err := decode[artifactPage](a)
	if err == nil && l.Artifacts == nil {
		err = malformed(a, "no artifacts")
	}
	if err != nil {
		return err
	}
	for _, x := range l.Artifacts {
		if len(plan.Changes) == maxPurged || x.ID <= 0 {
			break
		}
		op := artifactRemove{h.repo, h.run.ID, x.ID}
		title := fmt.Sprintf("remove the artifact %q of run %d of %s (%d bytes, made %s)", p.text(x.Name), h.run.ID, p.text(h.repo), x.Size, p.text(x.Created))
		if err := p.purge(ctx, v, h.repo, op, opArtifact, title, a.Request, x, artifactFields, pack(artifactBefore{x.Digest, x.Size}), plan); err != nil {
			return err
		}
	}
	plan.ByHand = append(plan.ByHand, change.Link{Title: fmt.Sprintf("artifacts of run %d", h.run.ID), URL: p.page(fmt.Sprintf("%s/actions/runs/%d", escapeRepo(h.repo), h.run.ID))})
	return nil
}

// purge keeps the description of one thing and adds its removal to a plan.
func (p *Provider) purge(ctx context.Context, v view, repo string, op operation, name, title, source string, about any, fields []string, was []byte, plan *change.Plan) error {
	kept := p.keptItem(op.about())
	if err := p.keep(ctx, kept, source, about, fields); err != nil {
		return err
	}
	c, err := p.planned(ctx, change.Change{
		ID: fmt.Sprintf("purge/%d", len(plan.Changes)+1), Op: name, Title: title, Hits: []target.Ref{v.ref, p.project(repo)}, Before: was,
		Capacity: "a job that wants it makes it again, or fails", Destroys: []string{kept},
	}, op)
	plan.Changes = append(plan.Changes, c)
	return err
}
