package engine

import (
	"context"

	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/providers"
)

// asked turns the answer of one witness into observations. A witness that fails is an
// observation that says why.
func (r *Run) asked(on target.Ref, src witness.Source, obs []witness.Observation, err error) []witness.Observation {
	if err != nil {
		obs = append(obs, witness.Observation{Subject: on, Source: src, At: r.o.Clock.Now(), CouldNot: err.Error(), Says: err.Error()})
	}
	return obs
}

// look asks the provider about one runner: whether it is there, and whether its machine
// came back under another registration.
func (r *Run) look(ctx context.Context, t task) ([]witness.Observation, error) {
	rctx, lost := r.record(ctx, t)
	prov := r.provider(t.on)
	obs, err := prov.Observe(rctx, t.on)
	seen := r.asked(t.on, witness.ProviderAPI, obs, err)
	if ret, ok := prov.(providers.Returner); ok {
		o, err := ret.Returned(rctx, t.on, r.traits(t.on), r.st.opened)
		seen = append(seen, r.asked(t.on, witness.ProviderAPI, []witness.Observation{o}, err)...)
	}
	log, err := r.audit(rctx, t, r.st.opened)
	if err != nil {
		return nil, err
	}
	seen = append(seen, log...)
	if *lost != nil {
		return nil, *lost
	}
	return seen, ctx.Err()
}

// lookAtHosts asks every host of the case, or none.
func (r *Run) lookAtHosts(ctx context.Context, t task, all bool) ([]witness.Observation, error) {
	if !all {
		return nil, nil
	}
	rctx, lost := r.record(ctx, t)
	var seen []witness.Observation
	for _, h := range r.o.Hosts {
		sys, err := r.system(h)
		var obs []witness.Observation
		if err == nil {
			obs, err = sys.Observe(rctx, h)
		}
		seen = append(seen, r.asked(h, witness.HostProcess, obs, err)...)
	}
	if *lost != nil {
		return nil, *lost
	}
	return seen, ctx.Err()
}
