package github

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cordon/internal/change"
)

// GitHub has no pause (docs: self-hosted runner removal). What comes near it, best first:
// a group that serves nobody; no custom labels; a group that is shrunk; switches that are
// wider than a runner; the host.
func (p *Provider) planPause(ctx context.Context, v view) ([]change.Plan, error) {
	uses, err := p.traffic(ctx, v)
	if err != nil {
		return nil, err
	}
	loses, err := p.capacity(ctx, v, uses)
	if err != nil {
		return nil, err
	}
	var plans []change.Plan
	if v.sc.grouped() {
		plan, err := p.planQuarantine(ctx, v, loses)
		if err != nil {
			return nil, err
		}
		if plan.Nothing {
			return []change.Plan{plan}, nil
		}
		plans = append(plans, plan)
	}
	more, err := p.planLabels(ctx, v, loses)
	if err != nil {
		return nil, err
	}
	plans = append(plans, more...)
	if shrink, ok, err := p.planShrink(ctx, v, uses); err != nil {
		return nil, err
	} else if ok {
		plans = append(plans, shrink)
	}
	wide, err := p.planSwitches(ctx, v, uses, more)
	if err != nil {
		return nil, err
	}
	return append(append(plans, wide...), p.planHostStop(v)), nil
}

// stays is what no pause from here does.
var stays = []string{
	"a job that runs goes on to its end, with its secrets: cancel it",
	"it stays registered and connected: whoever has its key is still that runner",
}

const queue = "jobs that ask for it wait; a job that waits for 24 hours fails"

// planQuarantine moves the runner into a group that serves nobody: one that is there and
// reads as such, or a new one with the runner in it, in one call.
func (p *Provider) planQuarantine(ctx context.Context, v view, loses string) (change.Plan, error) {
	plan := change.Plan{
		Option: "quarantine", Title: "move " + v.name + " into a runner group that serves nobody",
		Covers: "GitHub hands it no new job: its group may be used by no repository; the agent is not told",
		Limits: append(slices.Clone(stays), v.ephemeral()...),
	}
	if v.sc.level == enterprise {
		plan.Covers = "GitHub hands it no new job: its group may be used by no organization; the agent is not told"
	}
	all, err := p.allGroups(ctx, v.sc)
	if done := finished(ctx, err); done != nil {
		return plan, done
	}
	if err != nil {
		plan.Manual = []string{"the runner groups cannot be read (" + err.Error() + "): somebody with the right moves it, on the page below, into a group with selected repositories and none selected"}
		plan.ByHand = p.groupPages(v)
		return plan, nil
	}
	if v.group != nil {
		why, err := p.seal(ctx, v.sc, *v.group)
		if err != nil {
			return plan, err
		}
		if why == "" {
			plan.Title, plan.Nothing = v.name+" is out of reach already", true
			plan.Manual = []string{fmt.Sprintf("it is in the group %s, which serves nobody", p.text(v.group.Name))}
			return plan, nil
		}
	}
	if v.group != nil {
		p.memory.leaves(v.sc, v.runner.ID, v.group.ID)
	}
	into, passed, err := p.quarantineIn(ctx, v, all)
	if err != nil {
		return plan, err
	}
	plan.Limits = append(plan.Limits, passed...)
	c := change.Change{ID: "pause/1", Hits: p.hits(v), Capacity: loses, Before: change.Pack(v.before())}
	var op operation
	back := &groupBefore{Name: p.freshName(v, all), Visibility: "selected"}
	if into != nil {
		back = into.before()
		c.Op, c.Title = opMove, fmt.Sprintf("move %s into the group %s, which serves nobody", v.name, p.text(into.Name))
		op = move{homeOf(v.sc), v.runner.ID, into.ID, true}
		plan.ByHand = p.byHand(v, fmt.Sprintf("--method PUT %s/runners/%d", v.sc.group(into.ID), v.runner.ID))
	} else {
		c.Op, c.Title = opGroupNew, fmt.Sprintf("make the group %s, which serves nobody, with %s in it", back.Name, v.name)
		op = groupNew{homeOf(v.sc), v.runner.ID, back.Name}
		c.Leaves = p.leftGroup(v, back.Name)
		plan.Limits = append(plan.Limits, "some plans of GitHub allow no further group: it says so when this is confirmed, and nothing has changed then",
			"an undo leaves the empty group behind; a resume removes it")
		plan.ByHand = p.groupPages(v)
	}
	undo, home := change.Change{}, operation(nil)
	switch {
	case v.group == nil:
		plan.Limits = append(plan.Limits, "it cannot be put back from here: "+v.noGroup+"; write down its group before you go on")
	case v.group.Inherited:
		plan.Limits = append(plan.Limits, fmt.Sprintf("it cannot be put back from here: its group %s is the enterprise's", p.text(v.group.Name)))
	default:
		undo = change.Change{
			Op: opMove, Title: fmt.Sprintf("put %s back into its group %s", v.name, p.text(v.group.Name)),
			Before: change.Pack(v.runner.before(back)), Capacity: "the queue gains this runner; jobs that wait for it start at once",
			TipsOff: "the agent is given jobs again",
		}
		home = move{homeOf(v.sc), v.runner.ID, v.group.ID, false}
		plan.Limits = append(plan.Limits, fmt.Sprintf("to undo it, it is put back into %s: taking it out of a group sends it to the default one", p.text(v.group.Name)))
	}
	if c, err = p.plannedWith(ctx, c, op, undo, home); err != nil {
		return plan, err
	}
	plan.Title, plan.Changes = c.Title, []change.Change{c}
	return plan, nil
}

// quarantineIn is the group that takes it in: the one that is named after the case, else
// one that is named after none; nil: a new one is made. passed says which were no use.
func (p *Provider) quarantineIn(ctx context.Context, v view, all []group) (*group, []string, error) {
	var passed []string
	for _, name := range slices.Compact([]string{quarantineName(v.caseID), Quarantine}) {
		for i, g := range all {
			if g.Name != name {
				continue
			}
			why, err := p.seal(ctx, v.sc, g)
			if err != nil {
				return nil, nil, err
			}
			if why == "" {
				return &all[i], passed, nil
			}
			passed = append(passed, fmt.Sprintf("the group %s is no quarantine: %s", p.text(g.Name), why))
		}
	}
	return nil, passed, nil
}

// leftGroup is how the group that was made is removed: nothing does it while a runner is
// in it, and its number is not known before.
func (p *Provider) leftGroup(v view, name string) string {
	return fmt.Sprintf("the group %s of %s %s, empty: remove it on %s", name, v.sc.level, p.text(v.sc.path), p.settings(v.sc, "runner-groups"))
}

// freshName is a name that no group has.
func (p *Provider) freshName(v view, all []group) string {
	name := quarantineName(v.caseID)
	taken := func(n string) bool {
		return slices.ContainsFunc(all, func(g group) bool { return strings.EqualFold(g.Name, n) })
	}
	for i := 2; taken(name); i++ {
		name = fmt.Sprintf("%s.%d", quarantineName(v.caseID), i)
	}
	return name
}

func (p *Provider) groupPages(v view) []change.Link {
	return append(p.byHand(v), change.Link{Title: "the runner groups", URL: p.settings(v.sc, "runner-groups")})
}
