package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/providers"
)

// planActionsOff switches Actions off where the runner is registered. It is planned only
// where one call gives back exactly what was: why says why it is not.
func (p *Provider) planActionsOff(ctx context.Context, v view, t traffic) (plan change.Plan, why string, err error) {
	now, err := p.actionsPolicyOf(ctx, v.sc)
	if done := finished(ctx, err); done != nil {
		return plan, "", done
	}
	const not = "turning Actions off is not offered: "
	switch {
	case err != nil:
		return plan, not + "the policy cannot be read (" + err.Error() + ")", nil
	case now.Enabled == policyNone:
		return plan, fmt.Sprintf("Actions is off already for %s", v.sc), nil
	case now.Enabled == policySelected:
		return p.planNobody(ctx, v, t)
	case now.Allowed == "" || now.Allowed == policySelected:
		return plan, not + "it allows selected actions, or does not say which: whether that list outlives the switch is not documented, so one call could not give it back; write it down before you do it by hand", nil
	}
	what, hit, err := p.blast(ctx, v, t)
	if err != nil {
		return plan, "", err
	}
	c, err := p.plannedWith(
		ctx,
		change.Change{
			ID: "pause/1", Op: opActions, Title: "turn Actions off for " + what, Hits: []target.Ref{hit}, Before: change.Pack(now),
			Capacity: "no workflow of " + what + " runs, on any runner, GitHub's own included" + t.queue(),
		},
		actionsSet{homeOf(v.sc), actionsPolicy{Enabled: policyNone}},
		change.Change{
			Op: opActions, Title: "turn Actions on again for " + v.sc.String() + ", as it was", Before: change.Pack(actionsPolicy{Enabled: policyNone}),
			Capacity: "its workflows start again; what would have started them in the meantime is not made up for", TipsOff: "everybody sees workflows run again",
		},
		actionsSet{homeOf(v.sc), now},
	)
	return p.wide(v, c), "", err
}

// planNobody empties the list of whom a selective policy serves.
func (p *Provider) planNobody(ctx context.Context, v view, t traffic) (plan change.Plan, why string, err error) {
	path := chosenPath(v.sc, ofActions)
	ids, list, err := p.idsAt(ctx, v.sc, path)
	if done := finished(ctx, err); done != nil {
		return plan, "", done
	}
	switch {
	case err != nil:
		return plan, fmt.Sprintf("turning Actions off is not offered: whom it is on for is not all known, and could not be given back (%v)", err), nil
	case len(ids) == 0:
		return plan, fmt.Sprintf("Actions of %s is on for nobody already", v.sc), nil
	}
	word := map[bool]string{true: "organizations", false: "repositories"}[v.sc.level == enterprise]
	c, err := p.plannedWith(
		ctx,
		change.Change{
			ID: "pause/1", Op: opChosen, Title: fmt.Sprintf("turn Actions off for the %d %s of %s that have it", len(ids), word, v.sc), Hits: p.memberRefs(v, list),
			Before: change.Pack(chosenBefore{ids}), Capacity: fmt.Sprintf("no workflow of %d %s runs, on any runner, GitHub's own included", len(ids), word) + t.queue(),
		},
		chosen{homeOf(v.sc), ofActions, []int64{}},
		change.Change{
			Op: opChosen, Title: fmt.Sprintf("turn Actions on again for the %d %s of %s that had it", len(ids), word, v.sc), Before: change.Pack(chosenBefore{[]int64{}}),
			Capacity: "their workflows start again", TipsOff: "everybody sees workflows run again",
		},
		chosen{homeOf(v.sc), ofActions, ids},
	)
	return p.wide(v, c), "", err
}

// wide is the plan of a switch for all of a scope.
func (p *Provider) wide(v view, c change.Change) change.Plan {
	body := strings.TrimSpace(c.Call.Body)
	path := v.sc.policyPath()
	if c.Op == opChosen {
		path = chosenPath(v.sc, ofActions)
	}
	return change.Plan{
		Option: "actions-off", Title: c.Title, Changes: []change.Change{c}, Partial: true,
		Covers: "no workflow runs there, whoever starts it: for when the attacker can start workflows anew; the agent is not told",
		Limits: append([]string{
			"it hits all CI there, on every runner and at GitHub's own, and deployments with it",
			"what it does to runs that wait or run already is not documented: cancel those",
			"an administrator there can turn it on again; what would have started workflows in the meantime is not made up for",
		}, stays...),
		ByHand: append(p.byHand(v, "--method PUT "+path+" --input - <<<'"+body+"'"), change.Link{Title: "the Actions policy", URL: p.policyPage(v.sc)}),
	}
}

// blast is what a switch for all of a scope stops, in numbers as far as GitHub tells them.
func (p *Provider) blast(ctx context.Context, v view, t traffic) (what string, hit target.Ref, err error) {
	hit = target.Ref{System: p.o.Name, Scope: v.sc.target(), Kind: v.sc.level, ID: v.sc.path}
	what = v.sc.String()
	switch v.sc.level {
	case enterprise:
		return what + " (all its organizations: GitHub's REST API does not count them)", hit, nil
	case organization:
		a, err := p.act.get(ctx, v.sc.prefix(), nil)
		var n wireCounts
		if err == nil {
			n, err = decode[wireCounts](a)
		}
		if done := finished(ctx, err); done != nil {
			return "", hit, done
		}
		if total := n.Public + n.Private; err == nil && total > 0 {
			return fmt.Sprintf("%s (all its repositories: at least %d)", what, total), hit, nil
		}
		return what + " (all its repositories: how many is not known)", hit, nil
	}
	a, err := p.act.get(ctx, v.sc.prefix()+"/actions/workflows", url.Values{"per_page": {"1"}})
	var l wireWorkflows
	if err == nil {
		l, err = decode[wireWorkflows](a)
	}
	if done := finished(ctx, err); done != nil {
		return "", hit, done
	}
	workflows := "how many workflows it has is not known"
	if err == nil && l.Total != nil {
		workflows = fmt.Sprintf("%d workflows", *l.Total)
	}
	runs := "how many runs is not known"
	if t.err == nil && t.read > 0 {
		runs = fmt.Sprintf("%d runs since %s", t.runs, t.since.UTC().Format("2006-01-02"))
	}
	return fmt.Sprintf("%s (%s, %s)", what, workflows, runs), p.projectHit(v.sc.path), nil
}

// planNoRunners takes a repository's runner back in part, and forbids runners of their own
// to the repositories of its organization: whoever can register one there could register
// this machine again. GitHub documents that for new ones alone (docs: disabling or limiting
// Actions for your organization), so that it is no pause by itself.
func (p *Provider) planNoRunners(ctx context.Context, v view, labels []change.Plan) (plan change.Plan, why string, err error) {
	if v.sc.level != repository || len(labels) == 0 {
		return plan, "", nil
	}
	org, _, _ := strings.Cut(v.sc.path, "/")
	home := scope{organization, org}
	mode, err := p.runnersPolicyOf(ctx, org)
	if done := finished(ctx, err); done != nil {
		return plan, "", done
	}
	var c change.Change
	switch {
	case errors.Is(err, providers.ErrNotFound):
		return plan, "whether repositories may have runners of their own is a policy of organizations, and " + org + " is none or does not show it to this credential", nil
	case err != nil:
		return plan, "forbidding new runners of repositories is not offered: the policy cannot be read (" + err.Error() + ")", nil
	case mode == policyNone:
		return plan, "no repository of " + org + " may have a new runner of its own already", nil
	case mode == policyAll:
		c, err = p.plannedWith(
			ctx,
			change.Change{Op: opRunners, Title: "forbid new runners of their own to all repositories of " + org, Before: change.Pack(runnersBefore{mode})},
			runnersSet{org, policyNone},
			change.Change{Op: opRunners, Title: "allow all repositories of " + org + " runners of their own again", Before: change.Pack(runnersBefore{policyNone}), Capacity: "nothing"},
			runnersSet{org, policyAll},
		)
	default:
		ids, _, lerr := p.idsAt(ctx, home, chosenPath(home, ofRunners))
		if done := finished(ctx, lerr); done != nil {
			return plan, "", done
		}
		if lerr != nil || len(ids) == 0 {
			return plan, "forbidding new runners of repositories is not offered: which ones may have them is not all known, or none", nil
		}
		c, err = p.plannedWith(
			ctx,
			change.Change{Op: opChosen, Title: fmt.Sprintf("forbid new runners of their own to the %d repositories of %s that may have them", len(ids), org), Before: change.Pack(chosenBefore{ids})},
			chosen{homeOf(home), ofRunners, []int64{}},
			change.Change{Op: opChosen, Title: fmt.Sprintf("allow %d repositories of %s runners of their own again", len(ids), org), Before: change.Pack(chosenBefore{[]int64{}}), Capacity: "nothing"},
			chosen{homeOf(home), ofRunners, ids},
		)
	}
	if err != nil {
		return plan, "", err
	}
	plan = labels[0]
	c.ID, c.Hits = "pause/2", []target.Ref{{System: p.o.Name, Scope: home.target(), Kind: organization, ID: org}}
	c.Capacity = "nobody registers another runner of a repository of " + org + "; what it does to those that are registered is not documented"
	if c.Undo != nil {
		c.Undo.ID, c.Undo.Hits = c.ID+"/undo", c.Hits
	}
	plan.Option, plan.Title = "no-new-runners", plan.Title+", and "+c.Title
	plan.Covers += "; nobody registers a new runner of a repository of " + org
	plan.Limits = append([]string{"the policy hits every repository of " + org + " for new runners alone: for a runner that is registered nothing is documented"}, plan.Limits...)
	plan.Changes = []change.Change{plan.Changes[0], c}
	plan.ByHand = append(plan.ByHand[:len(plan.ByHand):len(plan.ByHand)], change.Link{Title: "the organization's Actions policy", URL: p.policyPage(home)})
	return plan, "", nil
}

func (p *Provider) policyPage(sc scope) string {
	switch sc.level {
	case enterprise:
		return p.page("enterprises/" + sc.path + "/settings/actions")
	case organization:
		return p.page("organizations/" + sc.path + "/settings/actions")
	}
	return p.page(escapeRepo(sc.path) + "/settings/actions")
}
