package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cordon/internal/fleet"
	"cordon/internal/target"
	"cordon/playbooks"
	"cordon/providers"
)

// member is a runner that a case is opened about.
type member struct {
	asked  string // as it was named
	runner providers.Runner
	gone   *bygone // nil: it is there
}

// others adds further runners to the first.
func (a *App) others(ctx context.Context, all []member, refs []string, pb *playbooks.Playbook) ([]member, error) {
	for _, ref := range refs {
		r, gone, err := a.runnerFor(ctx, ref, pb)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(f member) bool { return f.runner.Ref == r.Ref }) {
			return nil, fmt.Errorf("%w: %s stands there twice", ErrUsage, r.Ref)
		}
		all = append(all, member{ref, r, gone})
	}
	return all, nil
}

// share gives each host that was named to the runners that it is for: RUNNER=HOST says
// so. Without that, of several runners it is those whose registration it was seen to hold,
// or the one that has its name; where neither tells, nobody guesses.
func (a *App) share(runners []member, names []string) ([][]string, error) {
	out := make([][]string, len(runners))
	for _, name := range names {
		who, host, form := cutLast(name)
		if err := a.KnowsHost(host); err != nil {
			return nil, err
		}
		of := []int{0}
		var err error
		switch {
		case form:
			of, err = chosen(runners, who, name)
		case len(runners) > 1:
			of, err = a.matched(runners, host)
		}
		if err != nil {
			return nil, err
		}
		for _, i := range of {
			out[i] = append(out[i], host)
		}
	}
	return out, nil
}

// cutLast cuts RUNNER=HOST.
func cutLast(s string) (who, host string, form bool) {
	i := strings.LastIndexByte(s, '=')
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+1:], true
}

// chosen is the one runner that the left side of RUNNER=HOST names: as it was named, by its
// reference, or by its number.
func chosen(runners []member, who, form string) ([]int, error) {
	var of []int
	for i, f := range runners {
		if ref := f.runner.Ref; who == f.asked || who == ref.String() || who == ref.Short() || who == ref.ID {
			of = append(of, i)
		}
	}
	switch len(of) {
	case 0:
		return nil, fmt.Errorf("%w: --host %s: the case is about no runner %q, but about %s", ErrUsage, form, who, listed(runners))
	case 1:
		return of, nil
	}
	return nil, fmt.Errorf("%w: --host %s: %q is more than one of %s; write the whole reference", ErrUsage, form, who, listed(runners))
}

// matched are the runners of a case with several that a host is for.
func (a *App) matched(runners []member, host string) ([]int, error) {
	var refs []target.Ref
	for _, f := range runners {
		refs = append(refs, f.runner.Ref)
	}
	in, err := a.knownInput(runners)
	if err != nil {
		return nil, err
	}
	var of []int
	at := fleet.RunnersAt(in, host, refs)
	for i, f := range runners {
		if slices.Contains(at, f.runner.Ref) {
			of = append(of, i)
		}
	}
	if len(of) > 0 {
		return of, nil
	}
	for i, f := range runners {
		if strings.EqualFold(string(f.runner.Name), host) {
			of = append(of, i)
		}
	}
	if len(of) != 1 {
		return nil, fmt.Errorf("%w: --host %s: which of %s is on it is not known; write RUNNER=HOST, as in --host %s=%s", ErrUsage, host, listed(runners), runners[0].runner.Ref.ID, host)
	}
	return of, nil
}

// knownInput is what is known of the fleet without asking anybody, with these runners as
// they were just read.
func (a *App) knownInput(runners []member) (fleet.Input, error) {
	l, err := a.newListing()
	if err != nil {
		return fleet.Input{}, err
	}
	in := l.input()
	for _, f := range runners {
		in.Runners = slices.DeleteFunc(in.Runners, func(r providers.Runner) bool { return r.Ref == f.runner.Ref })
		in.Runners = append(in.Runners, f.runner)
	}
	return in, nil
}

func listed(runners []member) string {
	var s []string
	for _, f := range runners {
		s = append(s, f.runner.Ref.Short())
	}
	return strings.Join(s, ", ")
}

// named is a name, and how many more there are.
func named(name string, more int) string {
	if more == 0 {
		return name
	}
	return fmt.Sprintf("%s-and-%d", name, more)
}
