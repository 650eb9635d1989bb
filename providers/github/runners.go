package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"cordon/internal/target"
	"cordon/internal/untrusted"
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
	var names map[int64]string
	if w.GroupID != nil {
		names = p.groupNames(ctx, sc)
	}
	r := p.runner(sc, w, names)
	r.VersionEnds = p.versionEnds(ctx, sc, w.Version)
	return r, ctx.Err()
}

// maxSearch bounds how many places are asked for a runner whose scope is not told.
const maxSearch = 100

var errEnough = errors.New("enough places")

// search finds the one scope that has a runner with that id.
func (p *Provider) search(ctx context.Context, id int64) (scope, wireRunner, error) {
	var found []scope
	var hit wireRunner
	var unread error
	asked := map[scope]bool{}
	look := func(sc scope, _ *fetched) error {
		if asked[sc] {
			return nil
		}
		if len(asked) == maxSearch {
			return errEnough
		}
		asked[sc] = true
		w, _, err := p.details(ctx, p.act, sc, id)
		switch {
		case finished(ctx, err) != nil:
			return finished(ctx, err)
		case err == nil:
			found, hit = append(found, sc), w
		case !errors.Is(err, providers.ErrNotFound) && unread == nil:
			unread = err
		}
		return nil
	}
	for _, s := range p.scopes {
		err := error(nil)
		if s.holds() {
			err = look(s, nil)
		} else {
			err = p.places(ctx, s, func(sc scope) error { return look(sc, nil) }, func(_ string, why error) error {
				if unread == nil {
					unread = why
				}
				return nil
			})
		}
		switch {
		case errors.Is(err, errEnough):
			if len(found) < 2 {
				return scope{}, wireRunner{}, fmt.Errorf("%w: ids are per scope, and there are more than %d places to look in; write %s",
					providers.ErrNotYours, maxSearch, p.ref(scope{repository, "owner/repo"}, id))
			}
		case err != nil:
			return scope{}, wireRunner{}, err
		}
	}
	switch {
	case len(found) > 1:
		return scope{}, wireRunner{}, fmt.Errorf("%w: ids are per scope, and more than one has a runner %d: write %s or %s",
			providers.ErrNotYours, id, p.ref(found[0], id), p.ref(found[1], id))
	case len(found) == 1:
		return found[0], hit, nil
	case unread != nil:
		return scope{}, wireRunner{}, fmt.Errorf("%w: no scope of %s that could be read has a runner %d, and not all could be: %w", providers.ErrNotFound, p.o.Name, id, unread)
	}
	return scope{}, wireRunner{}, fmt.Errorf("%w: no scope of %s has a runner %d", providers.ErrNotFound, p.o.Name, id)
}

// Managers implements providers.Provider: GitHub has none. One registration is one
// listener, and who uses it, from where and since when, is not told.
func (p *Provider) Managers(ctx context.Context, t target.Ref) ([]providers.Manager, error) {
	if _, _, err := p.own(t); err != nil {
		return nil, err
	}
	return nil, ctx.Err()
}

func (p *Provider) runner(sc scope, w wireRunner, names map[int64]string) providers.Runner {
	r := providers.Runner{
		Ref: p.ref(sc, w.ID), Name: p.text(w.Name), Owner: untrusted.Text(sc.path), Status: word(w.Status), Online: w.online(), Busy: tri(w.Busy),
		Ephemeral: tri(w.Ephemeral), OS: p.text(w.OS), Version: p.text(w.Version), Shared: sc.level != repository, Web: p.pageOfRunner(sc, w.ID),
	}
	if sc.level == repository {
		r.Projects = []untrusted.Text{untrusted.Text(sc.path)}
	}
	if w.GroupID != nil {
		if r.Group = p.text(names[*w.GroupID]); r.Group == "" {
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

// groupNames reads the first hundred runner groups of a scope; they are for display, so
// what cannot be read is shown by its number.
func (p *Provider) groupNames(ctx context.Context, sc scope) map[int64]string {
	if sc.level == repository {
		return nil
	}
	a, err := p.look.get(ctx, sc.prefix()+"/actions/runner-groups", url.Values{"per_page": {"100"}})
	if err != nil {
		return nil
	}
	l, err := decode[wireGroups](a)
	if err != nil {
		return nil
	}
	names := make(map[int64]string, len(l.Groups))
	for _, g := range l.Groups {
		names[g.ID] = g.Name
	}
	return names
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
