package github

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/providers"
)

// named compares as GitHub does: two names that differ in case alone are one.
func named(t providers.Traits, name string) bool {
	same := func(s string) bool { return s != "" && strings.EqualFold(s, name) }
	return slices.ContainsFunc(t.Names, same) || slices.ContainsFunc(t.Hosts, same)
}

// Returned implements providers.Returner: the same name, or the name of the machine itself,
// under another registration in any configured scope, labels that it alone had, and jobs
// that ran under such a name since. GitHub tells neither when a runner was registered nor
// from where. In its own scope, where names are unique, a runner with its name was
// registered after it was gone; elsewhere it may have been there before: what Namesakes kept
// of that decides, and where nothing was kept it cannot be told. No is said only after every
// list was read to its end and every job since was looked at; between the ends of a watch
// its own scope is asked by name, and the answer says that it was brief.
func (p *Provider) Returned(ctx context.Context, gone target.Ref, t providers.Traits, since time.Time) (witness.Observation, error) {
	sc, id, err := p.own(gone)
	if err != nil {
		return witness.Observation{}, err
	}
	if old, ok := p.memory.named(sc, id); ok && len(t.Names) == 0 {
		t.Names = append(t.Names, old.Name)
	}
	o := witness.Observation{Subject: gone, Source: witness.ProviderAPI, At: p.clock.Now()}
	if !slices.ContainsFunc(slices.Concat(t.Names, t.Hosts), func(s string) bool { return s != "" }) {
		o.CouldNot = "neither its name nor a host of it is known: it would not be recognised"
		return o, nil
	}
	r := returning{p: p, o: &o, gone: p.ref(sc, id), sc: sc, id: id, t: t, since: since, look: providers.LookFrom(ctx), read: map[target.Scope]bool{}}
	if sc == (scope{}) {
		r.gone = gone
	}
	if r.look == providers.LookBetween && sc != (scope{}) {
		r.near(ctx)
	} else {
		r.everywhere(ctx)
	}
	if ctx.Err() != nil {
		return o, ctx.Err()
	}
	late := r.jobs(ctx)
	if ctx.Err() != nil {
		return o, ctx.Err()
	}
	r.end(late)
	return o, nil
}

// everywhere reads the lists of all configured scopes, and that of its own where it is not
// among them: what is gone by its number has to be absent from the list as well.
func (r *returning) everywhere(ctx context.Context) {
	r.levels(ctx)
	take := func(page providers.Page) error {
		if page.Gap != nil {
			r.blind(page.Gap.Name + ": " + page.Gap.Why)
		} else {
			r.read[page.Scope] = true
		}
		for _, x := range page.Runners {
			r.weigh(x)
		}
		return ctx.Err()
	}
	err := r.p.Runners(ctx, take)
	if err == nil && r.sc != (scope{}) && !r.read[r.sc.target()] && len(r.unseen) == 0 {
		err = r.p.list(ctx, r.sc, nil, take)
	}
	if err != nil && ctx.Err() == nil {
		r.blind("the runners of every scope could not be read: " + err.Error())
	}
}

// near asks its own scope for its names: what a look between others is for.
func (r *returning) near(ctx context.Context) {
	seen := map[string]bool{}
	for _, name := range slices.Concat(r.t.Names, r.t.Hosts) {
		name = strings.ToLower(name)
		if name == "" || seen[name] || len(seen) == maxNear {
			continue
		}
		seen[name] = true
		a, err := r.p.look.get(ctx, r.sc.prefix()+"/actions/runners", pageOf(url.Values{"name": {name}}, 1, perPage))
		var l wireRunners
		if err == nil {
			l, err = rows(a)
		}
		if err != nil {
			r.blind(fmt.Sprintf("runners of %s that are called %s: %v", r.sc, r.p.text(name), err))
			return
		}
		for _, w := range l.Runners { // how GitHub compares is not documented: weigh does it again
			r.weigh(r.p.runner(r.sc, w, nil))
		}
	}
}

// maxNear bounds how many names are asked about between others.
const maxNear = 5

// levels names the places above and below its own where nobody looks: a planted runner is
// registered to a repository more often than to an organization.
func (r *returning) levels(ctx context.Context) {
	has := func(s scope) bool { return slices.Contains(r.p.scopes, s) }
	some := func(level string) bool {
		return slices.ContainsFunc(r.p.scopes, func(s scope) bool { return s.level == level })
	}
	owner, _, _ := strings.Cut(r.sc.path, "/")
	all := has(scope{level: mine})
	switch {
	case r.sc == (scope{}):
		return
	case r.sc.level == enterprise:
		if !all && !some(organization) {
			r.blind("organizations of " + r.sc.String() + ": none is among the scopes that are configured; add organization:ORG and repositories:ORG for each")
		} else if !all && !some(repositories) {
			r.blind("repositories: none is among the scopes that are configured; add repositories:ORG for each organization")
		}
		return
	case !all && !has(scope{repositories, owner}):
		r.blind(fmt.Sprintf("repositories of %s: they are not among the scopes that are configured; add repositories:%s", owner, owner))
	}
	if r.sc.level == repository && !all && !has(scope{organization, owner}) && r.organization(ctx, owner) {
		r.blind(fmt.Sprintf("organization %s: it is not among the scopes that are configured; add organization:%s", owner, owner))
	}
	if !some(enterprise) {
		r.o.Except = "an enterprise above " + owner + ", if it has one: none is among the scopes that are configured"
	}
}

// organization reports whether an owner may be one; a user has no runners of his own.
func (r *returning) organization(ctx context.Context, owner string) bool {
	a, err := r.p.look.get(ctx, "users/"+url.PathEscape(owner), nil)
	if err != nil {
		return true
	}
	o, err := decode[wireOwner](a)
	return err != nil || o.Type != "User"
}
