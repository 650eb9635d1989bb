package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/providers"
)

// move puts a runner into a group: one that serves nobody, or the one it came from. The
// call that takes a runner out of a group is never used: it leads into the default group.
type move struct {
	home
	Runner int64 `json:"runner"`
	Group  int64 `json:"group"`
	Seal   bool  `json:"seal"` // the group has to serve nobody
}

func (o move) about() target.Ref { return o.runner(o.Runner) }

func (o move) request() request {
	return request{http.MethodPut, fmt.Sprintf("%s/runners/%d", o.scope().group(o.Group), o.Runner), nil, http.StatusNoContent, nil}
}

func (o move) compare(ctx context.Context, p *Provider, c change.Change) (string, error) {
	w, now, err := p.now(ctx, o.scope(), o.Runner)
	if err != nil {
		return "", err
	}
	g, _, err := p.group(ctx, p.act, o.scope(), o.Group)
	if err != nil {
		return "", fmt.Errorf("the group it should come into: %w", err)
	}
	why := ""
	if o.Seal {
		if why, err = p.seal(ctx, o.scope(), g); err != nil {
			return "", err
		}
	}
	switch {
	case why != "":
		return "", fmt.Errorf("%w (the group %s is no quarantine: %s)", change.ErrStale, p.text(g.Name), why)
	case w.in(now) == o.Group:
		return fmt.Sprintf("it is in the group %s already", p.text(g.Name)), nil
	}
	return "", drifted(c, now)
}

func (o move) settle(ctx context.Context, p *Provider, _ change.Change) (string, string, error) {
	state, why, w, now, err := p.settleRunner(ctx, o.scope(), o.Runner)
	if state != "" {
		return state, why, err
	}
	if w.in(now) != o.Group {
		return change.Refused, "it reads back as in another group", nil
	}
	if !o.Seal {
		return change.Applied, "it reads back as in its group", nil
	}
	return p.settleSeal(ctx, o.scope(), o.Group)
}

// settleSeal says whether a runner that is in a group is out of reach there.
func (p *Provider) settleSeal(ctx context.Context, sc scope, id int64) (string, string, error) {
	g, _, err := p.group(ctx, p.act, sc, id)
	why := ""
	if err == nil {
		why, err = p.seal(ctx, sc, g)
	}
	switch {
	case err != nil:
		return change.Unknown, "it is in the group, and whom that serves could not be read: " + err.Error(), finished(ctx, err)
	case why != "":
		return change.Unknown, "it is in the group, and the group is no quarantine: " + why, nil
	}
	return change.Applied, fmt.Sprintf("it reads back as in the group %s, which serves nobody", p.text(g.Name)), nil
}

// groupNew makes a group that serves nobody, with the runner in it, in one call.
type groupNew struct {
	home
	Runner int64  `json:"runner"`
	Name   string `json:"name"`
}

// newGroup says everything that a default could get wrong: without visibility GitHub makes
// a group that serves all.
type newGroup struct {
	Name       string   `json:"name"`
	Visibility string   `json:"visibility"`
	Repos      *[]int64 `json:"selected_repository_ids,omitempty"`
	Orgs       *[]int64 `json:"selected_organization_ids,omitempty"`
	Runners    []int64  `json:"runners"`
	Public     bool     `json:"allows_public_repositories"`
	Restricted bool     `json:"restricted_to_workflows"`
}

func (o groupNew) about() target.Ref { return o.runner(o.Runner) }

func (o groupNew) request() request {
	body, nobody := newGroup{Name: o.Name, Visibility: "selected", Runners: []int64{o.Runner}}, []int64{}
	if o.Level == enterprise {
		body.Orgs = &nobody
	} else {
		body.Repos = &nobody
	}
	return request{http.MethodPost, o.scope().groups(), body, http.StatusCreated, nil}
}

func (o groupNew) compare(ctx context.Context, p *Provider, c change.Change) (string, error) {
	_, now, err := p.now(ctx, o.scope(), o.Runner)
	if err != nil {
		return "", err
	}
	if now.Group != nil && now.Group.Name == o.Name {
		state, why, err := p.settleSeal(ctx, o.scope(), now.Group.ID)
		switch {
		case err != nil:
			return "", err
		case state == change.Applied:
			return why, nil
		}
		return "", fmt.Errorf("%w (%s)", change.ErrStale, why)
	}
	all, err := p.allGroups(ctx, o.scope())
	switch {
	case err != nil:
		return "", err
	case slices.ContainsFunc(all, func(g group) bool { return g.Name == o.Name }):
		return "", fmt.Errorf("%w (a group %s was made in the meantime)", change.ErrStale, o.Name)
	}
	return "", drifted(c, now)
}

func (o groupNew) settle(ctx context.Context, p *Provider, _ change.Change) (string, string, error) {
	state, why, _, now, err := p.settleRunner(ctx, o.scope(), o.Runner)
	switch {
	case state != "":
		return state, why, err
	case now.Group == nil:
		return change.Unknown, "it cannot be seen in which group it is", nil
	case now.Group.Name == o.Name:
		return p.settleSeal(ctx, o.scope(), now.Group.ID)
	}
	return change.Refused, fmt.Sprintf("it reads back as in the group %s; look whether an empty %s was left", p.text(now.Group.Name), o.Name), nil
}

// groupRemove removes a quarantine that nothing is in any more.
type groupRemove struct {
	home
	Runner int64  `json:"runner"` // that came out of it
	Group  int64  `json:"group"`
	Name   string `json:"name"`
}

func (o groupRemove) about() target.Ref { return o.runner(o.Runner) }

func (o groupRemove) request() request {
	return request{http.MethodDelete, o.scope().group(o.Group), nil, http.StatusNoContent, nil}
}

func (o groupRemove) compare(ctx context.Context, p *Provider, _ change.Change) (string, error) {
	g, _, err := p.group(ctx, p.act, o.scope(), o.Group)
	if errors.Is(err, providers.ErrNotFound) {
		if _, lerr := p.allGroups(ctx, o.scope()); lerr == nil {
			return "the group is gone already", nil
		}
	}
	if err != nil {
		return "", err
	}
	n, err := p.inside(ctx, o.scope(), o.Group)
	switch {
	case err != nil:
		return "", err
	case g.Name != o.Name || !g.quarantine() || g.Default || g.Inherited:
		return "", fmt.Errorf("%w (the group is no longer the one that was looked at)", change.ErrStale)
	case n > 0:
		return "", fmt.Errorf("%w (%d runners are in the group)", change.ErrStale, n)
	}
	return "", nil
}

// inside is how many runners are in a group.
func (p *Provider) inside(ctx context.Context, sc scope, id int64) (int, error) {
	a, err := p.act.get(ctx, sc.group(id)+"/runners", pageOf(nil, 1, 1))
	if err != nil {
		return 0, err
	}
	l, err := rows(a)
	if err != nil {
		return 0, err
	}
	return max(*l.Total, len(l.Runners)), nil
}

func (o groupRemove) settle(ctx context.Context, p *Provider, _ change.Change) (string, string, error) {
	_, _, err := p.group(ctx, p.act, o.scope(), o.Group)
	if errors.Is(err, providers.ErrNotFound) {
		if _, lerr := p.allGroups(ctx, o.scope()); lerr == nil {
			return change.Applied, "404, and the groups can still be listed: the group is gone", nil
		}
	}
	if err != nil {
		return change.Unknown, err.Error(), finished(ctx, err)
	}
	return change.Refused, "the group reads back as still there", nil
}
