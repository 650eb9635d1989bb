package gitlab

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"cordon/internal/target"
	"cordon/internal/untrusted"
)

// scope is one configured list of runners.
type scope struct {
	level, path string // "mine" has neither a path nor a level of its own
	list        string // request path of its list
}

const mine = "mine"

// maxPages bounds a list (100 runners a page) that a hostile service never ends.
const maxPages = 1000

func parseScopes(words []string) ([]scope, error) {
	if len(words) == 0 {
		words = []string{mine}
	}
	out := make([]scope, 0, len(words))
	for _, w := range words {
		level, path, _ := strings.Cut(w, ":")
		s := scope{level: level, path: strings.Trim(path, "/")}
		switch {
		case level == Instance && path == "":
			s.list = "runners/all"
		case level == mine && path == "":
			s.list = "runners"
		case level == Group && s.path != "":
			s.list = "groups/" + segment(s.path) + "/runners"
		case level == Project && s.path != "":
			s.list = "projects/" + segment(s.path) + "/runners"
		default:
			return nil, fmt.Errorf("scope %q: write instance, mine, group:PATH or project:PATH", untrusted.Text(w))
		}
		out = append(out, s)
	}
	return out, nil
}

func (s scope) String() string {
	if s.path == "" {
		return s.level
	}
	return s.level + ":" + s.path
}

func (s scope) target() target.Scope { return target.Scope{Level: s.level, Path: s.path} }

// pages reads a list to its end, following only what GitLab says is the next page.
// each returns false to stop early. q is added to every request.
func (p *Provider) pages(ctx context.Context, path string, q url.Values, limit int, each func(answer) (bool, error)) error {
	page := 1
	for n := 0; ; n++ {
		if n == limit {
			return fmt.Errorf("GET %s: stopped after %d pages; there are more", path, limit)
		}
		ask := url.Values{"page": {strconv.Itoa(page)}, "per_page": {"100"}}
		for k, v := range q {
			ask[k] = v
		}
		a, err := p.api.get(ctx, path, ask)
		if err != nil {
			return err
		}
		more, err := each(a)
		if err != nil || !more || a.Next == 0 {
			return err
		}
		if a.Next <= page {
			return malformed(a, "the next page is not after this one")
		}
		page = a.Next
	}
}

// each decodes rows of a page.
func rows[T any](a answer, check func(T) error) ([]T, error) {
	list, err := decode[[]T](a)
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		if err := check(r); err != nil {
			return nil, malformed(a, err.Error())
		}
	}
	return list, nil
}
