package engine

import (
	"context"
	"slices"

	"cordon/internal/target"
	"cordon/providers"
)

// readTraits reads, while the registration is still there, what the machine will be
// known by when it is gone. What cannot be read is left out: the search for it then
// says that it could not look. What was read earlier in the case stays known.
func (r *Run) readTraits(ctx context.Context, runner target.Ref) traitsData {
	d := r.st.traits[runner]
	if rn, err := r.provider(runner).Runner(ctx, runner); err == nil {
		d.Runner = &rn
	}
	if ms, err := r.provider(runner).Managers(ctx, runner); err == nil {
		d.Managers = ms
	}
	if n, ok := r.provider(runner).(providers.Namesaker); ok && d.Known == nil {
		if known, err := n.Namesakes(ctx, runner, r.traitsOf(runner, d)); err == nil {
			d.Known = &known
		}
	}
	return d
}

func (r *Run) traits(runner target.Ref) providers.Traits {
	return r.traitsOf(runner, r.st.traits[runner])
}

func (r *Run) traitsOf(runner target.Ref, known traitsData) providers.Traits {
	t := providers.Traits{Known: known.Known}
	if known.Runner != nil {
		t.Names = append(t.Names, string(known.Runner.Name))
		for _, l := range known.Runner.Labels {
			if !slices.Contains(known.Runner.Fixed, l) {
				t.Labels = append(t.Labels, string(l))
			}
		}
	}
	for _, h := range r.hostsOf(runner) {
		t.Hosts = append(t.Hosts, h.ID)
	}
	for _, m := range known.Managers {
		t.SystemIDs = append(t.SystemIDs, string(m.SystemID))
		t.Addresses = append(t.Addresses, string(m.Address))
	}
	return t
}
