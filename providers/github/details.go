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
	return one(ctx, s, sc.prefix()+"/actions/runners/"+strconv.FormatInt(id, 10), "runner", func(w wireRunner) bool { return w.ID == id })
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
