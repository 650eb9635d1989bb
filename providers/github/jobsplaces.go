package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"cordon/internal/target"
	"cordon/providers"
)

// maxPlaces bounds how many repositories are named for one runner (pages of 100).
const maxPlaces = 2000

// served is a repository whose jobs a runner may take.
type served struct {
	repo string // in lower case
	wireRepo
}

// servedBy lists the repositories that may use a runner: those of its group where it has
// one and the group selects them, else all of its scope. why says what the list may lack.
// The most recently pushed come first: a bound that is met cuts off the quiet ones.
func (p *Provider) servedBy(ctx context.Context, b *bounded, sc scope, w *wireRunner) (out []served, why string, err error) {
	var whys []string
	switch sc.level {
	case repository:
		return []served{{repo: sc.path}}, "", nil
	case organization:
		out, whys, err = p.orgPlaces(ctx, b, sc, w)
	case enterprise:
		out, whys, err = p.enterprisePlaces(ctx, b, sc, w)
	}
	slices.SortStableFunc(out, func(x, y served) int {
		if x.Archived != y.Archived {
			if x.Archived {
				return 1
			}
			return -1
		}
		return y.PushedAt.Compare(x.PushedAt)
	})
	if len(out) > maxPlaces {
		whys = append(whys, fmt.Sprintf("%d of %d repositories were left out", len(out)-maxPlaces, len(out)))
		out = out[:maxPlaces]
	}
	return out, strings.Join(whys, "; "), err
}

func (p *Provider) orgPlaces(ctx context.Context, b *bounded, sc scope, w *wireRunner) ([]served, []string, error) {
	if w == nil || w.GroupID == nil {
		list, whys, err := p.orgRepos(ctx, b, sc.path)
		return list, append(whys, "the runner's group is not known, so every repository of "+sc.path+wider), err
	}
	at := sc.prefix() + "/actions/runner-groups/" + strconv.FormatInt(*w.GroupID, 10)
	g, err := oneGroup(ctx, b, at, *w.GroupID)
	switch {
	case ends(ctx, err):
		return nil, nil, err
	case err != nil:
		list, whys, lerr := p.orgRepos(ctx, b, sc.path)
		return list, append(whys, fmt.Sprintf("which repositories the runner's group has could not be read (%v), so every one of %s%s", err, sc.path, wider)), lerr
	case g.Visibility != "selected":
		return p.orgRepos(ctx, b, sc.path)
	}
	c := collector{seen: map[string]bool{}}
	err = b.all(ctx, at+"/repositories", nil, maxPlaces/100+1, func(a answer) (bool, error) {
		l, err := decode[wireGroupRepos](a)
		if err != nil || l.Total == nil || l.Repos == nil {
			return false, cmpErr(err, malformed(a, "a list of repositories without repositories or total_count"))
		}
		c.expect = *l.Total
		c.add(l.Repos)
		return true, nil
	})
	if err == nil && len(c.list)+c.odd == 0 { // a quarantine: its jobs are of before it came there
		if was, ok := p.memory.home(sc, *w); ok {
			return p.orgPlaces(ctx, b, sc, &was)
		}
		list, whys, lerr := p.orgRepos(ctx, b, sc.path)
		return list, append(whys, servesNobody+"every repository of "+sc.path+wider), lerr
	}
	return c.list, c.lacks(), err
}

// What is said where a list is as whole as it can be: none of it is something left out.
const (
	servesNobody = "the runner's group serves nobody now, so "
	onlySeen     = "that this credential can see"
	wider        = " is looked at" // more than may use it
)

// orgRepos lists every repository of an organization. It is a bare list: what the
// credential may not see is absent without a word.
func (p *Provider) orgRepos(ctx context.Context, b *bounded, org string) ([]served, []string, error) {
	c := collector{seen: map[string]bool{}, expect: -1}
	q := url.Values{"type": {"all"}, "sort": {"pushed"}, "direction": {"desc"}}
	err := b.all(ctx, scope{organization, org}.prefix()+"/repos", q, maxPlaces/100+1, func(a answer) (bool, error) {
		l, err := decode[[]wireRepo](a)
		c.add(l)
		return true, err
	})
	return c.list, append(c.lacks(), "GitHub lists only repositories of "+org+" "+onlySeen), err
}

// enterprisePlaces goes through the organizations of the runner's group. GitHub's REST
// API has no list of an enterprise's organizations: where the group takes all, those that
// are configured stand for them.
func (p *Provider) enterprisePlaces(ctx context.Context, b *bounded, sc scope, w *wireRunner) ([]served, []string, error) {
	var orgs []string
	var whys []string
	all := "the runner's group is not known"
	if w != nil && w.GroupID != nil {
		at := sc.prefix() + "/actions/runner-groups/" + strconv.FormatInt(*w.GroupID, 10)
		g, err := oneGroup(ctx, b, at, *w.GroupID)
		switch {
		case ends(ctx, err):
			return nil, nil, err
		case err != nil:
			all = "the runner's group could not be read: " + err.Error()
		case g.Visibility != "selected":
			all = "its group is open to every organization of the enterprise, and GitHub's REST API does not list those"
		default:
			all = ""
			err := b.all(ctx, at+"/organizations", nil, 10, func(a answer) (bool, error) {
				l, err := decode[wireGroupOrgs](a)
				if err != nil || l.Orgs == nil {
					return false, cmpErr(err, malformed(a, "a list of organizations without organizations"))
				}
				for _, o := range l.Orgs {
					if ownerForm.MatchString(strings.ToLower(o.Login)) {
						orgs = append(orgs, strings.ToLower(o.Login))
					}
				}
				return true, nil
			})
			if ends(ctx, err) {
				return nil, nil, err
			}
			if err != nil {
				whys = append(whys, "not every organization of the runner's group could be read: "+err.Error())
			} else if len(orgs) == 0 {
				all = "the runner's group serves nobody now"
			}
		}
	}
	if all != "" {
		for _, s := range p.scopes {
			if s.level == organization || s.level == repositories {
				orgs = append(orgs, s.path)
			}
		}
		whys = append(whys, fmt.Sprintf("%s; the %d that are configured here are looked at", all, len(orgs)))
	}
	var out []served
	for _, o := range orgs {
		list, why, err := p.orgRepos(ctx, b, o)
		out, whys = append(out, list...), append(whys, why...)
		if ends(ctx, err) {
			return out, whys, err
		}
		if err != nil {
			whys = append(whys, fmt.Sprintf("the repositories of %s could not be listed: %v", o, err))
		}
	}
	return out, whys, nil
}

func oneGroup(ctx context.Context, s service, path string, id int64) (group, error) {
	g, _, err := one(ctx, s, path, "group", func(g group) bool { return g.ID == id })
	return g, err
}

// collector gathers repositories once each.
type collector struct {
	list   []served
	seen   map[string]bool
	expect int // -1: not told
	odd    int
}

func (c *collector) add(l []wireRepo) {
	for _, r := range l {
		name := repoName(r.Full)
		switch {
		case name == "":
			c.odd++
		case !c.seen[name]:
			c.seen[name] = true
			c.list = append(c.list, served{name, r})
		}
	}
}

func (c *collector) lacks() []string {
	var out []string
	if c.odd > 0 {
		out = append(out, fmt.Sprintf("%d repositories have no usable name", c.odd))
	}
	if c.expect > len(c.list)+c.odd {
		out = append(out, fmt.Sprintf("GitHub counts %d repositories and listed %d", c.expect, len(c.list)))
	}
	return out
}

// cmpErr is the first of two errors that is there.
func cmpErr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// runnerOf reads the registration, or remembers what an earlier reading said of one that
// is gone, or takes the first of names; nil: nothing is known of it but its id. The error
// ends the search.
func (p *Provider) runnerOf(ctx context.Context, s service, sc scope, id int64, names ...string) (*wireRunner, string, error) {
	w, _, err := p.details(ctx, s, sc, id)
	if err == nil {
		p.memory.name(sc, w)
		return &w, "", nil
	}
	if ends(ctx, err) {
		return nil, "", err
	}
	old, ok := p.memory.named(sc, id)
	switch {
	case ok:
		return &old, "", nil
	case len(names) > 0:
		return &wireRunner{ID: id, Name: names[0]}, "", nil
	case errors.Is(err, providers.ErrNotFound):
		return nil, "the runner is gone and its name is not known: jobs are matched by its id alone", nil
	}
	return nil, "the runner could not be read (" + err.Error() + "): jobs are matched by its id alone", nil
}

// placed is own for a reading that needs the scope: where t does not tell it, every
// configured one is asked.
func (p *Provider) placed(ctx context.Context, t target.Ref) (scope, int64, error) {
	sc, id, err := p.own(t)
	if err != nil || sc != (scope{}) {
		return sc, id, err
	}
	sc, _, err = p.search(ctx, id)
	return sc, id, err
}
