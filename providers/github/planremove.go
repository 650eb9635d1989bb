package github

import (
	"context"

	"cordon/internal/change"
)

// removedAgent is what an agent does when its registration is gone (actions/runner: from
// 2.336.0 on it removes its own files; older ones end or knock for ever, #3328).
const removedAgent = "from 2.336.0 on the agent removes its own .runner and .credentials and ends; older ones end or ask again for ever"

// planRotate is by hand: GitHub has no call that replaces a runner's key.
func (p *Provider) planRotate(_ context.Context, v view) ([]change.Plan, error) {
	return []change.Plan{{
		Option: "by-hand", Title: "GitHub cannot give " + v.name + " another credential",
		Covers: "what takes its credential away is the removal of the runner, which comes later here, after its hosts were read; a new registration gets a new key",
		Manual: []string{
			"the runner's key (.credentials_rsaparams) is dead once the registration is removed, and not before",
			"a registration or removal token lives for one hour; GitHub lists none and revokes none: wait 60 minutes after the last time that somebody could have made one, and revoke the token or App that could (verb revoke)",
			"config.sh --replace with the same name registers another key: whoever holds a registration token can do that to yours, too",
			"the tokens of its jobs end with the jobs: cancel them",
			"what the jobs could read (secrets, deploy keys, cloud roles) is replaced by its owners: see the exposure list",
		},
		Limits: []string{"skip this step with what was decided as the reason; it is not a rotation that was forgotten"},
		ByHand: p.byHand(v),
	}}, nil
}

func (p *Provider) planDeregister(ctx context.Context, v view) ([]change.Plan, error) {
	uses, err := p.traffic(ctx, v)
	if err != nil {
		return nil, err
	}
	loses, err := p.capacity(ctx, v, uses)
	if err != nil {
		return nil, err
	}
	destroys := []string{p.keptOf(v.ref, "runner.json"), "host/*/snapshot.json"}
	if v.sc.grouped() {
		destroys = append(destroys, p.keptOf(v.ref, "group.json"))
	}
	c, err := p.planned(ctx, change.Change{
		ID: "deregister/1", Op: opDeregister, Title: "remove " + v.name, Hits: p.hits(v), Before: change.Pack(v.before()),
		Capacity: loses, Destroys: destroys, TipsOff: removedAgent,
	}, deregister{homeOf(v.sc), v.runner.ID})
	if err != nil {
		return nil, err
	}
	limits := append([]string{
		"it cannot be undone: a new registration has another id and another key, and an agent that is too old cannot be registered again",
		"GitHub refuses it (422) while it counts the runner as busy, and has no force: hold it back and cancel its runs first, then again",
		"a job that runs keeps its tokens and goes on to its end; nothing on the host ends by this",
		"an agent of 2.336.0 or later then removes the files that prove which registration it had: its hosts have to be read before",
		"an older agent keeps its files, and config.sh remove then asks for a removal token (actions/runner#3241): once its host is read, delete .runner and .credentials* there",
		"whoever can make registration tokens can register the machine again: look for it afterwards",
	}, v.ephemeral()...)
	byHand := p.byHand(v, "--method DELETE "+v.sc.prefix()+"/actions/runners/"+v.ref.ID)
	return []change.Plan{
		{
			Option: "registration", Title: c.Title, Covers: "the key of this registration is never accepted again", Limits: limits,
			Changes: []change.Change{c}, TipsOff: removedAgent, ByHand: byHand,
		},
		{
			Option: "by-hand", Title: "remove " + v.name + " by hand", Covers: "for where this credential may not remove it",
			Manual: []string{
				"somebody with admin rights removes it on its page (Force remove), or runs the command below",
				"never on the host with config.sh remove: that needs a removal token, and one removes any runner of the scope (actions/runner#2588)",
			},
			ByHand: byHand,
		},
	}, nil
}
