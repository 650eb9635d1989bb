package github

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cordon/internal/witness"
	"cordon/providers"
)

// Remember implements providers.Rememberer: of a registration that is gone GitHub tells
// nothing, and a job is this one's only where its id and its name are.
func (p *Provider) Remember(r providers.Runner) {
	sc, id, err := p.own(r.Ref)
	if err != nil || sc == (scope{}) || r.Name == "" {
		return
	}
	w := wireRunner{ID: id, Name: string(r.Name), OS: string(r.OS), Version: string(r.Version)}
	if r.Ephemeral != witness.Unknown {
		yes := r.Ephemeral == witness.Yes
		w.Ephemeral = &yes
	}
	for _, l := range r.Labels {
		kind := "custom"
		if slices.Contains(r.Fixed, l) {
			kind = "read-only"
		}
		w.Labels = append(w.Labels, wireLabel{Name: string(l), Type: kind})
	}
	p.memory.told(sc, w)
}

// bygone is the view of a registration that is gone, for plans on what it could reach and
// left behind: those need no more of it than who it was. err is the 404. One that nothing
// is remembered of, or that may only be hidden, has none.
func (p *Provider) bygone(ctx context.Context, sc scope, id int64, err error) (view, error) {
	if !errors.Is(err, providers.ErrNotFound) {
		return view{}, cmpErr(err, errors.New("it is there"))
	}
	if gone := p.gone(ctx, sc, err); gone != nil {
		return view{}, gone
	}
	w, ok := p.memory.named(sc, id)
	if !ok {
		return view{}, fmt.Errorf("%w; no case knew it, and by its number alone what was its own cannot be told", err)
	}
	return view{
		sc: sc, runner: w, ref: p.ref(sc, id), name: fmt.Sprintf("runner %d %q (%s, removed)", id, p.text(w.Name), sc),
		noGroup: "the registration is gone",
	}, nil
}
