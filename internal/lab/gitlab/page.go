package gitlab

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// page cuts one page out of list and writes GitLab's offset headers (20 a page, at
// most 100; facts/gitlab-gitea.md §1.6).
func page[T any](w http.ResponseWriter, r *http.Request, list []T) []T {
	q := r.URL.Query()
	per := atLeast1(q.Get("per_page"), 20)
	per = min(per, 100)
	n := atLeast1(q.Get("page"), 1)
	total := len(list)
	pages := max(1, (total+per-1)/per)

	h := w.Header()
	h.Set("X-Total", strconv.Itoa(total))
	h.Set("X-Total-Pages", strconv.Itoa(pages))
	h.Set("X-Page", strconv.Itoa(n))
	h.Set("X-Per-Page", strconv.Itoa(per))
	h.Set("X-Next-Page", "")
	h.Set("X-Prev-Page", "")
	var links []string
	link := func(p int, rel string) {
		q.Set("page", strconv.Itoa(p))
		q.Set("per_page", strconv.Itoa(per))
		links = append(links, fmt.Sprintf(`<http://%s%s?%s>; rel=%q`, r.Host, r.URL.EscapedPath(), q.Encode(), rel))
	}
	if n > 1 {
		h.Set("X-Prev-Page", strconv.Itoa(n-1))
		link(n-1, "prev")
	}
	if n < pages {
		h.Set("X-Next-Page", strconv.Itoa(n+1))
		link(n+1, "next")
	}
	link(1, "first")
	link(pages, "last")
	h.Set("Link", strings.Join(links, ", "))

	from := min((n-1)*per, total)
	return list[from:min(from+per, total)]
}

func atLeast1(s string, def int) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 1_000_000 {
		return def
	}
	return n
}
