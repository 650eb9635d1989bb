package engine

import (
	"context"

	"cordon/providers"
)

// readTraits reads, while the registration is still there, what the machine will be
// known by when it is gone. What cannot be read is left out: the search for it then
// says that it could not look.
func (r *Run) readTraits(ctx context.Context) traitsData {
	var d traitsData
	if rn, err := r.provider().Runner(ctx, r.o.Runner); err == nil {
		d.Runner = &rn
	}
	if ms, err := r.provider().Managers(ctx, r.o.Runner); err == nil {
		d.Managers = ms
	}
	return d
}

func (r *Run) traits() providers.Traits {
	var t providers.Traits
	if r.st.traits.Runner != nil {
		t.Names = append(t.Names, string(r.st.traits.Runner.Name))
	}
	for _, m := range r.st.traits.Managers {
		t.SystemIDs = append(t.SystemIDs, string(m.SystemID))
		t.Addresses = append(t.Addresses, string(m.Address))
	}
	return t
}
