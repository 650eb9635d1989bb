package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"cordon/providers"
)

// details reads one registration of one scope.
func (p *Provider) details(ctx context.Context, s service, sc scope, id int64) (wireRunner, answer, error) {
	a, err := s.get(ctx, sc.prefix()+"/actions/runners/"+strconv.FormatInt(id, 10), nil)
	if err != nil {
		return wireRunner{}, a, err
	}
	w, err := decode[wireRunner](a)
	switch {
	case err != nil:
		return w, a, err
	case w.ID != id:
		return w, a, malformed(a, "not the runner that was asked for")
	}
	return w, a, nil
}

// gone tells a registration that is not there from one that is hidden: the 404 counts
// only if the same credential can still read the list of the same scope. The zero error
// means gone. It is asked by containment, so it is not held back at the reserve.
func (p *Provider) gone(ctx context.Context, sc scope, err error) error {
	if !errors.Is(err, providers.ErrNotFound) {
		return err
	}
	a, cerr := p.act.get(ctx, sc.prefix()+"/actions/runners", url.Values{"per_page": {"1"}})
	if cerr == nil {
		_, cerr = rows(a)
	}
	if cerr != nil {
		return fmt.Errorf("404, but the list of runners of %s cannot be read: gone and hidden cannot be told apart (%w)", sc, cerr)
	}
	return nil
}
