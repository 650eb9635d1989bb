package app

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cordon/internal/casefile"
	"cordon/internal/engine"
	"cordon/internal/target"
	"cordon/playbooks"
	"cordon/providers"
)

// bygone is a registration that is gone, as an earlier case knew it.
type bygone struct {
	runner providers.Runner
	hosts  []target.Ref // of it, in that case
	in     string       // the case
}

// afterwards reports whether a playbook is for what a runner could reach and left behind,
// and not for its registration: then it needs none.
func afterwards(pb *playbooks.Playbook) bool {
	if pb == nil {
		return false
	}
	some := false
	for _, s := range pb.Steps {
		for _, x := range s.Acts {
			if x.Do != playbooks.Plan || x.On != playbooks.OnRunner {
				continue
			}
			if x.Verb != providers.Revoke && x.Verb != providers.Purge {
				return false
			}
			some = true
		}
	}
	return some
}

// runnerFor is Runner for a case with a playbook. Of a runner that is not there any more a
// playbook that needs no registration is told what an earlier case read, as b; else b is nil.
func (a *App) runnerFor(ctx context.Context, ref string, pb *playbooks.Playbook) (r providers.Runner, b *bygone, err error) {
	r, err = a.Runner(ctx, ref)
	if !errors.Is(err, providers.ErrNotFound) {
		return r, nil, err
	}
	t, perr := target.Parse(ref)
	if perr != nil {
		return r, nil, err
	}
	if _, ok := a.fleet.all[t.System].(providers.Rememberer); !ok {
		return r, nil, err
	}
	b, berr := a.bygone(t)
	switch {
	case berr != nil:
		return r, nil, fmt.Errorf("%w; whether an earlier case knew it could not be read: %w", err, berr)
	case b == nil:
		return r, nil, err
	case !afterwards(pb):
		return r, nil, fmt.Errorf("%w. Case %s knew it: what it could reach is ended, also now, with: %s",
			err, b.in, a.Command("contain", b.runner.Ref.String(), "--playbook", "credentials"))
	}
	return b.runner, b, nil
}

// bygone looks through the cases of these systems, the newest first, for one that read the
// runner; nil: there is none. A reference without a scope is that of the one runner of its
// number that cases knew.
func (a *App) bygone(t target.Ref) (*bygone, error) {
	cases, err := a.kept()
	if err != nil {
		return nil, err
	}
	var found *bygone
	for _, k := range cases {
		i := slices.IndexFunc(k.runners, func(x target.Ref) bool {
			return x == t || t.Scope == target.Scope{} && x.System == t.System && x.ID == t.ID
		})
		if i < 0 || found != nil && found.runner.Ref == k.runners[i] {
			continue
		}
		v, err := a.View(k.sum.ID)
		if err != nil || a.belongs(v) != nil {
			continue // of other systems that had these names
		}
		r := engine.LastRead(v, k.runners[i])
		switch {
		case r == nil:
		case found != nil:
			return nil, fmt.Errorf("%w: cases knew %s and %s; name one of them whole", ErrAmbiguous, found.runner.Ref, r.Ref)
		default:
			_, _, of := engine.Targets(v.Opening.Targets)
			found = &bygone{*r, a.configured(of[r.Ref]), k.sum.ID}
		}
	}
	return found, nil
}

// configured are those of hosts that still are.
func (a *App) configured(hosts []target.Ref) []target.Ref {
	return slices.DeleteFunc(slices.Clone(hosts), func(h target.Ref) bool { return a.KnowsHost(h.ID) != nil })
}

// hostsFor are the hosts of a runner, and how they are known. Of one that is gone they are
// those of the case that knew it, and what is named.
func (a *App) hostsFor(ctx context.Context, r providers.Runner, b *bygone, asked []string) ([]target.Ref, string, error) {
	if b == nil {
		return a.HostsOf(ctx, r, asked)
	}
	hosts := b.hosts
	for _, name := range asked {
		if err := a.KnowsHost(name); err != nil {
			return nil, "", err
		}
		if h := (target.Ref{System: target.SSH, Kind: target.Host, ID: name}); !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	return hosts, "the registration is gone; as case " + b.in + " knew it", nil
}

// rememberInto tells the systems of a case what its runners were, where a case read them: this
// one, or else an earlier one. What the service itself tells counts before that.
func (a *App) rememberInto(systems map[string]providers.System, v *casefile.View, runners []target.Ref) {
	for _, t := range runners {
		to, ok := systems[t.System].(providers.Rememberer)
		if !ok {
			continue
		}
		if r := engine.LastRead(v, t); r != nil {
			to.Remember(*r)
		} else if b, err := a.bygone(t); err == nil && b != nil {
			to.Remember(b.runner)
		}
	}
}
