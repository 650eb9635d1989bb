package gitlab

import (
	"context"
	"fmt"

	"cordon/internal/change"
	"cordon/internal/untrusted"
)

// refusedAgent is what gitlab-runner does when its token is refused (measured with
// 18.6.0: three requests 3 s apart, then an hour of silence, for ever).
const refusedAgent = `the agent logs "Checking for jobs... forbidden" three times, then "is unhealthy and will be disabled", and knocks again every hour`

func (p *Provider) planRotate(ctx context.Context, v view) ([]change.Plan, error) {
	capacity, err := p.capacity(ctx, v.runner)
	if err != nil {
		return nil, err
	}
	var plans []change.Plan
	for _, d := range p.destinations() {
		title := fmt.Sprintf("give %s a new token, to %s", v.name, untrusted.Text(d.Title))
		if d.Kind == Discard {
			title = fmt.Sprintf("give %s a new token and discard it: %s", v.name, v.down())
		}
		c, err := p.change(ctx, v, change.Change{
			ID: "rotate/1", Op: opRotate, Title: title,
			Args: change.Pack(rotateArgs{v.runner.ID, d.Name, d.Kind}), Before: packBefore(v.runner, ""),
			Capacity: "until an agent has the new token: " + capacity, TipsOff: refusedAgent, Issues: true,
		})
		if err != nil {
			return nil, err
		}
		limits := []string{
			v.breadth(),
			"a job that runs keeps its own job token and goes on to its end: cancel it first",
			"an idle agent with the old token may be answered 204 for up to an hour before its first refusal; it can get no job",
			"whoever holds the present token can replace it too; if they did, the honest agent is already refused",
		}
		if d.Kind == Discard {
			limits = append([]string{"the new token is kept nowhere: " + v.down() + " until the token is replaced again or the runner is registered anew"}, limits...)
		}
		plans = append(plans, change.Plan{
			Option: d.Name, Title: title, Covers: "the runner token that may be stolen is refused everywhere", Limits: limits,
			Changes: []change.Change{c}, TipsOff: refusedAgent,
			ByHand: p.byHand(v, fmt.Sprintf("--method POST runners/%d/reset_authentication_token --silent", v.runner.ID)),
		})
	}
	return plans, nil
}

// destinations are the configured ones, then discarding, which needs nothing.
func (p *Provider) destinations() []Destination {
	out := append([]Destination(nil), p.o.Destinations...)
	for _, d := range out {
		if d.Kind == Discard {
			return out
		}
	}
	name := Discard
	for p.named(name) {
		name += "-new-token"
	}
	return append(out, Destination{Name: name, Kind: Discard, Title: "nowhere"})
}

func (p *Provider) named(name string) bool {
	for _, d := range p.o.Destinations {
		if d.Name == name {
			return true
		}
	}
	return false
}

func (p *Provider) planDeregister(ctx context.Context, v view) ([]change.Plan, error) {
	capacity, err := p.capacity(ctx, v.runner)
	if err != nil {
		return nil, err
	}
	c, err := p.change(ctx, v, change.Change{
		ID: "deregister/1", Op: opDeregister, Title: "remove " + v.name, Args: change.Pack(runnerArgs{v.runner.ID}),
		Before: packBefore(v.runner, ""), Capacity: capacity,
		Destroys: []string{p.kept("runner.json"), p.kept("managers.json"), "host/*/snapshot.json"}, TipsOff: refusedAgent,
	})
	if err != nil {
		return nil, err
	}
	limits := []string{
		"it cannot be undone: the id, its managers and their addresses are gone from GitLab; a new registration has another id and token",
		v.breadth(),
		"a job that runs keeps its job token and goes on to its end: cancel it first",
		"the agent does not stop and never removes the runner from its config.toml: it is refused and knocks again every hour",
		"whoever can create runners can register the machine again: look for it afterwards",
	}
	if n := len(v.runner.Projects); n > 1 {
		limits = append(limits, fmt.Sprintf("it is assigned to %d projects: only an administrator may remove it (403), others unassign it first", n))
	}
	manual := change.Plan{
		Option: "by-hand", Title: "remove " + v.name + " by hand", Covers: "for where this credential may not remove it",
		Manual: []string{
			"an administrator removes it on its page, or runs the command below",
			"on a host that is trusted again: gitlab-runner unregister --name NAME removes only that machine's manager for a glrt- token; the registration stays",
			"where the role is too low in one project: unassign the runner from every other project, then remove it",
		},
		ByHand: p.byHand(v, fmt.Sprintf("--method DELETE runners/%d", v.runner.ID)),
	}
	return []change.Plan{{
		Option: "registration", Title: c.Title, Covers: "no token of this registration is ever accepted again", Limits: limits,
		Changes: []change.Change{c}, TipsOff: refusedAgent, ByHand: manual.ByHand,
	}, manual}, nil
}
