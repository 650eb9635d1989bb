package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cordon/internal/target"
	"cordon/playbooks"
)

// others adds further runners to the targets of a case, each with its hosts behind it:
// that order says which host is whose.
func (a *App) others(ctx context.Context, all []target.Ref, how string, refs []string, pb *playbooks.Playbook) ([]target.Ref, string, error) {
	for _, ref := range refs {
		r, gone, err := a.runnerFor(ctx, ref, pb)
		if err != nil {
			return nil, "", err
		}
		if slices.Contains(all, r.Ref) {
			return nil, "", fmt.Errorf("%w: %s stands there twice", ErrUsage, r.Ref)
		}
		hosts, why, err := a.hostsFor(ctx, r, gone, nil)
		if err != nil {
			return nil, "", err
		}
		all = append(append(all, r.Ref), hosts...)
		how = strings.TrimPrefix(how+"; "+r.Ref.Short()+": "+why, "; ")
	}
	return all, how, nil
}

// named is a name, and how many more there are.
func named(name string, more int) string {
	if more == 0 {
		return name
	}
	return fmt.Sprintf("%s-and-%d", name, more)
}
