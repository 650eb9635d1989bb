package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/target"
	"cordon/internal/watch"
	"cordon/internal/witness"
	"cordon/providers"
)

// rounds is how many times the provider is asked within one watch, beside its start.
const rounds = 6

// confirm watches for silence, one round a call: the provider is asked at every
// round, the hosts at the start and at the end, because every login is seen there
// and the agent's log covers what lies between.
func (r *Run) confirm(ctx context.Context, t task) (Prompt, error) {
	if err := r.settleLate(ctx, t); err != nil {
		return Prompt{}, err
	}
	w := r.st.watch
	if w == nil {
		s := r.provider().Silence()
		p := r.prompt(t, Watch, fmt.Sprintf("watch for %s: %s", s.Needs, s.Why))
		return r.ask(p, Begin, Skip, Stop), nil
	}
	if len(r.st.seen) > 0 {
		next := r.lastLook().Add(w.Needs / rounds)
		if end := w.From.Add(w.Needs); next.After(end) {
			next = end
		}
		if err := r.o.Clock.Wait(ctx, next.Sub(r.o.Clock.Now())); err != nil {
			return Prompt{}, err
		}
	}
	over := !r.o.Clock.Now().Before(w.From.Add(w.Needs))
	seen, err := r.look(ctx, t, over || len(r.st.seen) == 0)
	if err != nil {
		return Prompt{}, err
	}
	err = r.append(casefile.Event{Kind: "observe", Step: t.step.ID, Target: t.on, OK: true, Data: encode(observeData{t.key(), seen})})
	if err != nil {
		return Prompt{}, err
	}
	v := watch.Judge(watch.Window{Runner: r.o.Runner, Hosts: r.o.Hosts, From: w.From, Needs: w.Needs, Now: r.o.Clock.Now()}, r.st.seen)
	final := v.State != witness.Waiting
	vs := []witness.Verdict{v}
	if final {
		if err := r.buryToken(t, v); err != nil {
			return Prompt{}, err
		}
		vs = append(vs, r.reach(v)...)
	}
	err = r.append(casefile.Event{
		Kind: "verdict", Step: t.step.ID, Target: t.on, OK: v.State == witness.Silent, Msg: v.Question + ": " + v.State,
		Data: encode(verdictData{final, vs}),
	})
	if err != nil {
		return Prompt{}, err
	}
	p := r.prompt(t, Progress, fmt.Sprintf("%s: %s (%s)", v.Question, v.State, v.Why))
	p.Seen, p.Verdicts = seen, vs
	if !final {
		return p, nil
	}
	return p, r.finish(t, Done, p.Text)
}

// buryToken marks the runner's own credential dead on the exposure list when the
// provider says that the registration, and so every token of it, is gone.
func (r *Run) buryToken(t task, v witness.Verdict) error {
	i := slices.IndexFunc(v.For, func(o witness.Observation) bool {
		return o.Subject == r.o.Runner && o.Source == witness.ProviderAPI && o.Exists == witness.No
	})
	if i < 0 || r.st.exposed == nil {
		return nil
	}
	x := *r.st.exposed
	x.Entries = slices.Clone(x.Entries)
	for k, c := range x.Entries {
		if c.Kind == "runner-token" && c.Dead.IsZero() {
			x.Entries[k].Dead, x.Entries[k].DeadSaysBy = v.For[i].At, v.For[i].Says
		}
	}
	return r.append(casefile.Event{Kind: "exposure", Step: t.step.ID, Target: t.on, OK: true, Data: encode(x)})
}

func (r *Run) beginWatch(t task) error {
	s := r.provider().Silence()
	return r.append(casefile.Event{
		Kind: "watch", Step: t.step.ID, Target: t.on, OK: true, Msg: s.Why,
		Data: encode(watchData{From: r.o.Clock.Now(), Needs: s.Needs, Why: s.Why}),
	})
}

func (r *Run) lastLook() time.Time {
	var last time.Time
	for _, o := range r.st.seen {
		if o.At.After(last) {
			last = o.At
		}
	}
	return last
}

// look asks every witness once. A witness that fails is an observation that says why.
func (r *Run) look(ctx context.Context, t task, hosts bool) ([]witness.Observation, error) {
	rctx, lost := r.record(ctx, t)
	var seen []witness.Observation
	ask := func(on target.Ref, src witness.Source, f func() ([]witness.Observation, error)) {
		obs, err := f()
		if err != nil {
			obs = append(obs, witness.Observation{Subject: on, Source: src, At: r.o.Clock.Now(), CouldNot: err.Error(), Says: err.Error()})
		}
		seen = append(seen, obs...)
	}
	prov := r.provider()
	ask(r.o.Runner, witness.ProviderAPI, func() ([]witness.Observation, error) { return prov.Observe(rctx, r.o.Runner) })
	if ret, ok := prov.(providers.Returner); ok {
		ask(r.o.Runner, witness.ProviderAPI, func() ([]witness.Observation, error) {
			o, err := ret.Returned(rctx, r.o.Runner, r.traits(), r.st.opened)
			return []witness.Observation{o}, err
		})
	}
	if hosts {
		for _, h := range r.o.Hosts {
			ask(h, witness.HostProcess, func() ([]witness.Observation, error) {
				sys, err := r.system(h)
				if err != nil {
					return nil, err
				}
				return sys.Observe(rctx, h)
			})
		}
	}
	if *lost != nil {
		return nil, *lost
	}
	return seen, ctx.Err()
}
