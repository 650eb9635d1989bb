package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/playbooks"
)

// subject is what a case is opened about.
type subject struct {
	first target.Ref // the runner, or the host of a case about hosts alone
	name  untrusted.Text
	all   []target.Ref
	how   string // how the hosts are known
}

// AboutHost reports whether a reference names a host rather than a runner.
func AboutHost(ref string) bool {
	t, err := target.Parse(ref)
	return err == nil && t.System == target.SSH && t.Kind == target.Host
}

// HostsAlone reports whether a kept case is about hosts and no runner; a case that cannot
// be read is not.
func (a *App) HostsAlone(id string) bool {
	v, err := a.View(id)
	return err == nil && len(v.Opening.Targets) > 0 && !slices.ContainsFunc(v.Opening.Targets, func(t target.Ref) bool { return t.Kind == target.Runner })
}

// subject reads what ref names, with the hosts that belong to it.
func (a *App) subject(ctx context.Context, ref string, spec CaseSpec, pb *playbooks.Playbook) (subject, error) {
	if AboutHost(ref) {
		return a.aboutHosts(ref, spec)
	}
	r, gone, err := a.runnerFor(ctx, ref, pb)
	if err != nil {
		return subject{}, err
	}
	members := []member{{ref, r, gone}}
	if members, err = a.others(ctx, members, spec.Also, pb); err != nil {
		return subject{}, err
	}
	asked, err := a.share(members, spec.Hosts)
	if err != nil {
		return subject{}, err
	}
	x := subject{first: r.Ref, name: r.Name}
	for i, f := range members {
		hosts, how, err := a.hostsFor(ctx, f.runner, f.gone, asked[i])
		if err != nil {
			return subject{}, err
		}
		x.all = append(append(x.all, f.runner.Ref), hosts...) // that order says which host is whose
		if i > 0 {
			how = f.runner.Ref.Short() + ": " + how
			x.how = strings.TrimPrefix(x.how+"; "+how, "; ")
			continue
		}
		x.how = how
	}
	return x, nil
}

// aboutHosts is a case about configured hosts alone.
func (a *App) aboutHosts(ref string, spec CaseSpec) (subject, error) {
	t, err := target.Parse(ref)
	if err != nil {
		return subject{}, err
	}
	if len(spec.Also) > 0 {
		return subject{}, fmt.Errorf("%w: a case about host %s alone takes no further references; name more hosts with --host, or contain the runner that uses them", ErrUsage, t.ID)
	}
	x := subject{first: t, name: "no runner of ours", how: "named by whoever opened the case"}
	for _, name := range append([]string{t.ID}, spec.Hosts...) {
		if err := a.KnowsHost(name); err != nil {
			return subject{}, err
		}
		x.all = append(x.all, target.Ref{System: target.SSH, Kind: target.Host, ID: name})
	}
	return x, nil
}
