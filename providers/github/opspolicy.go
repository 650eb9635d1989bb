package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"cordon/internal/change"
	"cordon/internal/target"
)

// Whom a policy serves.
const (
	policyAll      = "all"
	policySelected = "selected"
	policyNone     = "none"
)

// actionsPolicy is what a repository, an organization or an enterprise allows of Actions
// (API description: …/actions/permissions).
type actionsPolicy struct {
	Enabled string `json:"enabled"`                        // all, selected, none; a repository has no selected
	Allowed string `json:"allowed_actions,omitempty"`      // "": GitHub does not say, as where nothing is enabled
	Pinned  *bool  `json:"sha_pinning_required,omitempty"` // nil: this GitHub does not have it
}

type wirePolicy struct {
	On      *bool  `json:"enabled"`
	Repos   string `json:"enabled_repositories"`
	Orgs    string `json:"enabled_organizations"`
	Allowed string `json:"allowed_actions"`
	Pinned  *bool  `json:"sha_pinning_required"`
}

func (s scope) policyPath() string { return s.prefix() + "/actions/permissions" }

// policyTarget is a policy as a change names it: by what it is the policy of, not by the
// runner that it was changed for, which may be gone when it is taken back.
func policyTarget(s scope, kind string) target.Ref {
	return target.Ref{Scope: s.target(), Kind: kind, ID: s.path}
}

func (p *Provider) actionsPolicyOf(ctx context.Context, sc scope) (actionsPolicy, error) {
	a, err := p.act.get(ctx, sc.policyPath(), nil)
	if err != nil {
		return actionsPolicy{}, err
	}
	w, err := decode[wirePolicy](a)
	if err != nil {
		return actionsPolicy{}, err
	}
	enabled := map[string]string{organization: w.Repos, enterprise: w.Orgs}[sc.level]
	if sc.level == repository && w.On != nil {
		enabled = map[bool]string{true: policyAll, false: policyNone}[*w.On]
	}
	if enabled != policyAll && enabled != policySelected && enabled != policyNone {
		return actionsPolicy{}, malformed(a, "a policy that does not say whom it serves")
	}
	return actionsPolicy{enabled, w.Allowed, w.Pinned}, nil
}

// actionsSet switches Actions off, or back to what it was, for all of a scope.
type actionsSet struct {
	home
	actionsPolicy
}

func (o actionsSet) about() target.Ref { return policyTarget(o.scope(), "policy") }

// request says what an undo has to give back, and nothing else where it switches off: what
// a field that is left out becomes is not described.
func (o actionsSet) request() request {
	body := struct {
		On      *bool  `json:"enabled,omitempty"`
		Repos   string `json:"enabled_repositories,omitempty"`
		Orgs    string `json:"enabled_organizations,omitempty"`
		Allowed string `json:"allowed_actions,omitempty"`
		Pinned  *bool  `json:"sha_pinning_required,omitempty"`
	}{Allowed: o.Allowed, Pinned: o.Pinned}
	switch o.Level {
	case enterprise:
		body.Orgs = o.Enabled
	case organization:
		body.Repos = o.Enabled
	default:
		on := o.Enabled != policyNone
		body.On = &on
	}
	return request{http.MethodPut, o.scope().policyPath(), body, http.StatusNoContent, nil}
}

// same reports whether a policy is p as far as p says.
func (p actionsPolicy) same(now actionsPolicy) bool {
	return p.Enabled == now.Enabled && (p.Allowed == "" || p.Allowed == now.Allowed) &&
		(p.Pinned == nil || now.Pinned != nil && *p.Pinned == *now.Pinned)
}

func (o actionsSet) compare(ctx context.Context, p *Provider, c change.Change) (string, error) {
	was, err := change.Parse[actionsPolicy](c.Op, c.Before)
	if err != nil {
		return "", err
	}
	now, err := p.actionsPolicyOf(ctx, o.scope())
	switch {
	case err != nil:
		return "", err
	case o.same(now):
		return "the policy is so already", nil
	case !was.same(now):
		return "", fmt.Errorf("%w (the Actions policy of %s: no longer as it was)", change.ErrStale, o.scope())
	}
	return "", nil
}

func (o actionsSet) settle(ctx context.Context, p *Provider, _ change.Change) (string, string, error) {
	now, err := p.actionsPolicyOf(ctx, o.scope())
	switch {
	case err != nil:
		return change.Unknown, err.Error(), finished(ctx, err)
	case o.same(now):
		return change.Applied, fmt.Sprintf("Actions of %s reads back as enabled for %s", o.scope(), now.Enabled), nil
	}
	return change.Refused, fmt.Sprintf("Actions of %s reads back as enabled for %s", o.scope(), now.Enabled), nil
}

// runnersPolicyOf is which repositories of an organization may have runners of their own.
func (p *Provider) runnersPolicyOf(ctx context.Context, org string) (string, error) {
	a, err := p.act.get(ctx, runnersPolicy(org), nil)
	if err != nil {
		return "", err
	}
	w, err := decode[wirePolicy](a)
	if err == nil && w.Repos != policyAll && w.Repos != policySelected && w.Repos != policyNone {
		err = malformed(a, "a policy that does not say whom it serves")
	}
	return w.Repos, err
}

func runnersPolicy(org string) string {
	return "orgs/" + url.PathEscape(org) + "/actions/permissions/self-hosted-runners"
}

// runnersSet says which repositories of an organization may have runners of their own.
type runnersSet struct {
	Org     string `json:"organization"`
	Enabled string `json:"enabled"` // all, none
}

type runnersBefore struct {
	Enabled string `json:"enabled"`
}

func (o runnersSet) about() target.Ref {
	return policyTarget(scope{organization, o.Org}, "runner policy")
}

func (o runnersSet) request() request {
	body := struct {
		Repos string `json:"enabled_repositories"`
	}{o.Enabled}
	return request{http.MethodPut, runnersPolicy(o.Org), body, http.StatusNoContent, nil}
}

func (o runnersSet) compare(ctx context.Context, p *Provider, c change.Change) (string, error) {
	was, err := change.Parse[runnersBefore](c.Op, c.Before)
	if err != nil {
		return "", err
	}
	now, err := p.runnersPolicyOf(ctx, o.Org)
	switch {
	case err != nil:
		return "", err
	case now == o.Enabled:
		return "the policy is so already", nil
	case now != was.Enabled:
		return "", fmt.Errorf("%w (which repositories of %s may have runners: no longer as it was)", change.ErrStale, p.text(o.Org))
	}
	return "", nil
}

func (o runnersSet) settle(ctx context.Context, p *Provider, _ change.Change) (string, string, error) {
	now, err := p.runnersPolicyOf(ctx, o.Org)
	switch {
	case err != nil:
		return change.Unknown, err.Error(), finished(ctx, err)
	case now == o.Enabled:
		return change.Applied, fmt.Sprintf("repositories of %s that may have runners of their own read back as: %s", p.text(o.Org), now), nil
	}
	return change.Refused, "the policy reads back as " + now, nil
}
