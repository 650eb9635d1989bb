package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
	"cordon/providers"
)

// planArgs is what a plan is told: the case, for a marker that others can read at GitHub,
// since when its runs are suspect, and a profile that this provider has no use for.
type planArgs struct {
	Case    string    `json:"case"`
	Since   time.Time `json:"since,omitzero"`
	Profile string    `json:"profile"`
}

// Plan implements providers.System. It reads the runner, its group and its jobs, and
// captures each call by running the operation that Apply will run.
func (p *Provider) Plan(ctx context.Context, verb string, t target.Ref, args json.RawMessage) ([]change.Plan, error) {
	sc, id, err := p.placed(ctx, t)
	if err != nil {
		return nil, err
	}
	make, ok := map[string]func(context.Context, view) ([]change.Plan, error){
		providers.Pause: p.planPause, providers.Resume: p.planResume, providers.Cancel: p.planCancel, providers.Rotate: p.planRotate,
		providers.Deregister: p.planDeregister, providers.Revoke: p.planRevoke, providers.Purge: p.planPurge,
	}[verb]
	if !ok {
		return nil, fmt.Errorf("%w: %s has no %q", providers.ErrNoVerb, p.o.Name, untrusted.Text(verb))
	}
	var in planArgs
	if len(args) > 0 {
		if in, err = change.Parse[planArgs](verb, args); err != nil {
			return nil, fmt.Errorf("plan %s of %s: %w", verb, t.Short(), err)
		}
	}
	v, err := p.view(ctx, sc, id)
	if errors.Is(err, providers.ErrNotFound) && (verb == providers.Revoke || verb == providers.Purge) {
		v, err = p.bygone(ctx, sc, id, err)
	}
	if err != nil {
		return nil, fmt.Errorf("plan %s of %s: %w", verb, t.Short(), err)
	}
	v.caseID, v.since = in.Case, in.Since
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
	sc      scope
	runner  wireRunner
	ref     target.Ref
	name    string // for titles, cleaned: runner 23 "build-07" (organization acme)
	group   *group // nil: none, or not known
	noGroup string // why it is not known
	caseID  string
	since   time.Time // zero: not told
	ours    ours      // for Revoke: whose credentials this works with
}

func (p *Provider) view(ctx context.Context, sc scope, id int64) (view, error) {
	w, _, err := p.details(ctx, p.act, sc, id)
	if err != nil {
		return view{}, err
	}
	v := view{sc: sc, runner: w, ref: p.ref(sc, id)}
	v.name = fmt.Sprintf("runner %d %q (%s)", id, p.text(w.Name), sc)
	g, _, err := p.groupOf(ctx, sc, w)
	switch {
	case err == nil:
		v.group = &g
	case unseen(err):
		v.noGroup = err.Error()
	default:
		return view{}, err
	}
	return v, nil
}

// before is what every plan on the registration rests on.
func (v view) before() before {
	if v.group == nil {
		return v.runner.before(nil)
	}
	return v.runner.before(v.group.before())
}

// ephemeral is a limit of every plan on a runner that is made anew for each job.
func (v view) ephemeral() []string {
	if tri(v.runner.Ephemeral) != witness.Yes {
		return nil
	}
	return []string{"it is ephemeral: it takes one job and is removed, and what made it makes another; hold that back too (scale the runner set to 0, stop the autoscaler)"}
}

// hits is who shares what is changed: of a runner's registration its own repository alone.
// A group and an organization are not hit where one of their runners moves; what the queue
// loses is the change's Capacity.
func (p *Provider) hits(v view) []target.Ref {
	if v.sc.level != repository {
		return nil
	}
	return []target.Ref{p.projectHit(v.sc.path)}
}

// groupHit is a group that a change touches as a whole, by the name that people know.
func (p *Provider) groupHit(sc scope, g group) target.Ref {
	name := untrusted.Clean(string(p.text(g.Name)), 100)
	return target.Ref{System: p.o.Name, Scope: sc.target(), Kind: "runner group", ID: name}
}

// plannedWith captures a change and its undo.
func (p *Provider) plannedWith(ctx context.Context, c change.Change, op operation, undo change.Change, back operation) (change.Change, error) {
	c, err := p.planned(ctx, c, op)
	if err != nil || back == nil {
		return c, err
	}
	undo.ID, undo.Hits = c.ID+"/undo", c.Hits
	u, err := p.planned(ctx, undo, back)
	c.Undo = &u
	return c, err
}

// settings is the page on which a person does the same.
func (p *Provider) settings(sc scope, rest string) string {
	switch sc.level {
	case enterprise:
		return p.page("enterprises/" + sc.path + "/settings/actions/" + rest)
	case organization:
		return p.page("organizations/" + sc.path + "/settings/actions/" + rest)
	}
	return p.page(escapeRepo(sc.path) + "/settings/actions/" + rest)
}

// byHand is where a person does the same: gh api with what follows it, and the page.
func (p *Provider) byHand(v view, api ...string) []change.Link {
	var links []change.Link
	for _, a := range api {
		links = append(links, change.Link{Title: "with gh", Command: p.gh(a)})
	}
	return append(links, change.Link{Title: "the runner's page", URL: p.settings(v.sc, fmt.Sprintf("runners/%d", v.runner.ID))})
}

// gh is a command line of GitHub's own client.
func (p *Provider) gh(api string) string {
	host := p.web.Host
	if strings.EqualFold(host, "github.com") {
		return "gh api " + api
	}
	return "GH_HOST=" + host + " gh api " + api
}
