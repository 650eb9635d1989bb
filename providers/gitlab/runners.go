package gitlab

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"cordon/internal/evidence"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
	"cordon/providers"
)

// Runners implements providers.Provider. Lists hold no tags, projects or last
// contact; Runner has them. A runner that two scopes list comes once, under the first.
func (p *Provider) Runners(ctx context.Context, yield func(providers.Page) error) error {
	seen := map[int64]bool{}
	epoch, began := p.recent.begin()
	whole := listed{read: began, ready: map[int64]bool{}}
	for _, s := range p.scopes {
		var stop error
		n := 0
		err := p.pages(ctx, s.list, nil, maxPages, func(a answer) (bool, error) {
			list, err := rows(a, wireRunner.check)
			if err != nil {
				return false, err
			}
			page := providers.Page{Scope: s.target(), Expect: a.Total}
			for _, w := range list {
				if !seen[w.ID] {
					seen[w.ID] = true
					if len(whole.ready) < maxRecentList {
						whole.ready[w.ID] = w.ready()
					} else {
						whole.partial = true
					}
					page.Runners = append(page.Runners, p.runner(w))
				}
			}
			n++
			stop = yield(page)
			return stop == nil, stop
		})
		if stop != nil {
			return stop
		}
		if done := finished(ctx, err); done != nil {
			return done
		}
		if err != nil {
			whole.partial = true
			gap := &evidence.Gap{Name: "runners of " + s.String(), Why: fmt.Sprintf("after %d pages: %v", n, err), At: p.clock.Now()}
			if err := yield(providers.Page{Scope: s.target(), Expect: -1, Gap: gap}); err != nil {
				return err
			}
		}
	}
	if ctx.Err() == nil {
		p.recent.keepList(whole, epoch)
	}
	return ctx.Err()
}

// Runner implements providers.Provider.
func (p *Provider) Runner(ctx context.Context, t target.Ref) (providers.Runner, error) {
	id, err := p.own(t)
	if err != nil {
		return providers.Runner{}, err
	}
	w, _, err := p.details(ctx, id, true)
	if err != nil {
		return providers.Runner{}, fmt.Errorf("read runner %s: %w", t.Short(), err)
	}
	if err := levels(t, w); err != nil {
		return providers.Runner{}, err
	}
	return p.runner(w), nil
}

// Managers implements providers.Provider.
func (p *Provider) Managers(ctx context.Context, t target.Ref) ([]providers.Manager, error) {
	id, err := p.own(t)
	if err != nil {
		return nil, err
	}
	list, _, err := p.managers(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read managers of %s: %w", t.Short(), err)
	}
	out := make([]providers.Manager, 0, len(list))
	for _, m := range list {
		out = append(out, providers.Manager{
			Ref: p.managerRef(t.Scope, m), SystemID: p.text(m.SystemID), Address: p.text(m.Address), Version: p.text(m.Version),
			Status: word(m.Status), CreatedAt: m.CreatedAt, LastContact: m.ContactedAt,
		})
	}
	return out, nil
}

// details reads one registration. Projects can be thousands and are left out unless
// asked for (include_projects is newer than 18.0; older versions ignore it).
func (p *Provider) details(ctx context.Context, id int64, projects bool) (wireRunner, answer, error) {
	q := url.Values{}
	if !projects {
		q.Set("include_projects", "false")
	}
	a, err := p.ask(ctx, "runners/"+strconv.FormatInt(id, 10), q)
	if err != nil {
		return wireRunner{}, a, err
	}
	w, err := decode[wireRunner](a)
	switch {
	case err != nil:
		return w, a, err
	case w.check() != nil || w.ID != id:
		return w, a, malformed(a, "not the runner that was asked for")
	}
	return w, a, nil
}

// managers reads the processes of a registration; GitLab does not page that list.
func (p *Provider) managers(ctx context.Context, id int64) ([]wireManager, answer, error) {
	a, err := p.ask(ctx, fmt.Sprintf("runners/%d/managers", id), nil)
	if err != nil {
		return nil, a, err
	}
	list, err := rows(a, func(m wireManager) error {
		if m.ID <= 0 {
			return errRow
		}
		return nil
	})
	slices.SortFunc(list, func(x, y wireManager) int { return int(x.ID - y.ID) })
	return list, a, err
}

// jobsWith reads the first 100 jobs of one status, all that can run at once in practice.
func (p *Provider) jobsWith(ctx context.Context, id int64, status string) ([]wireJob, answer, error) {
	a, err := p.ask(ctx, fmt.Sprintf("runners/%d/jobs", id), url.Values{"status": {status}, "per_page": {"100"}})
	if err != nil {
		return nil, a, err
	}
	list, err := rows(a, checkJob)
	return list, a, err
}

func checkJob(j wireJob) error {
	if j.ID <= 0 {
		return errRow
	}
	return nil
}

func levels(t target.Ref, w wireRunner) error {
	if t.Scope.Level != "" && t.Scope.Level != w.level() {
		return fmt.Errorf("%w: %s is a runner of the level %s, not %s", providers.ErrNotYours, t.Short(), w.level(), untrusted.Text(t.Scope.Level))
	}
	return nil
}

func (p *Provider) ref(w wireRunner) target.Ref {
	return target.Ref{System: p.o.Name, Scope: target.Scope{Level: w.level()}, Kind: target.Runner, ID: strconv.FormatInt(w.ID, 10)}
}

func (p *Provider) managerRef(s target.Scope, m wireManager) target.Ref {
	return target.Ref{System: p.o.Name, Scope: s, Kind: target.Manager, ID: strconv.FormatInt(m.ID, 10)}
}

func (p *Provider) runner(w wireRunner) providers.Runner {
	r := providers.Runner{
		Ref: p.ref(w), Name: p.text(w.Description), Owner: p.text(w.owner()), Status: word(w.Status),
		Paused: w.paused(), Online: tri(w.Online), Locked: tri(w.Locked), Untagged: tri(w.Untagged),
		Shared: w.IsShared || w.level() != Project || len(w.Projects) > 1, Version: p.text(w.Version),
		CreatedAt: w.CreatedAt, LastContact: w.ContactedAt, Web: p.web(w),
	}
	if !w.ContactedAt.IsZero() {
		r.Clock = witness.ClockLagging
	}
	for _, l := range w.Tags {
		r.Labels = append(r.Labels, p.text(l))
	}
	for _, x := range w.Projects {
		r.Projects = append(r.Projects, p.text(x.Path))
	}
	return r
}

// owner is the group, or the project that the runner was made for: GitLab lists it first.
func (w wireRunner) owner() string {
	switch {
	case w.level() == Group && len(w.Groups) > 0:
		return w.Groups[0].path()
	case w.level() == Project && len(w.Projects) > 0:
		return w.Projects[0].Path
	}
	return ""
}

// web is the runner's page for a person, "" where its owner is not known. It is
// built from the configured address, never taken from an answer.
func (p *Provider) web(w wireRunner) string {
	id, owner := strconv.FormatInt(w.ID, 10), w.owner()
	switch {
	case w.level() == Instance:
		return p.page("admin/runners/" + id)
	case w.level() == Group && owner != "":
		return p.page("groups/" + escapePath(owner) + "/-/runners/" + id)
	case w.level() == Project && owner != "":
		return p.page(escapePath(owner) + "/-/runners/" + id)
	}
	return ""
}

func (p *Provider) page(path string) string {
	return strings.TrimRight(p.base.String(), "/") + "/" + path
}

func escapePath(path string) string {
	parts := strings.Split(path, "/")
	for i, s := range parts {
		parts[i] = url.PathEscape(s)
	}
	return strings.Join(parts, "/")
}

// lastContact is the latest that GitLab knows of any manager.
func lastContact(w wireRunner, ms []wireManager) time.Time {
	last := w.ContactedAt
	for _, m := range ms {
		if m.ContactedAt.After(last) {
			last = m.ContactedAt
		}
	}
	return last
}

// gone tells a registration that is not there from one that is hidden: the 404
// counts only if the same credential still works and can still read its lists.
// The zero error means gone.
func (p *Provider) gone(ctx context.Context, err error) error {
	if !errors.Is(err, providers.ErrNotFound) {
		return err
	}
	a, verr := p.api.get(ctx, "version", nil)
	if verr == nil {
		_, verr = decode[struct{}](a)
	}
	if verr != nil {
		return fmt.Errorf("404, and the credential does not work elsewhere either: gone and hidden cannot be told apart (%w)", verr)
	}
	for _, s := range p.scopes {
		a, err := p.api.get(ctx, s.list, url.Values{"per_page": {"1"}})
		if err == nil {
			_, err = rows(a, wireRunner.check)
		}
		if err != nil {
			return fmt.Errorf("404, but the list of %s cannot be read: gone and hidden cannot be told apart (%w)", s, err)
		}
	}
	return nil
}
