package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/providers"
)

// cacheRemove removes one cache entry, which a later job would restore.
type cacheRemove struct {
	Repo  string `json:"repository"`
	Cache int64  `json:"cache"`
}

// wireCache is a cache entry. Version is the digest of its paths and compression.
type wireCache struct {
	ID       int64  `json:"id"`
	Ref      string `json:"ref"`
	Key      string `json:"key"`
	Version  string `json:"version"`
	Created  string `json:"created_at"`
	Accessed string `json:"last_accessed_at"`
	Size     int64  `json:"size_in_bytes"`
}

// cacheBefore is what is known of an entry that is removed: when it was made, which says
// how far the list has to be read to see that it is gone. Empty in a plan of an older build.
type cacheBefore struct {
	Created time.Time `json:"created_at,omitzero"`
}

type cachePage struct {
	Total  *int        `json:"total_count"`
	Caches []wireCache `json:"actions_caches"`
}

// item is the reference of a cache or an artifact.
func item(repo, kind string, id int64) target.Ref {
	return target.Ref{Scope: target.Scope{Level: repository, Path: repo}, Kind: kind, ID: strconv.FormatInt(id, 10)}
}

func (o cacheRemove) about() target.Ref { return item(o.Repo, "cache", o.Cache) }

func (o cacheRemove) request() request {
	return request{http.MethodDelete, fmt.Sprintf("%s/actions/caches/%d", repoPath(o.Repo), o.Cache), nil, http.StatusNoContent, nil}
}

// maxCachePages is how many pages of 100 the caches of a repository are read for.
const maxCachePages = 50

// cachesSince reads the caches of a repository, the newest first, as far back as since:
// those that were made before it are not asked for, however many there are. each returns
// false to stop. A list that is not in that order is read to its end.
func (p *Provider) cachesSince(ctx context.Context, repo string, since time.Time, each func(answer, wireCache) (bool, error)) error {
	q := url.Values{"sort": {"created_at"}, "direction": {"desc"}}
	last, ordered := time.Time{}, true
	return p.few(maxCachePages).all(ctx, repoPath(repo)+"/actions/caches", q, maxCachePages, func(a answer) (bool, error) {
		l, err := decode[cachePage](a)
		if err == nil && l.Caches == nil {
			err = malformed(a, "no caches")
		}
		if err != nil {
			return false, err
		}
		for _, x := range l.Caches {
			if more, err := each(a, x); err != nil || !more {
				return false, err
			}
			made, terr := time.Parse(time.RFC3339, x.Created)
			ordered = ordered && terr == nil && (last.IsZero() || !made.After(last))
			last = made
		}
		return !ordered || !last.Before(since), nil
	})
}

// there looks for the entry in the list: there is no read of one by its number, and its key
// is the text of whoever made it, which is not carried along.
func (o cacheRemove) there(ctx context.Context, p *Provider, c change.Change) (bool, error) {
	var was cacheBefore
	if len(c.Before) > 0 {
		var err error
		if was, err = change.Parse[cacheBefore](c.Op, c.Before); err != nil {
			return false, err
		}
	}
	there := false
	err := p.cachesSince(ctx, o.Repo, was.Created, func(_ answer, x wireCache) (bool, error) {
		there = there || x.ID == o.Cache
		return !there, nil
	})
	return there, err
}

func (o cacheRemove) compare(ctx context.Context, p *Provider, c change.Change) (string, error) {
	there, err := o.there(ctx, p, c)
	if err == nil && !there {
		return "the cache is gone already", nil
	}
	return "", err
}

func (o cacheRemove) settle(ctx context.Context, p *Provider, c change.Change) (string, string, error) {
	there, err := o.there(ctx, p, c)
	return settled(ctx, there, err, "the cache")
}

// artifactRemove removes one artifact of a run.
type artifactRemove struct {
	Repo     string `json:"repository"`
	Run      int64  `json:"run"`
	Artifact int64  `json:"artifact"`
}

// runArtifact is what a run left behind. Digest is that of the archive.
type runArtifact struct {
	ID      int64  `json:"id"`
	Name    string `json:"name"`
	Size    int64  `json:"size_in_bytes"`
	Expired bool   `json:"expired"`
	Created string `json:"created_at"`
	Expires string `json:"expires_at"`
	Digest  string `json:"digest"`
	Run     *struct {
		ID     int64  `json:"id"`
		Branch string `json:"head_branch"`
		SHA    string `json:"head_sha"`
	} `json:"workflow_run"`
}

type artifactPage struct {
	Total     *int          `json:"total_count"`
	Artifacts []runArtifact `json:"artifacts"`
}

// artifactBefore is what removing an artifact rested on.
type artifactBefore struct {
	Digest string `json:"digest"`
	Size   int64  `json:"size_in_bytes"`
}

func (o artifactRemove) about() target.Ref { return item(o.Repo, "artifact", o.Artifact) }

func (o artifactRemove) path() string {
	return fmt.Sprintf("%s/actions/artifacts/%d", repoPath(o.Repo), o.Artifact)
}

func (o artifactRemove) request() request {
	return request{http.MethodDelete, o.path(), nil, http.StatusNoContent, nil}
}

func (o artifactRemove) now(ctx context.Context, p *Provider) (x runArtifact, there bool, err error) {
	a, err := p.act.get(ctx, o.path(), nil)
	if errors.Is(err, providers.ErrNotFound) {
		l, lerr := p.act.get(ctx, fmt.Sprintf("%s/actions/runs/%d/artifacts", repoPath(o.Repo), o.Run), pageOf(nil, 1, 1))
		if lerr == nil {
			_, lerr = decode[artifactPage](l)
		}
		if lerr != nil {
			return x, false, fmt.Errorf("404, but the artifacts of its run cannot be listed: gone and hidden cannot be told apart (%w)", lerr)
		}
		return x, false, nil
	}
	if err != nil {
		return x, false, err
	}
	x, err = decode[runArtifact](a)
	if err == nil && x.ID != o.Artifact {
		err = malformed(a, "not the artifact that was asked for")
	}
	return x, true, err
}

func (o artifactRemove) compare(ctx context.Context, p *Provider, c change.Change) (string, error) {
	was, err := change.Parse[artifactBefore](c.Op, c.Before)
	if err != nil {
		return "", err
	}
	x, there, err := o.now(ctx, p)
	switch {
	case err != nil:
		return "", err
	case !there:
		return "the artifact is gone already", nil
	case (artifactBefore{x.Digest, x.Size}) != was:
		return "", fmt.Errorf("%w (another artifact)", change.ErrStale)
	}
	return "", nil
}

func (o artifactRemove) settle(ctx context.Context, p *Provider, _ change.Change) (string, string, error) {
	_, there, err := o.now(ctx, p)
	return settled(ctx, there, err, "the artifact")
}
