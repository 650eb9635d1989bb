package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"cordon/internal/evidence"
	"cordon/providers"
)

// maxRepoPages bounds a list of repositories, a hundred a page.
const maxRepoPages = 200

// expand reads the runners of every place that s stands for. Repositories are read some
// at a time; one that has none is not a page of its own.
func (p *Provider) expand(ctx context.Context, s scope, done map[scope]bool, read func(scope, *fetched) error, yield func(providers.Page) error) error {
	gap := func(name, why string) error {
		return yield(providers.Page{Scope: s.target(), Expect: -1, Gap: &evidence.Gap{Name: name, Why: why, At: p.clock.Now()}})
	}
	var batch []scope
	var kept error // the reserve is reached: nothing more is asked
	skipped := 0
	flush := func() error {
		for i, f := range fetchAll(batch, func(sc scope) fetched { return p.fetch(ctx, sc, 1) }) {
			switch {
			case errors.Is(f.err, errKept):
				kept = f.err
				skipped++
			case f.err == nil && len(f.list.Runners) == 0 && *f.list.Total == 0:
			default:
				if err := read(batch[i], &f); err != nil {
					return err
				}
			}
		}
		batch = batch[:0]
		return nil
	}
	err := p.places(ctx, s, func(sc scope) error {
		switch {
		case done[sc]:
			return nil
		case kept != nil:
			skipped++
			return nil
		case sc.level != repository:
			return read(sc, nil)
		}
		if batch = append(batch, sc); len(batch) < parallel {
			return nil
		}
		return flush()
	}, func(name string, why error) error { return gap(name, why.Error()) })
	if err == nil {
		err = flush()
	}
	if err == nil && kept != nil {
		err = gap(fmt.Sprintf("runners of %d repositories of %s", skipped, s), kept.Error())
	}
	return err
}

// places tells every organization and repository that s stands for, and what of them
// could not be had. The error is each's, missing's or ctx's.
func (p *Provider) places(ctx context.Context, s scope, each func(scope) error, missing func(name string, why error) error) error {
	e := &expansion{p: p, s: s, missing: missing}
	e.each = func(sc scope) error {
		e.told++
		return each(sc)
	}
	if err := e.read(ctx); err != nil || e.told+e.others > 0 || e.broken {
		return err
	}
	return missing("runners of "+s.String(), fmt.Errorf("%w: this credential sees no repository of it: "+
		"a fine-grained token and an App reach only what they were given, so it may have some all the same", providers.ErrNotFound))
}

func (e *expansion) read(ctx context.Context) error {
	if e.p.o.App != nil {
		return e.installation(ctx)
	}
	if e.s.level == mine {
		if err := e.organizations(ctx); err != nil {
			return err
		}
		return e.repositories(ctx, "user/repos", url.Values{"affiliation": {"owner,collaborator,organization_member"}})
	}
	return e.owner(ctx)
}

// expansion is one reading of what a scope stands for.
type expansion struct {
	p       *Provider
	s       scope
	each    func(scope) error
	missing func(string, error) error
	others  int      // repositories that the credential does not administer
	named   []string // some of them
	told    int      // organizations and repositories that were handed on
	broken  bool     // a list could not be read, which was said
	partly  bool     // the installation has not every repository of its account
	hidden  bool     // GitHub left out what is of organizations with single sign-on
}

// organizations tells those that the user belongs to.
func (e *expansion) organizations(ctx context.Context) error {
	var stop error
	err := pages(ctx, e.p.look, "user/orgs", nil, maxRepoPages, func(a answer) (bool, error) {
		e.hidden = e.hidden || a.Partial
		l, err := decode[[]wireOwner](a)
		for _, o := range l {
			sc, perr := parseScope(organization + ":" + o.Login)
			if perr != nil {
				continue // not a name that GitHub has
			}
			if stop = e.each(sc); stop != nil {
				return false, stop
			}
		}
		return true, err
	})
	return e.end(ctx, stop, err, "the organizations of this credential")
}

// owner tells the repositories of one organization or user.
func (e *expansion) owner(ctx context.Context) error {
	who := url.PathEscape(e.s.path)
	a, err := e.p.look.get(ctx, "users/"+who, nil)
	var o wireOwner
	if err == nil {
		o, err = decode[wireOwner](a)
	}
	if err != nil {
		return e.end(ctx, nil, err, "repositories of "+e.s.path)
	}
	if o.Type == "Organization" {
		if err := e.repositories(ctx, "orgs/"+who+"/repos", url.Values{"type": {"all"}}); err != nil {
			return err
		}
		return e.counted(ctx, "orgs/"+who)
	}
	if a, err = e.p.look.get(ctx, "user", nil); err == nil {
		o, err = decode[wireOwner](a)
	}
	if err == nil && strings.EqualFold(o.Login, e.s.path) {
		return e.repositories(ctx, "user/repos", url.Values{"affiliation": {"owner"}})
	}
	if done := finished(ctx, err); done != nil {
		return done
	}
	if err := e.missing("private repositories of "+e.s.path, errors.New("only a token of that user lists them")); err != nil {
		return err
	}
	return e.repositories(ctx, "users/"+who+"/repos", url.Values{"type": {"owner"}})
}

// counted compares what was listed with what GitHub counts, where it tells that: a
// fine-grained token is answered those repositories alone that it was given, without a word.
func (e *expansion) counted(ctx context.Context, org string) error {
	a, err := e.p.look.get(ctx, org, nil)
	var n wireCounts
	if err == nil {
		n, err = decode[wireCounts](a)
	}
	if done := finished(ctx, err); done != nil {
		return done
	}
	if left := n.Public + n.Private - e.told - e.others; err == nil && left > 0 && !e.broken {
		return e.missing(fmt.Sprintf("runners of %d repositories of %s that were not listed", left, e.s),
			errors.New("GitHub counts more repositories than it lists for this credential: a fine-grained token reaches only those that it was given"))
	}
	return nil // without the count nothing is added to what the list said itself
}

// installation tells what an App's installation covers.
func (e *expansion) installation(ctx context.Context) error {
	orgs := map[scope]bool{}
	var stop error
	err := pages(ctx, e.p.look, "installation/repositories", nil, maxRepoPages, func(a answer) (bool, error) {
		l, err := decode[wireInstallation](a)
		e.partly = e.partly || err == nil && l.Selection != "all"
		for _, r := range l.Repositories {
			org, perr := parseScope(organization + ":" + r.Owner.Login)
			if e.s.level == mine && perr == nil && r.Owner.Type == "Organization" && !orgs[org] {
				orgs[org] = true
				if stop = e.each(org); stop != nil {
					return false, stop
				}
			}
			if e.s.level == mine || strings.EqualFold(r.Owner.Login, e.s.path) {
				if stop = e.repo(r); stop != nil {
					return false, stop
				}
			}
		}
		return true, err
	})
	if err := e.end(ctx, stop, err, "repositories of the installation"); err != nil || !e.partly || e.broken {
		return err
	}
	return e.missing("runners of repositories of "+e.s.String()+" that the installation does not have",
		errors.New("it has selected ones alone (repository_selection), and GitHub does not tell of the others: have all selected where its settings are, or list them with another credential"))
}

func (e *expansion) repositories(ctx context.Context, path string, q url.Values) error {
	var stop error
	err := pages(ctx, e.p.look, path, q, maxRepoPages, func(a answer) (bool, error) {
		e.hidden = e.hidden || a.Partial
		l, err := decode[[]wireRepository](a)
		for _, r := range l {
			if r.Permissions != nil && !r.Permissions.Admin {
				if e.others++; len(e.named) < 3 {
					e.named = append(e.named, string(e.p.text(r.FullName)))
				}
				continue
			}
			if stop = e.repo(r); stop != nil {
				return false, stop
			}
		}
		return true, err
	})
	if err := e.end(ctx, stop, err, "repositories of "+e.s.String()); err != nil || e.others == 0 {
		return err
	}
	return e.missing(fmt.Sprintf("runners of %d repositories of %s (%s)", e.others, e.s, strings.Join(e.named, ", ")),
		errors.New("only somebody who administers a repository sees its runners, and this credential does not"))
}

func (e *expansion) repo(r wireRepository) error {
	sc, err := parseScope(repository + ":" + r.FullName)
	if err != nil {
		return e.missing("runners of a repository", errors.New("its name is none that GitHub has"))
	}
	return e.each(sc)
}

// end tells a broken list from a caller who stopped.
func (e *expansion) end(ctx context.Context, stop, err error, what string) error {
	if stop != nil {
		return stop
	}
	if done := finished(ctx, err); done != nil {
		return done
	}
	if err != nil {
		e.broken = true
		return e.missing(what, err)
	}
	if e.hidden {
		e.hidden = false
		return e.missing(what+", of some organizations", errors.New("they ask for single sign-on, and GitHub left them out: authorize this token for it"))
	}
	return nil
}
