package enginemodel

import (
	"context"
	"fmt"
	"strings"
	"time"

	"cordon/internal/change"
	"cordon/internal/evidence"
	"cordon/internal/target"
	"cordon/internal/transport"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
	"cordon/providers"
)

// Provider is the provider of a world, and its applier.
type Provider struct{ w *World }

var (
	_ providers.Provider  = (*Provider)(nil)
	_ providers.Applier   = (*Provider)(nil)
	_ providers.Settler   = (*Provider)(nil)
	_ providers.Exposer   = (*Provider)(nil)
	_ providers.JobLister = (*Provider)(nil)
	_ providers.Returner  = (*Provider)(nil)
)

// Name implements providers.System.
func (p *Provider) Name() string { return System }

// Plan implements providers.System.
func (p *Provider) Plan(ctx context.Context, verb string, t target.Ref, _ jsonRaw) ([]change.Plan, error) {
	if err := p.w.read(); err != nil {
		return nil, err
	}
	p.w.mu.Lock()
	done := p.w.already(verb, t)
	p.w.mu.Unlock()
	if done {
		return []change.Plan{{Verb: verb, Option: "none", Title: "nothing to " + verb, Nothing: true}}, nil
	}
	c, err := p.w.planned(ctx, verb, t)
	if err != nil {
		return nil, err
	}
	switch verb {
	case providers.Pause:
		c.Lease = p.w.Lease
		undo, err := p.w.planned(ctx, providers.Resume, t)
		if err != nil {
			return nil, err
		}
		undo.Before = raw(state{Paused: true})
		c.Undo = &undo
	case providers.Deregister:
		c.Destroys = []string{"provider/" + t.ID + ".json"}
	case providers.Rotate:
		c.TipsOff, c.Issues = "the agent's token stops working", true
	}
	return []change.Plan{{Verb: verb, Option: "only", Title: c.Title, Changes: []change.Change{c}}}, nil
}

// Observe implements providers.System.
func (p *Provider) Observe(_ context.Context, t target.Ref) ([]witness.Observation, error) {
	o := witness.Observation{Subject: t, Source: witness.ProviderAPI, At: p.w.Clock.Now()}
	if err := p.w.read(); err != nil {
		o.CouldNot, o.Says = err.Error(), err.Error()
		return []witness.Observation{o}, nil
	}
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	r := p.w.runner(key(t))
	if r.Gone && p.w.gone[key(t)] == 0 {
		o.Exists, o.Says = witness.No, "404"
		return []witness.Observation{o}, nil
	}
	if r.Gone {
		p.w.gone[key(t)]--
	}
	o.Exists, o.Paused, o.Busy = witness.Yes, witness.Of(r.Paused), witness.Of(r.Jobs > 0)
	if r.Polls {
		o.Polling, o.LastContact, o.Clock = witness.Yes, o.At, witness.ClockEvent
	}
	if r.Paused && p.w.Lease > 0 {
		o.PausedUntil = r.until
	}
	o.Says = fmt.Sprintf("there, paused %v, %d jobs", r.Paused, r.Jobs)
	if r.Offline {
		o.Says += ", status offline"
	}
	return []witness.Observation{o}, nil
}

// Gather implements providers.System.
func (p *Provider) Gather(ctx context.Context, t target.Ref, _ string, to evidence.Sink) ([]evidence.Gap, error) {
	name := "provider/" + t.ID + ".json"
	if err := p.w.read(); err != nil {
		g := evidence.Gap{Name: name, Why: err.Error(), At: p.w.Clock.Now()}
		return []evidence.Gap{g}, to.Miss(ctx, g)
	}
	_, err := to.Put(ctx, evidence.Item{Name: name, Source: "GET /runners/" + t.ID}, strings.NewReader("{}"))
	return nil, err
}

// Can implements providers.Provider.
func (p *Provider) Can(context.Context, target.Ref) ([]providers.Capability, error) { return nil, nil }

// Runners implements providers.Provider.
func (p *Provider) Runners(_ context.Context, yield func(providers.Page) error) error {
	return yield(providers.Page{Expect: -1})
}

// Runner implements providers.Provider.
func (p *Provider) Runner(_ context.Context, t target.Ref) (providers.Runner, error) {
	if err := p.w.read(); err != nil {
		return providers.Runner{}, err
	}
	return providers.Runner{Ref: t, Name: untrusted.Text("runner " + t.ID), Status: "online"}, nil
}

// Managers implements providers.Provider.
func (p *Provider) Managers(context.Context, target.Ref) ([]providers.Manager, error) {
	return nil, p.w.read()
}

// Silence implements providers.Provider.
func (p *Provider) Silence() providers.Silence {
	return providers.Silence{Needs: p.w.Silent, Why: "the agent's longest pause"}
}

// Apply implements providers.Applier.
func (p *Provider) Apply(ctx context.Context, c change.Change) (change.Outcome, error) {
	op, err := opOf(c)
	if err != nil {
		return change.Outcome{State: change.Refused}, err
	}
	return p.w.apply(ctx, op, c)
}

// Settle implements providers.Settler.
func (p *Provider) Settle(_ context.Context, c change.Change) (string, string, error) {
	op, err := opOf(c)
	if err != nil {
		return change.Unknown, err.Error(), err
	}
	return p.w.settle(op, c)
}

// Exposure implements providers.Exposer.
func (p *Provider) Exposure(ctx context.Context, _ target.Ref, _ time.Time) ([]providers.Credential, []evidence.Gap, error) {
	if err := p.w.read(); err != nil {
		return nil, nil, err
	}
	for i := 0; p.w.HTTP && i < 20; i++ {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		transport.Record(ctx, transport.Exchange{System: System, At: p.w.Clock.Now(), Method: "GET", Path: "/exposure", Status: 200})
	}
	return []providers.Credential{{Name: "DEPLOY_KEY", Kind: "ci-variable", Where: "group/project", Deploys: true}}, nil, nil
}

// Jobs implements providers.JobLister.
func (p *Provider) Jobs(_ context.Context, t target.Ref, since time.Time, _ int) ([]providers.Job, string, error) {
	if err := p.w.read(); err != nil {
		return nil, "", err
	}
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	var all []providers.Job
	for _, j := range p.w.ran[key(t)] {
		if !j.StartedAt.Before(since) {
			all = append(all, j)
		}
	}
	return all, "", nil
}

// Returned implements providers.Returner.
func (p *Provider) Returned(_ context.Context, gone target.Ref, _ providers.Traits, _ time.Time) (witness.Observation, error) {
	o := witness.Observation{Subject: gone, Source: witness.ProviderAPI, At: p.w.Clock.Now()}
	if err := p.w.read(); err != nil {
		return o, err
	}
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	o.Returned, o.Says = witness.Of(p.w.runners[gone.ID].Back), "looked for the machine under another registration"
	return o, nil
}
