package github

import (
	"context"
	"fmt"
	"strings"

	"cordon/internal/change"
	"cordon/internal/target"
)

// planShrink takes everybody out of the runner's group, which hits all runners in it.
func (p *Provider) planShrink(ctx context.Context, v view, t traffic) (change.Plan, bool, error) {
	g := v.group
	if g == nil || g.Visibility != "selected" || g.Inherited || g.Default {
		return change.Plan{}, false, nil
	}
	ids, list, err := p.ids(ctx, v.sc, g.ID)
	if done := finished(ctx, err); done != nil {
		return change.Plan{}, false, done
	}
	if err != nil || len(ids) == 0 {
		return change.Plan{}, false, nil // what it serves is not all known, so it could not be given back
	}
	inside, err := p.inside(ctx, v.sc, g.ID)
	if err != nil {
		return change.Plan{}, false, finished(ctx, err) // who is hit is not known, so it is not offered
	}
	_, word := v.sc.served(g.ID)
	title := fmt.Sprintf("take all %d %s out of the group %s, with its %d runners", len(ids), word, p.text(g.Name), inside)
	c, err := p.plannedWith(
		ctx,
		change.Change{
			ID: "pause/1", Op: opAccess, Title: title, Hits: p.memberRefs(v, list), Before: change.Pack(accessBefore{*g.before(), ids}),
			Capacity: fmt.Sprintf("all %d runners of the group get no job; %s", inside, queue) + t.queue(), Outlives: true,
		},
		access{homeOf(v.sc), v.runner.ID, g.ID, []int64{}},
		change.Change{
			Op: opAccess, Title: fmt.Sprintf("give the group %s its %d %s back", p.text(g.Name), len(ids), word), Before: change.Pack(accessBefore{*g.before(), []int64{}}),
			Capacity: "the queue gains the runners of the group", TipsOff: "the agents are given jobs again",
		},
		access{homeOf(v.sc), v.runner.ID, g.ID, ids},
	)
	if err != nil {
		return change.Plan{}, false, err
	}
	path, _ := v.sc.served(g.ID)
	field := "selected_repository_ids"
	if v.sc.level == enterprise {
		field = "selected_organization_ids"
	}
	return change.Plan{
		Option: "group", Title: title, Changes: []change.Change{c},
		Covers: "no runner of the group is handed a new job: for when the whole group is in doubt",
		Limits: append([]string{fmt.Sprintf("it hits every runner of the group: %d", inside)}, stays...),
		ByHand: append(p.byHand(v, "--method PUT "+path+" --input - <<<'{\""+field+"\":[]}'"), change.Link{Title: "the runner groups", URL: p.settings(v.sc, "runner-groups")}),
	}, true, nil
}

// memberRefs are the repositories or organizations that lose the group.
func (p *Provider) memberRefs(v view, list []member) []target.Ref {
	var out []target.Ref
	for _, m := range list {
		level, kind, name := repository, target.Project, strings.ToLower(m.name())
		if v.sc.level == enterprise {
			level, kind = organization, organization
		}
		ref := target.Ref{System: p.o.Name, Scope: target.Scope{Level: level, Path: name}, Kind: kind, ID: fmt.Sprint(m.ID)}
		if kind == organization {
			ref.ID = name // by which people know it
		}
		out = append(out, ref)
	}
	return out
}
