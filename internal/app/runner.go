package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cordon/internal/config"
	"cordon/internal/fleet"
	"cordon/internal/target"
	"cordon/internal/transport"
	"cordon/providers"
)

func (a *App) configPlace() string {
	if a.cfg.Path != "" {
		return a.cfg.Path
	}
	return config.DefaultPath()
}

// howToConfigure is what somebody without a provider can do.
func (a *App) howToConfigure() string {
	return "write one to " + a.configPlace() + ", or set GITLAB_TOKEN or GH_TOKEN"
}

// Runner reads the one runner that ref names. A name is never taken: the error then
// lists the references of the runners that have it.
func (a *App) Runner(ctx context.Context, ref string) (providers.Runner, error) {
	r, err := target.Parse(ref)
	if err != nil {
		return providers.Runner{}, a.named(ctx, ref, err)
	}
	if r.Kind != target.Runner {
		return providers.Runner{}, fmt.Errorf("%w: %s names a %s, not a runner", ErrUsage, ref, r.Kind)
	}
	p, ok := a.fleet.all[r.System].(providers.Provider)
	if !ok {
		return providers.Runner{}, fmt.Errorf("%w: %s: no provider called %q is configured", ErrNoRunner, ref, r.System)
	}
	got, err := p.Runner(ctx, r)
	if errors.Is(err, providers.ErrNotFound) || errors.Is(err, providers.ErrNotYours) {
		return got, fmt.Errorf("%w: %s: %w; cordon fleet lists what this credential can see", ErrNoRunner, ref, err)
	}
	if err != nil {
		return got, fmt.Errorf("read %s: %w", ref, err)
	}
	return got, nil
}

// named turns a name into an error that helps.
func (a *App) named(ctx context.Context, name string, parse error) error {
	f, err := a.Fleet(ctx)
	if err != nil {
		return parse
	}
	var refs []string
	for _, row := range f.Rows {
		if string(row.Runner.Name) == name {
			refs = append(refs, row.Runner.Ref.String())
		}
	}
	switch len(refs) {
	case 0:
		return parse
	case 1:
		return fmt.Errorf("%w: a runner is chosen by reference, not by name; %q is %s", ErrUsage, name, refs[0])
	}
	slices.Sort(refs)
	return fmt.Errorf("%w: %q is %s; choose one by its reference", ErrAmbiguous, name, strings.Join(refs, " and "))
}

// HostsOf proposes the configured hosts that use a runner, and how that is known.
func (a *App) HostsOf(ctx context.Context, r providers.Runner, asked []string) ([]target.Ref, string, error) {
	var refs []target.Ref
	add := func(name string) {
		ref := target.Ref{System: target.SSH, Kind: target.Host, ID: name}
		if !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	for _, name := range asked {
		if _, ok := a.cfg.Hosts[name]; !ok {
			return nil, "", fmt.Errorf("%w: %q", ErrNoHost, name)
		}
		add(name)
	}
	p := a.fleet.all[r.Ref.System].(providers.Provider)
	var at time.Time // when it was asked, also where the answer is reused
	ms, err := p.Managers(transport.WithRecorder(ctx, func(x transport.Exchange) { at = x.At }), r.Ref)
	if err != nil {
		if len(refs) > 0 {
			return refs, "named by you; the provider's managers could not be read: " + err.Error(), nil
		}
		return nil, "the provider's managers could not be read: " + err.Error(), nil
	}
	kept := a.remember(r.Ref.System, func(k *lastKnown) {
		k.put(r.Ref, func(x *knownRunner) { x.Managers, x.ManagersAt = ms, at })
	})
	names, how := fleet.HostsOf(r, ms, a.hostAddresses())
	for _, n := range names {
		add(n)
	}
	if len(asked) > 0 {
		how = strings.TrimSuffix("named by you; "+how, "; ")
	}
	if kept != nil { // a full disk must not stop a containment here
		how = strings.TrimPrefix(how+"; "+kept.Error(), "; ")
	}
	return refs, how, nil
}
