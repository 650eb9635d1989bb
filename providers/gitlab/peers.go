package gitlab

import (
	"context"
	"net/url"
	"strings"
)

// peerPages bounds what is read just to say what a queue loses.
const peerPages = 3

// peers counts the other runners that are online, not paused and, if w has tags,
// carry them all; partial: there are more pages. Which of them take untagged jobs is
// not in GitLab's list, so without tags it counts all.
func (p *Provider) peers(ctx context.Context, w wireRunner) (n int, partial bool, err error) {
	q := url.Values{"paused": {"false"}}
	if len(w.Tags) > 0 {
		q.Set("tag_list", strings.Join(w.Tags, ","))
	}
	seen := map[int64]bool{w.ID: true}
	for _, s := range p.scopes {
		pages := 0
		err := p.pages(ctx, s.list, q, peerPages+1, func(a answer) (bool, error) {
			if pages++; pages > peerPages {
				partial = true
				return false, nil
			}
			list, err := rows(a, wireRunner.check)
			if err != nil {
				return false, err
			}
			for _, x := range list {
				if !seen[x.ID] && x.Online != nil && *x.Online {
					n++
				}
				seen[x.ID] = true
			}
			return true, nil
		})
		if err != nil {
			return 0, false, err
		}
	}
	return n, partial, nil
}

func joined(tags []string) string { return strings.Join(tags, ", ") }
