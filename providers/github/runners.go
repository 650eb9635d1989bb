package github

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
	"cordon/providers"
)

// Runners implements providers.Provider: every configured scope, and every repository or
// organization that one stands for, each once. Ids are per scope.
func (p *Provider) Runners(ctx context.Context, yield func(providers.Page) error) error {
	done := map[scope]bool{}
	for _, s := range p.scopes {
		read := func(sc scope, first *fetched) error {
			if done[sc] {
				return nil
			}
			done[sc] = true
			return p.list(ctx, sc, first, yield)
		}
		var err error
		if s.holds() {
			err = read(s, nil)
		} else {
			err = p.expand(ctx, s, done, read, yield)
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Runner implements providers.Provider. A target without a scope is looked for in every
// scope; two runners of that id are an error that names both.
func (p *Provider) Runner(ctx context.Context, t target.Ref) (providers.Runner, error) {
	sc, id, err := p.own(t)
	if err != nil {
		return providers.Runner{}, err
	}
	var w wireRunner
	if sc == (scope{}) {
		sc, w, err = p.search(ctx, id)
	} else {
		w, _, err = p.details(ctx, p.act, sc, id)
	}
	if err != nil {
		return providers.Runner{}, fmt.Errorf("read runner %s: %w", t, err)
	}
	var groups map[int64]group
	if w.GroupID != nil {
		groups = p.groupsOf(ctx, sc)
	}
	r := p.runner(sc, w, groups)
	r.VersionEnds = p.versionEnds(ctx, sc, w.Version)
	return r, ctx.Err()
}

// Managers implements providers.Provider: GitHub has none. One registration is one
// listener, and who uses it, from where and since when, is not told.
func (p *Provider) Managers(ctx context.Context, t target.Ref) ([]providers.Manager, error) {
	if _, _, err := p.own(t); err != nil {
		return nil, err
	}
	return nil, ctx.Err()
}

func (p *Provider) runner(sc scope, w wireRunner, groups map[int64]group) providers.Runner {
	r := providers.Runner{
		Ref: p.ref(sc, w.ID), Name: p.text(w.Name), Owner: untrusted.Text(sc.path), Status: word(w.Status), Online: w.online(), Busy: tri(w.Busy),
		Ephemeral: tri(w.Ephemeral), OS: p.text(w.OS), Version: p.text(w.Version), Shared: sc.level != repository, Web: p.pageOfRunner(sc, w.ID),
	}
	if sc.level == repository {
		r.Projects = []untrusted.Text{untrusted.Text(sc.path)}
		r.Paused = witness.No // nothing at GitHub pauses one
	}
	if w.GroupID != nil {
		g := groups[*w.GroupID]
		if g.Visibility == "all" || g.Visibility == "private" {
			r.Paused = witness.No // whom a group serves that selects them takes a read of its own
		}
		if r.Group = p.text(g.Name); r.Group == "" {
			r.Group = untrusted.Text("group " + strconv.FormatInt(*w.GroupID, 10))
		}
	}
	for _, l := range w.Labels {
		r.Labels = append(r.Labels, p.text(l.Name))
		if l.Type == "read-only" {
			r.Fixed = append(r.Fixed, p.text(l.Name))
		}
	}
	return r
}

func (p *Provider) pageOfRunner(sc scope, id int64) string {
	n := strconv.FormatInt(id, 10)
	switch sc.level {
	case enterprise:
		return p.page("enterprises/" + url.PathEscape(sc.path) + "/settings/actions/runners/" + n)
	case organization:
		return p.page("organizations/" + url.PathEscape(sc.path) + "/settings/actions/runners/" + n)
	}
	return p.page(sc.prefix()[len("repos/"):] + "/settings/actions/runners/" + n)
}

// groupsOf reads the first hundred runner groups of a scope; they are for display, so
// what cannot be read is shown by its number.
func (p *Provider) groupsOf(ctx context.Context, sc scope) map[int64]group {
	if sc.level == repository {
		return nil
	}
	a, err := p.look.get(ctx, sc.prefix()+"/actions/runner-groups", url.Values{"per_page": {"100"}})
	if err != nil {
		return nil
	}
	l, err := decode[groupPage](a)
	if err != nil {
		return nil
	}
	groups := make(map[int64]group, len(l.Groups))
	for _, g := range l.Groups {
		groups[g.ID] = g
	}
	return groups
}

// versionEnds asks when GitHub stops to give jobs to a version of the runner; zero where
// it does not say, as an Enterprise Server does not.
func (p *Provider) versionEnds(ctx context.Context, sc scope, version string) time.Time {
	if !versionForm.MatchString(version) {
		return time.Time{}
	}
	a, err := p.look.get(ctx, sc.prefix()+"/actions/runners/deprecations/"+version, nil)
	if err != nil {
		return time.Time{}
	}
	d, err := decode[wireDeprecation](a)
	if err != nil || d.Runtime == nil {
		return time.Time{}
	}
	return d.Runtime.UTC()
}
