package github

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/internal/witness"
)

const cancelTips = "the agent logs the cancellation, and the job's processes get a signal"

// planCancel ends the runs whose jobs are on the runner now, and by force as the second
// way. A run is ended whole: what else goes with it is in Hits.
func (p *Provider) planCancel(ctx context.Context, v view) ([]change.Plan, error) {
	on, err := p.onIt(ctx, v.sc, v.runner, planCalls)
	if err != nil {
		return nil, err
	}
	limits := []string{
		"GitHub cancels whole runs, never one job: jobs of the run on other runners end too",
		"it is asked for, not enforced: steps with if: always() still run, and a hostile worker may go on; then force",
		"the next job follows if the runner is not held back first; whoever can start workflows can start this one again",
		"processes that a job left behind live on: look on the host",
	}
	if on.partial != "" {
		limits = append(limits, "there may be more: "+on.partial)
	}
	for _, other := range on.apart {
		limits = append(limits, "left alone: "+other)
	}
	plans := []change.Plan{
		{Option: "cancel", Covers: "the runs are asked to end, and their job tokens with them", Limits: limits, TipsOff: cancelTips},
		{
			Option: "force", Covers: "the runs are ended without their if: always() steps: for a run that does not end when it is asked to",
			Limits: append([]string{"GitHub asks for this only after a cancellation that had no effect"}, limits...), TipsOff: cancelTips,
		},
	}
	seen := map[int64]bool{}
	for _, h := range on.jobs {
		if seen[h.run.ID] {
			continue
		}
		seen[h.run.ID] = true
		hits, unread, err := p.runHits(ctx, v, h)
		if err != nil {
			return nil, err
		}
		for i := range plans {
			c, err := p.cancelRun(ctx, h, hits, len(seen), i == 1, unread != nil)
			if err != nil {
				return nil, err
			}
			if unread != nil {
				plans[i].Limits = append(slices.Clone(plans[i].Limits), fmt.Sprintf("what else ends with run %d is not known: its jobs could not be read (%v)", h.run.ID, unread))
			}
			plans[i].Changes = append(plans[i].Changes, c)
			plans[i].ByHand = append(plans[i].ByHand, p.cancelByHand(h, i == 1))
		}
	}
	plans[0].Title = fmt.Sprintf("cancel the runs of %d jobs on %s", len(on.jobs), v.name)
	plans[1].Title = fmt.Sprintf("force: cancel the runs of %d jobs on %s", len(on.jobs), v.name)
	if len(seen) == 1 { // then the plan says what the change does
		plans[0].Title, plans[1].Title = plans[0].Changes[0].Title, plans[1].Changes[0].Title
	}
	if len(seen) > 0 {
		return plans, nil
	}
	if on.failed != nil { // a read that failed is not the word that no job is there
		return nil, fmt.Errorf("whether a job is on it is not known, because jobs could not be read: %w", on.failed)
	}
	none := p.noJobs(v, on.partial)
	for _, other := range on.apart {
		none.Manual = append(none.Manual, "left alone: "+other)
	}
	return []change.Plan{none}, nil
}

// noJobs is the plan where no job was found. GitHub's word idle decides where not every
// repository could be looked at: what was left out is said, and a removal is refused while
// GitHub counts it as busy.
func (p *Provider) noJobs(v view, partial string) change.Plan {
	plan := change.Plan{Option: "cancel", Title: "no job was found on " + v.name, ByHand: p.byHand(v)}
	if tri(v.runner.Busy) == witness.No {
		plan.Nothing = true
		plan.Manual = []string{"GitHub says that it is idle, and no job is on it in any repository that could be looked at"}
	} else {
		plan.Manual = []string{
			"GitHub says that it is busy, and no job on it can be seen (actions/runner#3775): look with an account that sees its repositories",
			"on the runner's page GitHub names the job that it thinks is on it; its run has the button Cancel workflow",
		}
	}
	if partial != "" {
		plan.Manual = append(plan.Manual, "not looked at: "+partial)
	}
	return plan
}

// runHits is what ends with a run: this runner's job and the other jobs of it. unread is
// why there may be others than those.
func (p *Provider) runHits(ctx context.Context, v view, h hit) (hits []target.Ref, unread, err error) {
	hits = []target.Ref{v.ref}
	others, unread := p.beside(ctx, h)
	if done := finished(ctx, unread); done != nil {
		return nil, nil, done
	}
	for _, j := range others {
		hits = append(hits, target.Ref{
			System: p.o.Name, Scope: target.Scope{Level: repository, Path: h.repo}, Kind: target.Job, ID: strconv.FormatInt(j.ID, 10),
		})
	}
	return hits, unread, nil
}

func (p *Provider) cancelRun(ctx context.Context, h hit, hits []target.Ref, n int, force, more bool) (change.Change, error) {
	// what a person decides by: which job, started how and by whom, on which branch
	title := fmt.Sprintf("cancel run %d of %s with job %d %q (%s by %s on %s)",
		h.run.ID, p.text(h.repo), h.job.ID, p.text(h.job.Name), word(h.run.Event), p.text(cmp.Or(h.who(), "somebody that GitHub does not name")), p.text(h.run.Branch))
	switch n := len(hits) - 1; {
	case more && n > 0:
		title += fmt.Sprintf(" and at least %d other jobs, all of which are not known", n)
	case more:
		title += " and whatever else is in it, which is not known"
	case n > 0:
		title += fmt.Sprintf(" and %d other jobs", n)
	}
	if force {
		title = "force: " + title
	}
	return p.planned(ctx, change.Change{
		ID: "cancel/" + strconv.Itoa(n), Op: opCancel, Title: title, Hits: hits, Before: change.Pack(cancelBefore{h.run.Attempt}),
		Ends: fmt.Sprintf("run %d", h.run.ID), Capacity: "the run fails; it can be started again", TipsOff: cancelTips,
	}, cancel{h.repo, h.run.ID, h.job.ID, force})
}

func (p *Provider) cancelByHand(h hit, force bool) change.Link {
	word := "cancel"
	if force {
		word = "force-cancel"
	}
	return change.Link{
		Title: fmt.Sprintf("run %d", h.run.ID), URL: p.page(fmt.Sprintf("%s/actions/runs/%d", escapeRepo(h.repo), h.run.ID)),
		Command: p.gh(fmt.Sprintf("--method POST %s/actions/runs/%d/%s", repoPath(h.repo), h.run.ID, word)),
	}
}
