package github

import (
	"context"
	"fmt"
	"slices"

	"cordon/internal/change"
	"cordon/internal/target"
)

// Policies that have a list of whom they serve.
const (
	ofActions = "actions" // repositories of an organization, organizations of an enterprise
	ofRunners = "runners" // repositories that may have runners of their own
)

// chosen replaces the list of whom a policy serves. It is only planned where the policy is
// "selected", which it stays: so one call takes it back exactly, which that of the policy
// itself could not do for the list.
type chosen struct {
	home
	Of  string  `json:"of"`
	IDs []int64 `json:"ids"` // sorted
}

// chosenBefore is what replacing it rested on.
type chosenBefore struct {
	IDs []int64 `json:"ids"`
}

func (o chosen) about() target.Ref {
	return policyTarget(o.scope(), map[string]string{ofActions: "policy", ofRunners: "runner policy"}[o.Of])
}

// chosenPath is where the list of a policy is.
func chosenPath(s scope, of string) string {
	switch {
	case of == ofRunners:
		return runnersPolicy(s.path) + "/repositories"
	case s.level == enterprise:
		return s.policyPath() + "/organizations"
	}
	return s.policyPath() + "/repositories"
}

func (o chosen) request() request { return selection(o.home, chosenPath(o.scope(), o.Of), o.IDs) }

// selects reports whether the policy goes by its list.
func (o chosen) selects(ctx context.Context, p *Provider) (string, error) {
	if o.Of == ofRunners {
		return p.runnersPolicyOf(ctx, o.Path)
	}
	now, err := p.actionsPolicyOf(ctx, o.scope())
	return now.Enabled, err
}

func (o chosen) compare(ctx context.Context, p *Provider, c change.Change) (string, error) {
	was, err := change.Parse[chosenBefore](c.Op, c.Before)
	if err != nil {
		return "", err
	}
	mode, err := o.selects(ctx, p)
	if err != nil {
		return "", err
	}
	now, _, err := p.idsAt(ctx, o.scope(), chosenPath(o.scope(), o.Of))
	switch {
	case err != nil:
		return "", err
	case mode != policySelected:
		return "", fmt.Errorf("%w (the policy is %s now and does not go by its list)", change.ErrStale, mode)
	case slices.Equal(now, o.IDs):
		return "the policy serves just these already", nil
	case !slices.Equal(now, was.IDs):
		return "", fmt.Errorf("%w (whom the policy serves: no longer as it was)", change.ErrStale)
	}
	return "", nil
}

func (o chosen) settle(ctx context.Context, p *Provider, _ change.Change) (string, string, error) {
	mode, err := o.selects(ctx, p)
	var now []int64
	if err == nil {
		now, _, err = p.idsAt(ctx, o.scope(), chosenPath(o.scope(), o.Of))
	}
	switch {
	case err != nil:
		return change.Unknown, err.Error(), finished(ctx, err)
	case mode == policySelected && slices.Equal(now, o.IDs):
		return change.Applied, fmt.Sprintf("the policy reads back as serving just %d that are selected", len(now)), nil
	}
	return change.Refused, fmt.Sprintf("the policy reads back as %s, with %d in its list", mode, len(now)), nil
}
