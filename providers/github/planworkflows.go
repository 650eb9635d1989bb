package github

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cordon/internal/change"
)

// maxSwitched is how many workflows one plan disables: each is read first.
const maxSwitched = 5

// planWorkflows disables the workflows whose jobs are on the runner, were on it lately or
// wait for it, and that are active. why says why there is no such plan.
func (p *Provider) planWorkflows(ctx context.Context, v view, t traffic) (plan change.Plan, why string, err error) {
	plan = change.Plan{
		Option: "workflows", Partial: true,
		Covers: "no event, schedule or person starts these workflows any more, on any runner: for when the workflow itself is the attacker's; the agent is not told",
		Limits: slices.Concat([]string{
			"it is a partial pause: the jobs of every other workflow still come to it, and whoever may push can add one",
			"what it does to their runs that wait or run already is not documented: cancel those",
			"what would have started them in the meantime is not made up for when they are enabled again",
		}, stays, v.ephemeral()),
	}
	if t.err != nil {
		return plan, "which workflows use it could not be seen: " + t.err.Error(), nil
	}
	for _, f := range t.flows {
		name := string(p.text(f.repo + ": " + f.path))
		switch {
		case !workflowFile.MatchString(f.path):
			plan.Limits = append(plan.Limits, name+" is no file of that repository, so that it cannot be disabled there")
			continue
		case len(plan.Changes) == maxSwitched:
			plan.Limits = append(plan.Limits, "left out, as the most of one plan: "+name)
			continue
		}
		w, err := p.workflowOf(ctx, f.repo, f.id)
		if done := finished(ctx, err); done != nil {
			return plan, "", done
		}
		switch {
		case err != nil:
			plan.Limits = append(plan.Limits, fmt.Sprintf("left alone: %s: %v", name, err))
			continue
		case w.State != workflowOn:
			plan.Limits = append(plan.Limits, "left alone: "+name+" is "+word(w.State)+" already")
			continue
		}
		c, err := p.switched(ctx, v, f, w, len(plan.Changes)+1, t)
		if err != nil {
			return plan, "", err
		}
		if f.scheduled {
			plan.Limits = append(plan.Limits, name+" is started by a schedule too: its runs then have as their actor whoever enabled it last (orgs/community#25067)")
		}
		plan.Changes = append(plan.Changes, c)
		plan.ByHand = append(plan.ByHand, p.workflowByHand(f)...)
	}
	if t.partial != "" {
		plan.Limits = append(plan.Limits, "there may be more: "+t.partial)
	}
	switch n := len(plan.Changes); n {
	case 0:
		why := fmt.Sprintf("no workflow that could be disabled has a job on it, had one since %s, or has one that waits for it", t.since.UTC().Format("2006-01-02"))
		return plan, strings.TrimSuffix(why+"; "+t.partial, "; "), nil
	case 1:
		plan.Title = plan.Changes[0].Title
	default:
		plan.Title = fmt.Sprintf("disable %d workflows whose jobs use %s", n, v.name)
	}
	return plan, "", nil
}

// switched is the change that disables one workflow, with what stops by it in numbers.
func (p *Provider) switched(ctx context.Context, v view, f *flow, w wireWorkflow, n int, t traffic) (change.Change, error) {
	name := fmt.Sprintf("the workflow %q (%s) of %s", p.text(w.Name), p.text(w.Path), p.text(f.repo))
	runs := map[bool]string{true: "at least "}[f.more] + strconv.Itoa(f.runs)
	c := change.Change{
		ID: fmt.Sprintf("pause/%d", n), Op: opWorkflow, Title: "disable " + name, Before: change.Pack(workflowBefore{w.State, w.Path}),
		Capacity: fmt.Sprintf("%s of %s starts on no runner, GitHub's own included: it had %s runs since %s; of its jobs %d are on this runner and %d wait that ask for labels it has",
			p.text(f.file()), p.text(f.repo), runs, t.since.UTC().Format("2006-01-02"), f.on, f.waits),
	}
	c.Hits = append(c.Hits, p.projectHit(f.repo))
	undo := change.Change{
		Op: opWorkflow, Title: "enable " + name, Before: change.Pack(workflowBefore{workflowOff, w.Path}),
		Capacity: "events start it again; those of the meantime are not made up for", TipsOff: "whoever watches the workflow sees it start again",
	}
	return p.plannedWith(ctx, c, workflowSwitch{f.repo, f.id, false}, undo, workflowSwitch{f.repo, f.id, true})
}

func (p *Provider) workflowByHand(f *flow) []change.Link {
	return []change.Link{
		{Title: "with gh", Command: p.gh("--method PUT " + workflowPath(f.repo, f.id) + "/disable")},
		{Title: "its page: ⋯, Disable workflow", URL: p.page(escapeRepo(f.repo) + "/actions/workflows/" + f.file())},
	}
}
