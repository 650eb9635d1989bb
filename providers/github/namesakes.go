package github

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/providers"
)

// How many are kept; more make the answer partial.
const (
	maxNamesakes = 100
	maxAlike     = 2000 // of a pool: a reference is some 60 bytes on one line of the journal
)

// Namesakes implements providers.Namesaker. GitHub tells of no runner since when it is
// registered: that one in another scope was there before can be known only by having
// looked before.
func (p *Provider) Namesakes(ctx context.Context, t target.Ref, traits providers.Traits) (providers.Known, error) {
	sc, id, err := p.placed(ctx, t)
	if err != nil {
		return providers.Known{}, fmt.Errorf("look for others that are called as %s: %w", t.Short(), err)
	}
	self := p.ref(sc, id)
	known := providers.Known{
		Names: slices.DeleteFunc(slices.Concat(traits.Names, traits.Hosts), func(s string) bool { return s == "" }), Labels: traits.Labels,
	}
	lack := func(why string) {
		if known.Partial == "" {
			known.Partial = untrusted.Clean(why, 300)
		}
	}
	pages := 0
	err = p.Runners(ctx, func(page providers.Page) error {
		if page.Gap != nil {
			lack(page.Gap.Name + ": " + page.Gap.Why)
		} else {
			pages++
		}
		for _, x := range page.Runners {
			switch {
			case x.Ref == self:
			case named(traits, string(x.Name)):
				if len(known.Refs) == maxNamesakes {
					lack(fmt.Sprintf("more than %d are called so", maxNamesakes))
					continue
				}
				known.Refs = append(known.Refs, x.Ref)
			case len(traits.Labels) > 0 && sameLabels(x, traits.Labels):
				if len(known.Alike) == maxAlike {
					lack(fmt.Sprintf("more than %d have all its labels", maxAlike))
					continue
				}
				known.Alike = append(known.Alike, x.Ref)
			}
		}
		return ctx.Err()
	})
	known.At = p.clock.Now().UTC()
	switch {
	case ctx.Err() != nil:
		return providers.Known{}, ctx.Err()
	case err != nil && pages == 0:
		return providers.Known{}, fmt.Errorf("look for others that are called as %s: %w", t.Short(), err)
	case err != nil:
		lack(err.Error())
	}
	return known, nil
}

// wasThere reports whether a registration with this id was among those that were there; of
// a job the scope of its runner is not told, and ref has the id alone.
func wasThere(k *providers.Known, ref target.Ref) bool {
	return k != nil && slices.ContainsFunc(k.Refs, func(r target.Ref) bool {
		return r.ID == ref.ID && (ref.Scope == (target.Scope{}) || r.Scope == ref.Scope)
	})
}

// wasLookedFor reports whether all lists were searched for a name while the registration
// was there: what has it now and was not among them came later.
func wasLookedFor(k *providers.Known, name string) bool {
	return k != nil && k.Partial == "" && slices.ContainsFunc(k.Names, func(s string) bool { return strings.EqualFold(s, name) })
}
