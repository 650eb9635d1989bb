package github

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cordon/internal/target"
	"cordon/providers"
)

// canExpand asks about a scope that stands for others: whether they can be listed, and
// the rest of the first repository among them.
func (p *Provider) canExpand(ctx context.Context, s scope) ([]providers.Capability, error) {
	places, said := 0, ""
	var first error // why something could not be had
	var one scope
	err := p.places(ctx, s, func(sc scope) error {
		if one == (scope{}) || one.level != repository && sc.level == repository {
			one = sc
		}
		if places++; places >= perPage {
			return errEnough
		}
		return nil
	}, func(name string, why error) error {
		if first == nil {
			first, said = why, name+": "+why.Error()
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	c := providers.Capability{Verb: canList, Level: full, Why: fmt.Sprintf("%d organizations and repositories", places)}
	switch {
	case errors.Is(err, errEnough):
		c.Why = fmt.Sprintf("%d organizations and repositories, or more", places)
	case places == 0:
		c.Level, c.Why = none, "it stands for no organization and no repository that this credential sees"
		if first != nil {
			c = tried(canList, answer{}, first) // no answer is not a refusal
			c.Why = said
		}
	case said != "":
		c.Level, c.Why = partial, c.Why+"; not "+said
	}
	out := []providers.Capability{c}
	if places == 0 {
		return out, ctx.Err()
	}
	rest, err := p.canIn(ctx, one, target.Ref{})
	if err != nil {
		return nil, err
	}
	for _, c := range rest {
		if c.Verb == canList && c.Level == full {
			continue
		}
		if c.Verb == canList {
			c.Verb = "list one"
		}
		c.Why = strings.TrimSuffix("asked of "+one.path+": "+c.Why, ": ")
		out = append(out, c)
	}
	return out, ctx.Err()
}
