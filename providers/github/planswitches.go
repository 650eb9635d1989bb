package github

import (
	"fmt"

	"cordon/internal/change"
)

// planSwitches names what is wider than a runner. It is done by hand: what those switches
// do to a runner that is registered and to jobs that run is not documented, and what they
// hit is not this runner's.
func (p *Provider) planSwitches(v view) change.Plan {
	plan := change.Plan{
		Option: "policy", Title: "switches that are wider than " + v.name,
		Covers: "for when the workflows themselves are the attacker's, or new runners keep appearing",
		Manual: []string{
			"disable the workflow that is misused (Actions, the workflow, ⋯, Disable workflow): its jobs stop being started, on every runner",
			"turn Actions off for a repository: hits all of its CI, hosted runners too; what happens to its running jobs is not documented",
		},
	}
	switch v.sc.level {
	case organization:
		plan.Manual = append(plan.Manual, "allow repository-level runners for no repository (Settings, Actions, General, Runners): nobody can register a new one there; what it does to registered ones is not documented")
		plan.ByHand = []change.Link{{Title: "the organization's Actions policy", URL: p.page("organizations/" + v.sc.path + "/settings/actions")}}
		if v.group != nil && v.group.Visibility != "selected" && !v.group.Default {
			plan.Manual = append(plan.Manual, fmt.Sprintf("set the group %s to selected repositories and none: hits all of its runners; write down its visibility and flags first, as they take several calls to give back", p.text(v.group.Name)))
		}
	case enterprise:
		plan.ByHand = []change.Link{{Title: "the enterprise's Actions policy", URL: p.page("enterprises/" + v.sc.path + "/settings/actions")}}
	default:
		plan.ByHand = []change.Link{{Title: "the repository's Actions settings", URL: p.page(escapeRepo(v.sc.path) + "/settings/actions")}}
	}
	return plan
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
