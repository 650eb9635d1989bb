package gitlab

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/providers"
)

// Plan implements providers.System. It reads the runner, its managers and jobs, and
// captures each call by running the operation that Apply will run; args are not used.
func (p *Provider) Plan(ctx context.Context, verb string, t target.Ref, _ json.RawMessage) ([]change.Plan, error) {
	id, err := p.own(t)
	if err != nil {
		return nil, err
	}
	make, ok := map[string]func(context.Context, view) ([]change.Plan, error){
		providers.Pause: p.planPause, providers.Resume: p.planResume, providers.Cancel: p.planCancel,
		providers.Rotate: p.planRotate, providers.Deregister: p.planDeregister,
		providers.Revoke: p.planRevoke, providers.Purge: p.planPurge,
	}[verb]
	if !ok {
		return nil, fmt.Errorf("%w: %s has no %q", providers.ErrNoVerb, p.o.Name, untrusted.Text(verb))
	}
	v, err := p.view(ctx, t, id)
	if err != nil {
		return nil, fmt.Errorf("plan %s of %s: %w", verb, t.Short(), err)
	}
	plans, err := make(ctx, v)
	if err != nil {
		return nil, fmt.Errorf("plan %s of %s: %w", verb, t.Short(), err)
	}
	for i := range plans {
		plans[i].Verb, plans[i].Made = verb, p.clock.Now()
	}
	return plans, nil
}

// view is what plans are made from.
type view struct {
	runner   wireRunner
	ref      target.Ref
	name     string // for titles: 42 "build-07 shell", cleaned
	managers []wireManager
	blind    error // why the managers are not known
}

func (p *Provider) view(ctx context.Context, t target.Ref, id int64) (view, error) {
	w, _, err := p.details(ctx, id, true)
	if err != nil {
		return view{}, err
	}
	if err := levels(t, w); err != nil {
		return view{}, err
	}
	v := view{runner: w, ref: p.ref(w), name: fmt.Sprintf("runner %d (%s)", id, w.level())}
	if w.Description != "" {
		v.name = fmt.Sprintf("runner %d %q (%s)", id, p.text(w.Description), w.level())
	}
	v.managers, _, v.blind = p.managers(ctx, id)
	if done := finished(ctx, v.blind); done != nil {
		return view{}, done
	}
	return v, nil
}

// hits is everything that shares the registration: GitLab acts on the record, never
// on one manager (gitlab#422972).
func (p *Provider) hits(v view) []target.Ref {
	var out []target.Ref
	for _, m := range v.managers {
		out = append(out, p.managerRef(v.ref.Scope, m))
	}
	projects := slices.Clone(v.runner.Projects)
	slices.SortFunc(projects, func(a, b wireProject) int { return int(a.ID - b.ID) })
	for _, x := range projects {
		out = append(out, target.Ref{
			System: p.o.Name, Scope: target.Scope{Level: Project, Path: x.Path},
			Kind: target.Project, ID: strconv.FormatInt(x.ID, 10),
		})
	}
	return out
}

// breadth is the limit that every plan on a registration has.
func (v view) breadth() string {
	switch n := len(v.managers); {
	case v.blind != nil:
		return "how many machines use this registration could not be read: all of them are hit (" + v.blind.Error() + ")"
	case n == 0:
		return "GitLab knows no machine that uses this registration"
	case n == 1:
		return "one machine uses this registration"
	default:
		return fmt.Sprintf("%d machines share this registration and all of them are hit: GitLab cannot act on one alone", n)
	}
}

// down says how many managers need the new token, for titles.
func (v view) down() string {
	switch {
	case v.blind != nil:
		return "every machine that uses it stays down, how many is not known"
	case len(v.managers) == 1:
		return "1 machine stays down"
	}
	return fmt.Sprintf("%d machines stay down", len(v.managers))
}

// byHand is where a person does the same.
func (p *Provider) byHand(v view, api string) []change.Link {
	links := []change.Link{{Title: "with glab", Command: "GITLAB_HOST=" + p.base.Host + " glab api " + api}}
	if at := p.web(v.runner); at != "" {
		links = append(links, change.Link{Title: "the runner's page", URL: at})
	}
	return links
}

// change fills in what all changes on the registration share, and captures the call.
func (p *Provider) change(ctx context.Context, v view, c change.Change) (change.Change, error) {
	c.Target, c.Hits = v.ref, p.hits(v)
	return p.planned(ctx, c)
}
