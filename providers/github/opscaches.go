package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

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

// there looks for the entry in the list: there is no read of one by its number, and its key
// is the text of whoever made it, which is not carried along.
func (o cacheRemove) there(ctx context.Context, p *Provider) (bool, error) {
	there := false
	err := p.few(maxListed).all(ctx, repoPath(o.Repo)+"/actions/caches", nil, maxListed, func(a answer) (bool, error) {
		l, err := decode[cachePage](a)
		if err == nil && l.Caches == nil {
			err = malformed(a, "no caches")
		}
		for _, x := range l.Caches {
			there = there || x.ID == o.Cache
		}
		return !there, err
	})
	return there, err
}

func (o cacheRemove) compare(ctx context.Context, p *Provider, _ change.Change) (string, error) {
	there, err := o.there(ctx, p)
	if err == nil && !there {
		return "the cache is gone already", nil
	}
	return "", err
}

func (o cacheRemove) settle(ctx context.Context, p *Provider, _ change.Change) (string, string, error) {
	there, err := o.there(ctx, p)
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
