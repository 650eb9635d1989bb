package github

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"cordon/internal/change"
	"cordon/internal/target"
)

// maxPurged is how many caches and artifacts one plan removes.
const maxPurged = 100

var morePurged = fmt.Sprintf("there are more than the %d of this plan: plan it again when it is done", maxPurged)

var (
	cacheFields    = []string{"id", "ref", "key", "version", "created_at", "last_accessed_at", "size_in_bytes"}
	artifactFields = []string{"id", "name", "size_in_bytes", "expired", "created_at", "expires_at", "digest", "workflow_run", "head_branch", "head_sha"}
)

// Bounds of a purge: how far back it looks where nobody says, how many requests the search
// for its runs may take, and how many of them are asked for their artifacts.
const (
	purgeBack  = 30 * 24 * time.Hour
	purgeCalls = 300
	purgeRuns  = 50
)

// planPurge offers to remove the caches that were made in the suspect window in the
// repositories where the runner had jobs, and the artifacts of those runs: a job that was
// the attacker's may have put something there that a later one restores. What is removed is
// described in the evidence first.
func (p *Provider) planPurge(ctx context.Context, v view) ([]change.Plan, error) {
	since := v.since
	if since.IsZero() {
		since = p.clock.Now().Add(-purgeBack)
	}
	s, err := p.seek(ctx, v.ref, since, purgeCalls)
	if err != nil {
		return nil, err
	}
	limits := []string{
		"it cannot be undone: caches are made again by the next job, artifacts are not",
		"looked at are its runs since " + since.UTC().Format("2006-01-02 15:04Z"),
		"GitHub does not say which job made a cache: those that were made since then, in repositories where it had jobs, are taken",
	}
	if why := s.partial(); why != "" {
		limits = append(limits, "there may be more: "+why)
	}
	caches := change.Plan{Option: "caches", Covers: "no later job restores what was put there", Limits: limits}
	artifacts := change.Plan{Option: "artifacts", Covers: "nobody downloads what was put there", Limits: limits}
	repos, runs := map[string]bool{}, map[int64]bool{}
	apart := 0
	for _, h := range s.newest(maxMemoryJobs) {
		if !h.surely(v.runner) {
			apart++
			continue
		}
		if !repos[h.repo] {
			repos[h.repo] = true
			if err := p.purgeCaches(ctx, v, h.repo, since, &caches); err != nil {
				return nil, err
			}
		}
		if !runs[h.run.ID] && len(runs) < purgeRuns {
			runs[h.run.ID] = true
			if err := p.purgeArtifacts(ctx, v, h, &artifacts); err != nil {
				return nil, err
			}
		}
	}
	if apart > 0 {
		why := fmt.Sprintf("left alone: what came of %d jobs whose runner has its name or its id alone: that may be another registration", apart)
		limits, caches.Limits, artifacts.Limits = append(slices.Clone(limits), why), append(slices.Clone(caches.Limits), why), append(slices.Clone(artifacts.Limits), why)
	}
	if len(runs) == purgeRuns {
		artifacts.Limits = append(slices.Clone(artifacts.Limits), fmt.Sprintf("only its latest %d runs were asked for artifacts", purgeRuns))
	}
	var plans []change.Plan
	for i, x := range []*change.Plan{&caches, &artifacts} {
		if n := len(x.Changes); n > 0 {
			x.Title = fmt.Sprintf("remove %d caches made since %s where %s had jobs", n, since.UTC().Format("2006-01-02 15:04Z"), v.name)
			if i == 1 {
				x.Title = fmt.Sprintf("remove %d artifacts of runs that had jobs on %s", n, v.name)
			}
			plans = append(plans, *x)
		}
	}
	if len(plans) > 0 {
		return plans, nil
	}
	return []change.Plan{{
		Option: "by-hand", Title: "no cache or artifact of a run on " + v.name + " was found", Nothing: len(repos) == 0 && apart == 0 && s.partial() == "", Limits: union(limits, caches.Limits, artifacts.Limits),
		Manual: []string{"look at the caches and artifacts of its runs by hand, and keep their description before you remove one"},
		ByHand: caches.ByHand,
	}}, nil
}

// union is every text once, in order.
func union(lists ...[]string) []string {
	var out []string
	for _, l := range lists {
		for _, s := range l {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

func (p *Provider) purgeCaches(ctx context.Context, v view, repo string, since time.Time, plan *change.Plan) error {
	plan.ByHand = append(plan.ByHand, change.Link{Title: "caches of " + string(p.text(repo)), URL: p.page(escapeRepo(repo) + "/actions/caches")})
	err := p.cachesSince(ctx, repo, since, func(a answer, x wireCache) (bool, error) {
		made, terr := time.Parse(time.RFC3339, x.Created)
		if x.ID <= 0 || terr == nil && made.Before(since) {
			return true, nil
		}
		if terr != nil {
			plan.Limits = union(plan.Limits, []string{"of some caches of " + string(p.text(repo)) + " it is not known when they were made: they are left: look at them by hand"})
			return true, nil
		}
		if len(plan.Changes) == maxPurged {
			plan.Limits = union(plan.Limits, []string{morePurged})
			return false, nil
		}
		op := cacheRemove{repo, x.ID}
		title := fmt.Sprintf("remove the cache %q of %s (%s, %d bytes, made %s)", p.text(x.Key), p.text(repo), p.text(x.Ref), x.Size, p.text(x.Created))
		return true, p.purge(ctx, v, repo, op, opCache, title, a.Request, x, cacheFields, change.Pack(cacheBefore{made.UTC()}), plan)
	})
	return p.unlisted(ctx, err, "caches of "+repo, plan)
}

// unlisted says what a plan could not look at; what could not be kept ends it.
func (p *Provider) unlisted(ctx context.Context, err error, what string, plan *change.Plan) error {
	if err == nil || errors.Is(err, errNotKept) || ctx.Err() != nil {
		return err
	}
	plan.Limits = append(slices.Clone(plan.Limits), "the "+what+" could not all be listed: "+err.Error())
	return nil
}

func (p *Provider) purgeArtifacts(ctx context.Context, v view, h hit, plan *change.Plan) error {
	a, err := p.act.get(ctx, fmt.Sprintf("%s/actions/runs/%d/artifacts", repoPath(h.repo), h.run.ID), pageOf(nil, 1, 100))
	var l artifactPage
	if err == nil {
		l, err = decode[artifactPage](a)
	}
	if err == nil && l.Artifacts == nil {
		err = malformed(a, "no artifacts")
	}
	if err == nil && a.Next != 0 {
		plan.Limits = union(plan.Limits, []string{fmt.Sprintf("only the first %d artifacts of run %d were looked at: there are more", len(l.Artifacts), h.run.ID)})
	}
	for _, x := range l.Artifacts {
		if err != nil {
			break
		}
		if x.ID <= 0 || x.Expired {
			continue // its content is gone already
		}
		if len(plan.Changes) == maxPurged {
			plan.Limits = union(plan.Limits, []string{morePurged})
			break
		}
		op := artifactRemove{h.repo, h.run.ID, x.ID}
		title := fmt.Sprintf("remove the artifact %q of run %d of %s (%d bytes, made %s)", p.text(x.Name), h.run.ID, p.text(h.repo), x.Size, p.text(x.Created))
		err = p.purge(ctx, v, h.repo, op, opArtifact, title, a.Request, x, artifactFields, change.Pack(artifactBefore{x.Digest, x.Size}), plan)
	}
	plan.ByHand = append(plan.ByHand, change.Link{Title: fmt.Sprintf("artifacts of run %d", h.run.ID), URL: p.page(fmt.Sprintf("%s/actions/runs/%d", escapeRepo(h.repo), h.run.ID))})
	return p.unlisted(ctx, err, fmt.Sprintf("artifacts of run %d", h.run.ID), plan)
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
