package github

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"strconv"
)

// pages reads a list page after page, following only the number that Link calls next.
// each returns false to stop early. q is added to every request.
func (p *Provider) pages(ctx context.Context, path string, q url.Values, perPage, maxPages int, each func(answer) (bool, error)) error {
	page := 1
	for range maxPages {
		a, err := p.look.get(ctx, path, pageOf(q, page, perPage))
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
	return fmt.Errorf("GET %s: stopped after %d pages; there are more", path, maxPages)
}

func pageOf(q url.Values, page, perPage int) url.Values {
	ask := url.Values{"page": {strconv.Itoa(page)}, "per_page": {strconv.Itoa(perPage)}}
	maps.Copy(ask, q)
	return ask
}
