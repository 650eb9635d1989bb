package github

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"strings"
)

// pages reads a list to its end, at most maxPages pages of 100, or 30 where GitHub allows no
// more; it follows only the number that Link calls next. each returns false to stop early.
// q is added to every request.
func pages(ctx context.Context, s service, path string, q url.Values, maxPages int, each func(answer) (bool, error)) error {
	size := perPage
	if strings.HasSuffix(path, "variables") {
		size = 30 // more is refused (actions/variables)
	}
	page := 1
	for range maxPages {
		a, err := s.get(ctx, path, pageOf(q, page, size))
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
