package github

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"cordon/internal/target"
	"cordon/providers"
)

const (
	expiringCalls = 120
	expiringRepos = 20
	maxExpiring   = 50 // artifacts that are named one by one
)

// Expiring implements providers.Expirer: what GitHub deletes by itself. Retention is read
// where the credential may; the rest is GitHub's documented limits.
func (p *Provider) Expiring(ctx context.Context, t target.Ref, since time.Time) ([]providers.Expiry, error) {
	sc, _, err := p.own(t)
	if err != nil {
		return nil, err
	}
	s, err := p.seek(ctx, t, since, jobCalls)
	if done := finished(ctx, err); done != nil {
		return nil, done
	}
	var out []providers.Expiry
	if err != nil {
		out = append(out, providers.Expiry{What: "logs and artifacts of jobs", Where: p.o.Name, Why: "not known: the jobs cannot be listed: " + err.Error()})
		s = &search{sc: sc}
	}
	x := expiring{p: p, ctx: ctx, b: p.spend(ctx, expiringCalls), since: since, s: s}
	for i, repo := range s.repos() {
		if i == expiringRepos {
			out = append(out, providers.Expiry{What: "logs and artifacts of more repositories", Where: p.o.Name, Why: fmt.Sprintf("not known: %d repositories were not asked", len(s.repos())-i)})
			break
		}
		out = append(out, x.repo(repo)...)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if why := s.partial(); why != "" {
		out = append(out, providers.Expiry{What: "logs and artifacts of other jobs", Where: p.o.Name, Why: "not known: " + why})
	}
	slices.SortStableFunc(out, func(a, b providers.Expiry) int { // what goes first stands first, what is not known last
		if a.At.IsZero() != b.At.IsZero() {
			if a.At.IsZero() {
				return 1
			}
			return -1
		}
		return a.At.Compare(b.At)
	})
	return append(out,
		providers.Expiry{What: "caches of Actions", Where: p.o.Name, Why: "7 days after their last use, or earlier where the repository is over its limit"},
		providers.Expiry{What: "audit log", Where: p.o.Name, Why: "180 days, events of Git 7 days; the API and its export show the last 3 months unless asked for more; plans without the log keep what its page shows"},
		providers.Expiry{What: "events of repositories", Where: p.o.Name, Why: "30 days, and the last 300 of them"},
		providers.Expiry{What: "deliveries of webhooks", Where: p.o.Name, Why: "3 days"},
		providers.Expiry{What: "the registration", Where: t.Short(), Why: "not known when: GitHub removes a runner that did not connect for 14 days, an ephemeral one after 1 day, and tells no last contact"},
	), nil
}

type expiring struct {
	p     *Provider
	ctx   context.Context
	b     *bounded
	since time.Time
	s     *search
	named int
}

func (x *expiring) repo(repo string) []providers.Expiry {
	where := string(x.p.text(repo))
	return append(x.logs(repo, where), x.artifacts(repo, where)...)
}

// logs go with the oldest run of the window first: that is the date to act before.
func (x *expiring) logs(repo, where string) []providers.Expiry {
	var first time.Time
	n := 0
	for _, h := range x.s.found {
		if h.repo != repo {
			continue
		}
		n++
		if at := h.job.began(); first.IsZero() || at.Before(first) {
			first = at
		}
	}
	if n == 0 {
		return nil
	}
	e := providers.Expiry{What: fmt.Sprintf("logs of %d jobs", n), Where: where}
	a, err := x.b.get(x.ctx, repoPath(repo)+"/actions/permissions/artifact-and-log-retention", nil)
	var r wireRetention
	if err == nil {
		r, err = decode[wireRetention](a)
	}
	switch {
	case err != nil:
		e.Why = "not known: the retention could not be read: " + err.Error()
	case r.Days <= 0 || r.Days > 4000:
		e.Why = "not known: GitHub does not say for how many days"
	default:
		e.At, e.Why = first.UTC().AddDate(0, 0, r.Days), fmt.Sprintf("the first of them; the repository keeps logs for %d days now, and what was set when a job ran counts", r.Days)
	}
	return []providers.Expiry{e}
}

func (x *expiring) artifacts(repo, where string) []providers.Expiry {
	runs := map[int64]bool{}
	for _, h := range x.s.found {
		runs[h.run.ID] = h.repo == repo || runs[h.run.ID]
	}
	var out []providers.Expiry
	err := x.b.all(x.ctx, repoPath(repo)+"/actions/artifacts", nil, listPages, func(a answer) (bool, error) {
		l, err := decode[wireArtifacts](a)
		if err == nil && l.Artifacts == nil {
			err = malformed(a, "a list of artifacts without artifacts")
		}
		for _, f := range l.Artifacts {
			if f.Run == nil || !runs[f.Run.ID] || f.Expired {
				continue
			}
			if x.named++; x.named > maxExpiring {
				return false, errors.New("there are more than are named here")
			}
			e := providers.Expiry{What: fmt.Sprintf("artifact %d (%s) of run %d", f.ID, x.p.text(f.Name), f.Run.ID), Where: where, At: f.ExpiresAt.UTC(), Why: "expires_at"}
			if f.ExpiresAt.IsZero() {
				e.Why = "not known: GitHub does not say"
			}
			out = append(out, e)
		}
		return len(l.Artifacts) == 0 || !l.Artifacts[len(l.Artifacts)-1].CreatedAt.Before(x.since), err
	})
	if err != nil && x.ctx.Err() == nil {
		out = append(out, providers.Expiry{What: "artifacts", Where: where, Why: "not known: " + err.Error()})
	}
	return out
}
