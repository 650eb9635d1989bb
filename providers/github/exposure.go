package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"cordon/internal/evidence"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/providers"
)

// Bounds of an exposure list; what lies beyond is a gap.
const (
	maxExposedJobs  = 2000
	maxExposedRepos = 100
	maxEnvironments = 30
	exposedCalls    = 1500
)

// Kinds of credentials that only GitHub has.
const kindSecret = "secret"

// Exposure implements providers.Exposer: the runner's own key, the GITHUB_TOKEN of what ran
// since, and names of secrets, variables and deploy keys of every repository whose jobs
// ran here. Values of variables are dropped while decoding; those of secrets GitHub never
// tells. That a value no longer works at its issuer cannot be seen here, and is not said.
func (p *Provider) Exposure(ctx context.Context, t target.Ref, since time.Time) ([]providers.Credential, []evidence.Gap, error) {
	sc, id, err := p.placed(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	e := &exposure{p: p, ctx: ctx, b: p.spend(ctx, exposedCalls), since: since, owners: map[string]string{}}
	e.add(providers.Credential{
		Name: fmt.Sprintf("key of runner %d", id), Kind: "runner-token", Where: sc.String(), Web: p.pageOfRunner(sc, id),
		Why: "it is in .credentials_rsaparams beside the agent; whoever has it can pose as this runner until the registration is deleted",
	})
	s, err := p.seek(ctx, t, since, jobCalls)
	if err != nil {
		if ctx.Err() != nil {
			return e.found, e.gaps, ctx.Err()
		}
		e.miss("jobs since "+since.UTC().Format(time.RFC3339), err)
		s = &search{sc: sc}
	}
	e.reached = s.reached()
	list := s.newest(maxExposedJobs)
	if why := s.partial(); why != "" {
		e.miss("jobs that were not found", errors.New(why))
	}
	repos := s.repos()
	for i, repo := range repos {
		if i == maxExposedRepos || e.stop {
			e.miss("more repositories", fmt.Errorf("what the jobs of %d others could reach was not read", len(repos)-i))
			break
		}
		e.repo(repo)
	}
	e.organizations(repos)
	for _, h := range list {
		e.token(h)
	}
	for i := range e.found {
		if e.found[i].Owner == "" {
			e.found[i].Owner = e.owners[e.found[i].Where]
		}
	}
	return e.found, e.gaps, ctx.Err()
}

type exposure struct {
	p      *Provider
	ctx    context.Context
	b      *bounded
	since  time.Time
	stop   bool              // no more requests
	owners map[string]string // by repository

	reached map[string]time.Time // by repository and organization: end of the last job that ran here; nil: not known
	found   []providers.Credential
	gaps    []evidence.Gap
}

func (e *exposure) add(c providers.Credential) { e.found = append(e.found, c) }

// miss keeps a gap. Lists that this repository does not have are no gap, and are not told
// here: GitHub answers 404 both for those and for what is hidden.
func (e *exposure) miss(name string, err error) {
	if e.ctx.Err() != nil {
		return
	}
	e.stop = e.stop || ends(e.ctx, err)
	e.gaps = append(e.gaps, evidence.Gap{Name: name, Why: err.Error(), At: e.p.clock.Now()})
}

// ask runs one part of a repository, or says that it was not asked.
func (e *exposure) ask(name string, read func() error) {
	if e.ctx.Err() != nil {
		return
	}
	if e.stop {
		e.gaps = append(e.gaps, evidence.Gap{Name: name, Why: "not asked: no requests left for it", At: e.p.clock.Now()})
		return
	}
	if err := read(); err != nil {
		e.miss(name, err)
	}
}

func (e *exposure) short(s string) string { return untrusted.Clean(string(e.p.text(s)), 200) }

func (e *exposure) repo(repo string) {
	at, where := repoPath(repo), e.short(repo)
	settings := e.p.page(escapeRepo(repo) + "/settings/")
	owner := "organization " + strings.SplitN(where, "/", 2)[0]
	org, _, _ := strings.Cut(repo, "/")
	type part struct {
		name, path, where, of, why, kind, web string
	}
	for _, x := range []part{
		{"secrets", at + "/actions/secrets", where, repo, "jobs of this repository ran here", kindSecret, settings + "secrets/actions"},
		{"secrets of its organization", at + "/actions/organization-secrets", owner, org, "visible to " + where + ", whose jobs ran here", kindSecret, settings + "secrets/actions"},
		{"Dependabot secrets", at + "/dependabot/secrets", where, repo, "jobs that Dependabot starts get it", kindSecret, settings + "secrets/dependabot"},
		{"variables", at + "/actions/variables", where, repo, "jobs of this repository ran here; a variable is readable, and may hold a secret all the same", "ci-variable", settings + "variables/actions"},
		{"variables of its organization", at + "/actions/organization-variables", owner, org, "visible to " + where + ", whose jobs ran here", "ci-variable", settings + "variables/actions"},
	} {
		e.ask(x.name+" of "+where, func() error { return e.names(x.path, x.where, x.of, x.why, x.kind, x.web) })
	}
	if !e.stop && e.ctx.Err() == nil {
		e.owners[where] = e.p.owner(e.ctx, e.b, repo)
	}
	e.ask("environments of "+where, func() error { return e.environments(repo, where, settings+"environments") })
	e.ask("deploy keys of "+where, func() error { return e.keys(repo, where, settings+"keys") })
}

// reached is when the last job ended that could read what is a repository's or an
// organization's; one that still runs, and a search that may have missed one, give none.
func (s *search) reached() map[string]time.Time {
	if s.w == nil || s.undone > 0 || s.left() {
		return nil
	}
	out := map[string]time.Time{}
	runs := map[string]bool{}
	for _, h := range s.found {
		org, _, _ := strings.Cut(h.repo, "/")
		for _, at := range []string{h.repo, org} {
			if h.job.Status != completed || h.job.CompletedAt.IsZero() {
				runs[at] = true
			}
			if h.job.CompletedAt.After(out[at]) {
				out[at] = h.job.CompletedAt
			}
		}
	}
	for at := range runs {
		delete(out, at)
	}
	if len(s.lacks) > 0 { // a repository that is not seen may have read what is its organization's
		for _, h := range s.found {
			org, _, _ := strings.Cut(h.repo, "/")
			delete(out, org)
		}
	}
	return out
}

// names lists secrets or variables of a repository or an organization. Replaced is
// updated_at where the store's value is another one than at its making, since the window
// began and after the last job ended that could read it: a job after it got the new value.
func (e *exposure) names(path, where, of, why, kind, web string) error {
	return e.b.all(e.ctx, path, nil, 50, func(a answer) (bool, error) {
		list, err := secretRows(a, kind)
		for _, x := range list {
			c := providers.Credential{Name: e.short(x.Name), Kind: kind, Where: where, Why: why, Web: web}
			c.Reached = e.reached[of].UTC()
			if x.UpdatedAt.After(x.CreatedAt) {
				c.Changed = zeroIfBefore(x.UpdatedAt.UTC(), e.since)
			}
			if !c.Reached.IsZero() && c.Changed.After(c.Reached) {
				c.Replaced = c.Changed
			}
			e.add(c)
		}
		return true, err
	})
}

func secretRows(a answer, kind string) ([]wireSecret, error) {
	var list []wireSecret
	var err error
	if kind == kindSecret {
		var l wireSecrets
		l, err = decode[wireSecrets](a)
		list = l.Secrets
	} else {
		var l wireVariables
		l, err = decode[wireVariables](a)
		list = l.Variables
	}
	if err == nil && list == nil {
		err = malformed(a, "a list without its rows")
	}
	for _, x := range list {
		if x.Name == "" && err == nil {
			err = malformed(a, "a row without a name")
		}
	}
	return list, err
}

// environments have secrets that only jobs which name them get, once their rules let
// them: what is deployed with.
func (e *exposure) environments(repo, where, web string) error {
	at := repoPath(repo) + "/environments"
	n := 0
	return e.b.all(e.ctx, at, nil, 5, func(a answer) (bool, error) {
		l, err := decode[wireEnvironments](a)
		if err == nil && l.Environments == nil {
			err = malformed(a, "a list of environments without environments")
		}
		for _, env := range l.Environments {
			if n++; n > maxEnvironments {
				return false, fmt.Errorf("more than %d environments: not all were read", maxEnvironments)
			}
			why := "jobs that name this environment get it"
			if len(env.Rules) > 0 {
				why += ", once its protection rules let them"
			}
			place := where + " environment " + e.short(env.Name)
			from := len(e.found)
			for _, x := range []struct{ list, kind string }{{"secrets", kindSecret}, {"variables", "ci-variable"}} {
				e.ask(x.list+" of "+place, func() error {
					return e.names(at+"/"+url.PathEscape(env.Name)+"/"+x.list, place, repo, why, x.kind, web)
				})
			}
			for i := from; i < len(e.found); i++ {
				e.found[i].Deploys = e.found[i].Kind == kindSecret
			}
			e.owners[place] = e.owners[where]
		}
		return true, err
	})
}

func (e *exposure) keys(repo, where, web string) error {
	return e.b.all(e.ctx, repoPath(repo)+"/keys", nil, 10, func(a answer) (bool, error) {
		l, err := decode[[]wireKey](a)
		for _, k := range l {
			c := providers.Credential{
				Name: e.short(fmt.Sprintf("%s (%d)", k.Title, k.ID)), Kind: "deploy-key", Where: where, Web: web, Owner: e.short(k.AddedBy),
				Why: "its private half may be on the runner; it reads this repository", Deploys: k.ReadOnly == nil || !*k.ReadOnly,
			}
			if c.Deploys {
				c.Why = "its private half may be on the runner; it can push to this repository"
			}
			if !k.LastUsed.IsZero() && !k.LastUsed.Before(e.since) {
				c.Why += "; used since the window began, at " + k.LastUsed.UTC().Format(time.RFC3339)
			}
			e.add(c)
		}
		return true, err
	})
}

// organizations adds Dependabot's secrets of the organizations, which no repository lists.
func (e *exposure) organizations(repos []string) {
	seen := map[string]bool{}
	for _, r := range repos {
		org, _, _ := strings.Cut(r, "/")
		if seen[org] {
			continue
		}
		seen[org] = true
		where := "organization " + e.short(org)
		e.ask("Dependabot secrets of "+where, func() error {
			err := e.names("orgs/"+url.PathEscape(org)+"/dependabot/secrets", where, org, "jobs that Dependabot starts in the repositories it is for get it", kindSecret,
				e.p.page("organizations/"+url.PathEscape(org)+"/settings/secrets/dependabot"))
			if errors.Is(err, providers.ErrNotFound) {
				return fmt.Errorf("%w; the owner may be a person, who has none", err)
			}
			return err
		})
	}
}

// token is the GITHUB_TOKEN of a job, under the name that the jobs themselves give it.
func (e *exposure) token(h hit) {
	c := providers.Credential{
		Name: fmt.Sprintf("job token of job %d", h.job.ID), Kind: "job-token", Where: e.short(h.repo),
		Why: "the job ran here; its token is valid until the job ends", // as the list itself says it
	}
	if h.job.Status == completed && !h.job.CompletedAt.IsZero() {
		c.Dead, c.DeadSaysBy = h.job.CompletedAt.UTC(), "GitHub: the job has ended ("+word(h.job.Conclusion)+")"
	}
	e.add(c)
}

// zeroIfBefore is t, or zero where it lies before since.
func zeroIfBefore(t, since time.Time) time.Time {
	if t.Before(since) {
		return time.Time{}
	}
	return t
}
