package github

import (
	"context"
	"errors"
	"fmt"

	"cordon/providers"
)

// maxSearch bounds how many places are asked for a runner whose scope is not told.
const maxSearch = 100

var errEnough = errors.New("enough places")

// search finds the one scope that has a runner with that id. Where one of the places could
// not be read, the one that was found may be another runner than the one that was meant,
// and it is refused: whoever means it writes its scope.
func (p *Provider) search(ctx context.Context, id int64) (scope, wireRunner, error) {
	var found []scope
	var hit wireRunner
	var unread error
	asked := map[scope]bool{}
	look := func(sc scope, _ *fetched) error {
		if asked[sc] {
			return nil
		}
		if len(asked) == maxSearch {
			return errEnough
		}
		asked[sc] = true
		w, _, err := p.details(ctx, p.act, sc, id)
		switch {
		case finished(ctx, err) != nil:
			return finished(ctx, err)
		case err == nil:
			found, hit = append(found, sc), w
		case !errors.Is(err, providers.ErrNotFound) && unread == nil:
			unread = err
		}
		return nil
	}
	for _, s := range p.scopes {
		err := error(nil)
		if s.holds() {
			err = look(s, nil)
		} else {
			err = p.places(ctx, s, func(sc scope) error { return look(sc, nil) }, func(_ string, why error) error {
				if unread == nil {
					unread = why
				}
				return nil
			})
		}
		switch {
		case errors.Is(err, errEnough):
			if len(found) < 2 {
				return scope{}, wireRunner{}, fmt.Errorf("%w: ids are per scope, and there are more than %d places to look in; write %s",
					providers.ErrNotYours, maxSearch, p.ref(scope{repository, "owner/repo"}, id))
			}
		case err != nil:
			return scope{}, wireRunner{}, err
		}
	}
	switch {
	case len(found) > 1:
		return scope{}, wireRunner{}, fmt.Errorf("%w: ids are per scope, and more than one has a runner %d: write %s or %s",
			providers.ErrNotYours, id, p.ref(found[0], id), p.ref(found[1], id))
	case len(found) == 1 && unread != nil:
		return scope{}, wireRunner{}, fmt.Errorf("%w: ids are per scope, and not every scope of %s could be read, so another may have a runner %d too; if you mean that of %s, write %s: %w",
			providers.ErrNotYours, p.o.Name, id, found[0], p.ref(found[0], id), unread)
	case len(found) == 1:
		return found[0], hit, nil
	case unread != nil:
		return scope{}, wireRunner{}, fmt.Errorf("%w: no scope of %s that could be read has a runner %d, and not all could be: %w", providers.ErrNotFound, p.o.Name, id, unread)
	}
	return scope{}, wireRunner{}, fmt.Errorf("%w: no scope of %s has a runner %d", providers.ErrNotFound, p.o.Name, id)
}
