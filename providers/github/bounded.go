package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"cordon/providers"
)

// errBound is why a search stopped by itself.
var errBound = fmt.Errorf("%w: the bound of this search", providers.ErrLimited)

// bounded is a service that a search may ask so many times. It belongs to one search and
// is not safe for concurrent use.
type bounded struct {
	service
	left, used int
}

// spend is the service for mere looking, with the bound that ctx names.
func (p *Provider) spend(ctx context.Context, most int) *bounded {
	return &bounded{service: p.look, left: providers.CallsFrom(ctx, most)}
}

func (b *bounded) get(ctx context.Context, path string, q url.Values) (answer, error) {
	if err := ctx.Err(); err != nil {
		return answer{Request: "GET " + path}, err
	}
	if b.left <= 0 {
		return answer{Request: "GET " + path}, fmt.Errorf("GET %s: %w: not sent after %d requests", path, errBound, b.used)
	}
	b.left--
	b.used++
	return b.service.get(ctx, path, q)
}

// ends reports whether err ends a search, and not only one of its questions: the bound,
// the reserve, a limit of the service, or a caller who gave up.
func ends(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil || errors.Is(err, providers.ErrLimited) || errors.Is(err, providers.ErrUnauthorized))
}

// all is pages with the bound of the search.
func (b *bounded) all(ctx context.Context, path string, q url.Values, maxPages int, each func(answer) (bool, error)) error {
	return pages(ctx, b, path, q, maxPages, each)
}

// repoPath is the path of a repository, escaped: "repos/acme/web".
func repoPath(full string) string { return scope{repository, full}.prefix() }

// repoName is a repository's name as references have it, "" for what is no such name.
func repoName(full string) string {
	s, err := parseScope(repository + ":" + full)
	if err != nil || strings.Contains(full, "//") {
		return ""
	}
	return s.path
}
