package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"cordon/internal/evidence"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/providers"
)

const (
	publishedCalls = 400
	publishedRepos = 50 // more are a gap
	listPages      = 5  // of a list whose newest come first
	attested       = 10 // digests that are asked about, for a repository
)

// Published implements providers.Publisher for the repositories whose jobs the runner took
// since a time. The search for those jobs is made again; what it read a moment ago of runs
// that are over is not asked again.
func (p *Provider) Published(ctx context.Context, t target.Ref, since time.Time) ([]providers.Publication, []evidence.Gap, error) {
	s, err := p.seek(ctx, t, since, jobCalls)
	if err != nil {
		return nil, nil, fmt.Errorf("what was published where %s ran jobs: %w", t.Short(), err)
	}
	o := outputs{p: p, ctx: ctx, since: since, b: p.spend(ctx, publishedCalls), runs: map[int64]bool{}}
	for _, h := range s.newest(maxExposedJobs) {
		o.runs[h.run.ID] = true
	}
	o.blind = s.undone > 0 || s.left()
	if why := s.partial(); why != "" {
		o.miss("repositories of jobs that were not found", errors.New(why))
	}
	repos := s.repos()
	for i, repo := range repos {
		if i == publishedRepos || o.stop {
			o.miss("more repositories", fmt.Errorf("%d were not read", len(repos)-i))
			break
		}
		o.repo(repo)
	}
	o.packages(repos)
	if len(repos) > 0 {
		o.miss("tags that were moved", errors.New("GitHub's events need not tell of them: compare git ls-remote --tags of each repository with a clone from before"))
	}
	slices.SortStableFunc(o.found, func(x, y providers.Publication) int { return y.At.Compare(x.At) })
	return o.found, o.gaps, ctx.Err()
}

// repos are those that jobs of the runner were found in, the busiest last seen first.
func (s *search) repos() []string {
	var out []string
	for _, h := range s.found {
		if !slices.Contains(out, h.repo) {
			out = append(out, h.repo)
		}
	}
	if s.sc.level == repository && !slices.Contains(out, s.sc.path) {
		out = append(out, s.sc.path)
	}
	return out
}

type outputs struct {
	p     *Provider
	ctx   context.Context
	b     *bounded
	since time.Time
	runs  map[int64]bool // that had a job on the runner
	blind bool           // others may have had one
	stop  bool           // no more requests
	found []providers.Publication
	gaps  []evidence.Gap
}

func (o *outputs) miss(name string, err error) {
	if o.ctx.Err() != nil || err == nil {
		return
	}
	o.stop = o.stop || ends(o.ctx, err)
	o.gaps = append(o.gaps, evidence.Gap{Name: name, Why: err.Error(), At: o.p.clock.Now()})
}

func (o *outputs) add(kind, repo, name, by string, at time.Time, why, page string) {
	if at.Before(o.since) {
		return
	}
	short := func(s string) string { return untrusted.Clean(string(o.p.text(s)), 200) }
	x := providers.Publication{Kind: kind, Name: short(name), Where: short(repo), By: short(by), At: at.UTC(), Why: short(why)}
	if page != "" {
		x.Web = o.p.page(page)
	}
	o.found = append(o.found, x)
}

func (o *outputs) repo(repo string) {
	for _, part := range []struct {
		name string
		read func(string) error
	}{
		{"releases", o.releases},
		{"deployments", o.deployments},
		{"tags", o.tags},
		{"changes of workflow files", o.workflows},
		{"caches", o.caches},
		{"artifacts", o.artifacts},
	} {
		if o.stop || o.ctx.Err() != nil {
			o.gaps = append(o.gaps, evidence.Gap{Name: part.name + " of " + repo, Why: "not asked: no requests left for it", At: o.p.clock.Now()})
			continue
		}
		if err := part.read(repo); err != nil {
			o.miss(part.name+" of "+repo, err)
		}
	}
}

// releases looks at assets too: one that was exchanged in an old release is the attack
// that looks like nothing.
func (o *outputs) releases(repo string) error {
	var digests []string
	err := o.b.all(o.ctx, repoPath(repo)+"/releases", nil, listPages, func(a answer) (bool, error) {
		l, err := decode[[]wireRelease](a)
		for _, r := range l {
			page := escapeRepo(repo) + "/releases/tag/" + url.PathEscape(r.Tag)
			at := latest(r.PublishedAt, r.UpdatedAt)
			switch {
			case r.Draft:
				o.add(providers.Release, repo, r.Tag, r.Author.Login, latest(r.UpdatedAt, r.CreatedAt), "a draft, made or changed in the window", "")
			case !r.PublishedAt.Before(o.since):
				o.add(providers.Release, repo, r.Tag, r.Author.Login, r.PublishedAt, "published in the window", page)
			default:
				o.add(providers.Release, repo, r.Tag, r.Author.Login, at, "published before, changed in the window", page)
			}
			for _, x := range r.Assets {
				changed := latest(x.CreatedAt, x.UpdatedAt)
				if changed.Before(o.since) {
					continue
				}
				why := "a file of the release, put there in the window"
				if r.PublishedAt.Before(o.since) {
					why = "a file of an older release, put there or exchanged in the window"
				}
				o.add(providers.Release, repo, r.Tag+": "+x.Name, x.Uploader.Login, changed, why, page)
				digests = append(digests, x.Digest)
			}
		}
		return true, err
	})
	return errors.Join(err, o.attestations(repo, digests))
}

// attestations can be asked for by digest alone, so what is asked about is the files of
// releases; that is said.
func (o *outputs) attestations(repo string, digests []string) error {
	n := 0
	for _, d := range digests {
		if !isDigest(d) || n == attested {
			continue
		}
		n++
		a, err := o.b.get(o.ctx, repoPath(repo)+"/attestations/"+url.PathEscape(d), url.Values{"per_page": {"1"}})
		if errors.Is(err, providers.ErrNotFound) {
			continue // it has none
		}
		if err != nil {
			return fmt.Errorf("attestations: %w", err)
		}
		l, err := decode[wireAttestations](a)
		if err != nil {
			return fmt.Errorf("attestations: %w", err)
		}
		if len(l.Attestations) > 0 {
			o.add(providers.Attestation, repo, d, "", o.p.clock.Now(), "a file of a release of the window is attested; the time is when that was asked", escapeRepo(repo)+"/attestations")
		}
	}
	o.gaps = append(o.gaps, evidence.Gap{
		Name: "attestations of " + repo, At: o.p.clock.Now(),
		Why: fmt.Sprintf("GitHub tells them by digest alone: asked for %d files of releases, not for anything else", n),
	})
	return nil
}

func (o *outputs) deployments(repo string) error {
	l, err := o.p.deployments(o.ctx, o.b, repo, o.since)
	for _, d := range l {
		o.add(providers.Deployment, repo, d.Environment+" "+d.Ref, d.Creator.Login, d.CreatedAt, "commit "+shortSHA(d.SHA), escapeRepo(repo)+"/deployments")
	}
	return err
}

// deployments lists those since a time; the newest come first.
func (p *Provider) deployments(ctx context.Context, b *bounded, repo string, since time.Time) ([]wireDeployment, error) {
	var out []wireDeployment
	err := b.all(ctx, repoPath(repo)+"/deployments", nil, listPages, func(a answer) (bool, error) {
		l, err := decode[[]wireDeployment](a)
		for _, d := range l {
			if d.CreatedAt.Before(since) {
				return false, err
			}
			out = append(out, d)
		}
		return true, err
	})
	return out, err
}

// tags come from the repository's events: a tag itself has no time of its own.
func (o *outputs) tags(repo string) error {
	n, oldest := 0, time.Time{}
	err := o.b.all(o.ctx, repoPath(repo)+"/events", nil, 4, func(a answer) (bool, error) {
		l, err := decode[[]wireEvent](a)
		for _, e := range l {
			n, oldest = n+1, e.CreatedAt
			if e.CreatedAt.Before(o.since) {
				return false, err
			}
			if tag, did := e.tag(); did != "" {
				o.add(providers.Tag, repo, tag, e.Actor.Login, e.CreatedAt, did+" in the window, by the repository's events", escapeRepo(repo)+"/tree/"+url.PathEscape(tag))
			}
		}
		return true, err
	})
	switch {
	case err != nil:
		return err
	case n == 0:
		return errors.New("the repository has no events, which GitHub keeps for 30 days: older tags cannot be told by time")
	case !oldest.Before(o.since):
		return fmt.Errorf("the repository's events reach back to %s alone: tags from before that cannot be told by time", oldest.UTC().Format(time.RFC3339))
	}
	return nil
}

// workflows asks for commits on the default branch; on others a job's flags say it.
func (o *outputs) workflows(repo string) error {
	q := url.Values{"path": {".github/workflows"}, "since": {o.since.UTC().Format(time.RFC3339)}}
	err := o.b.all(o.ctx, repoPath(repo)+"/commits", q, listPages, func(a answer) (bool, error) {
		l, err := decode[[]wireCommit](a)
		for _, c := range l {
			by := ""
			if c.Author != nil {
				by = c.Author.Login
			}
			if sha := shortSHA(c.SHA); sha != "" {
				o.add(providers.WorkflowChange, repo, sha, by, c.Commit.Committer.Date, "a commit on the default branch that touches .github/workflows; its time is its author's word", escapeRepo(repo)+"/commit/"+c.SHA)
			}
		}
		return true, err
	})
	return err
}

func (o *outputs) caches(repo string) error {
	return o.b.all(o.ctx, repoPath(repo)+"/actions/caches", url.Values{"sort": {"created_at"}, "direction": {"desc"}}, listPages, func(a answer) (bool, error) {
		l, err := decode[wireCaches](a)
		if err == nil && l.Caches == nil {
			err = malformed(a, "a list of caches without actions_caches")
		}
		for _, c := range l.Caches {
			if c.CreatedAt.Before(o.since) {
				return false, err
			}
			o.add(providers.Cache, repo, c.Key, "", c.CreatedAt, fmt.Sprintf("cache %d of %s: later jobs restore it", c.ID, c.Ref), escapeRepo(repo)+"/actions/caches")
		}
		return true, err
	})
}

// artifacts says which are of a run that had a job on the runner.
func (o *outputs) artifacts(repo string) error {
	return o.b.all(o.ctx, repoPath(repo)+"/actions/artifacts", nil, listPages, func(a answer) (bool, error) {
		l, err := decode[wireArtifacts](a)
		if err == nil && l.Artifacts == nil {
			err = malformed(a, "a list of artifacts without artifacts")
		}
		for _, x := range l.Artifacts {
			why, page := "made in the window, by a run that had no job here", ""
			if o.blind || x.Run == nil {
				why = "made in the window; whether its run had a job here is not known"
			}
			if x.Run != nil {
				page = escapeRepo(repo) + fmt.Sprintf("/actions/runs/%d", x.Run.ID)
				if o.runs[x.Run.ID] {
					why = fmt.Sprintf("of run %d, which had a job on the runner", x.Run.ID)
				}
			}
			if x.Expired {
				why += "; its content has expired"
			}
			o.add(providers.Artifact, repo, fmt.Sprintf("%s (%d)", x.Name, x.ID), "", x.CreatedAt, why, page)
		}
		return len(l.Artifacts) == 0 || !l.Artifacts[len(l.Artifacts)-1].CreatedAt.Before(o.since), err
	})
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func isDigest(d string) bool {
	hex, ok := strings.CutPrefix(d, "sha256:")
	return ok && len(hex) == 64 && strings.Trim(hex, "0123456789abcdef") == ""
}
