package github

import (
	"context"
	"fmt"

	"cordon/internal/change"
)

// planSwitches are what is wider than a runner: the workflows that use it, Actions where it
// is registered, the policy that lets repositories have runners. What could not be given
// back by one call is not offered, and named with the reason, as is what is left to people.
func (p *Provider) planSwitches(ctx context.Context, v view, t traffic, labels []change.Plan) ([]change.Plan, error) {
	var plans []change.Plan
	var left []string
	for _, make := range []func() (change.Plan, string, error){
		func() (change.Plan, string, error) { return p.planWorkflows(ctx, v, t) },
		func() (change.Plan, string, error) { return p.planActionsOff(ctx, v, t) },
		func() (change.Plan, string, error) { return p.planNoRunners(ctx, v, labels) },
	} {
		plan, why, err := make()
		switch {
		case err != nil:
			return nil, err
		case why != "":
			left = append(left, why)
		case len(plan.Changes) > 0:
			plans = append(plans, plan)
		}
	}
	if v.sc.level == organization && v.group != nil && v.group.Visibility != policySelected && !v.group.Default && !v.group.Inherited {
		left = append(left, fmt.Sprintf("set the group %s to selected repositories and none: hits all of its runners; write down its visibility and flags first, as they take several calls to give back", p.text(v.group.Name)))
	}
	if len(left) == 0 {
		return plans, nil
	}
	return append(plans, change.Plan{
		Option: "policy", Title: "switches that are wider than " + v.name + " and not offered here",
		Covers: "for when the workflows themselves are the attacker's, or new runners keep appearing",
		Manual: left, ByHand: []change.Link{{Title: "the Actions policy", URL: p.policyPage(v.sc)}},
	}), nil
}

// planHostStop points to the host, where alone a runner can be made to stop.
func (p *Provider) planHostStop(v view) change.Plan {
	return change.Plan{
		Option: "host", Title: "stop the agent of " + v.name + " on its host",
		Covers: "the only stop that does not depend on GitHub",
		Manual: []string{
			"the step that stops the agent does it on hosts of the case; by hand: sudo ./svc.sh stop, then systemctl disable the unit that is named in .service, or it starts again with the machine",
			"a worker and what it started may live on (KillMode=process): look at the processes",
			"a runner that is stopped for 14 days is removed by GitHub by itself (an ephemeral one after 1)",
		},
		ByHand: p.byHand(v),
	}
}
