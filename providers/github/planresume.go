package github

import (
	"context"
	"fmt"

	"cordon/internal/change"
	"cordon/internal/target"
)

// maxHomes is how many groups a resume offers.
const maxHomes = 20

// planResume puts a runner that is held back into a group that serves somebody. GitHub does
// not keep which one it came from, nor which labels it had: the case does, and its undo.
func (p *Provider) planResume(ctx context.Context, v view) ([]change.Plan, error) {
	byHand := change.Plan{
		Option: "by-hand", Title: "give " + v.name + " jobs again by hand",
		Covers: "GitHub does not keep where it was and which labels it had",
		Manual: []string{
			"where a case held it back: stand that case down (cordon case stand-down), which puts back the saved group and labels exactly",
			"otherwise move it and set its labels on its page; what they were is in the evidence of the case (provider/…/runner.json, group.json)",
		},
		ByHand: p.byHand(v),
	}
	if v.group == nil {
		return []change.Plan{byHand}, nil
	}
	why, err := p.seal(ctx, v.sc, *v.group)
	if err != nil {
		return nil, err
	}
	if why != "" {
		byHand.Title = v.name + " is in a group that serves somebody"
		byHand.Manual = append([]string{"only its labels could hold it back: it has " + orNone(string(p.text(fmt.Sprint(v.runner.custom()))))}, byHand.Manual...)
		return []change.Plan{byHand}, nil
	}
	all, err := p.allGroups(ctx, v.sc)
	if err != nil {
		return nil, err
	}
	inside, err := p.inside(ctx, v.sc, v.group.ID)
	if err != nil {
		return nil, err
	}
	plans := []change.Plan{}
	for _, g := range all {
		if g.ID == v.group.ID || g.Inherited || g.quarantine() || len(plans) == maxHomes {
			continue
		}
		plan, err := p.resumeInto(ctx, v, g, inside == 1)
		if err != nil {
			return nil, err
		}
		plans = append(plans, plan)
	}
	return append(plans, byHand), nil
}

func orNone(s string) string {
	if s == "[]" {
		return "no custom label"
	}
	return s
}

// resumeInto moves the runner into g and then removes the quarantine that it leaves empty.
func (p *Provider) resumeInto(ctx context.Context, v view, g group, last bool) (change.Plan, error) {
	title := fmt.Sprintf("move %s into the group %s", v.name, p.text(g.Name))
	c, err := p.plannedWith(
		ctx,
		change.Change{
			ID: "resume/1", Op: opMove, Title: title, Hits: p.hits(v), Before: change.Pack(v.before()),
			Capacity: "the queue gains this runner; jobs that wait for it start at once", TipsOff: "the agent is given jobs again",
		},
		move{homeOf(v.sc), v.runner.ID, g.ID, false},
		change.Change{
			Op: opMove, Title: fmt.Sprintf("move %s back into the group %s", v.name, p.text(v.group.Name)),
			Before: change.Pack(v.runner.before(g.before())), Capacity: queue,
		},
		move{homeOf(v.sc), v.runner.ID, v.group.ID, true},
	)
	plan := change.Plan{
		Option: fmt.Sprintf("group-%d", g.ID), Title: title, Covers: "GitHub hands it jobs of that group again, with their secrets", TipsOff: c.TipsOff,
		Limits: []string{
			"which group it came from is in its case, not at GitHub: a runner in another group serves other repositories",
			"its labels stay as they are: " + orNone(string(p.text(fmt.Sprint(v.runner.custom())))),
		},
		Changes: []change.Change{c}, ByHand: p.byHand(v, fmt.Sprintf("--method PUT %s/runners/%d", v.sc.group(g.ID), v.runner.ID)),
	}
	if err != nil || !last || !v.group.quarantine() || v.group.Default {
		return plan, err
	}
	gone, err := p.planned(ctx, change.Change{
		ID: "resume/2", Op: opGroupRemove, Title: fmt.Sprintf("remove the group %s, which is empty then", p.text(v.group.Name)), Hits: []target.Ref{p.groupHit(v.sc, *v.group)},
		Before: change.Pack(*v.group.before()), Capacity: "nothing: no runner is in it",
	}, groupRemove{homeOf(v.sc), v.runner.ID, v.group.ID, v.group.Name})
	plan.Changes = append(plan.Changes, gone)
	plan.Limits = append(plan.Limits, "the group is removed only if it is empty then, and cannot be had back: another one has another number")
	return plan, err
}
