package github

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Sizes of a page: GitHub's default and greatest. Variables have smaller ones.
const (
	pageDefault, pageMost           = 30, 100
	variablesDefault, variablesMost = 10, 30
)

// page cuts one page out of list and writes the Link header.
func page[T any](c *call, list []T) []T { return cut(c, list, pageDefault, pageMost) }

func cut[T any](c *call, list []T, usual, most int) []T {
	q := c.r.URL.Query()
	per := min(atLeast1(q.Get("per_page"), usual), most)
	n := atLeast1(q.Get("page"), 1)
	pages := max(1, (len(list)+per-1)/per)
	var links []string
	link := func(p int, rel string) {
		q.Set("page", strconv.Itoa(p))
		links = append(links, fmt.Sprintf(`<http://%s%s?%s>; rel=%q`, c.r.Host, c.r.URL.EscapedPath(), q.Encode(), rel))
	}
	if n > 1 {
		link(min(n-1, pages), "prev")
	}
	if n < pages {
		link(n+1, "next")
		link(pages, "last")
	}
	if n > 1 {
		link(1, "first")
	}
	if len(links) > 0 {
		c.w.Header().Set("Link", strings.Join(links, ", "))
	}
	from := min((n-1)*per, len(list))
	return list[from:min(from+per, len(list))]
}

func atLeast1(s string, def int) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 1_000_000 {
		return def
	}
	return n
}

// counted answers one page of a list under its name, with how many there are.
func counted[T any](c *call, name string, list []T, shape func(T) map[string]any) {
	out := []any{}
	for _, x := range page(c, list) {
		out = append(out, shape(x))
	}
	c.json(http.StatusOK, map[string]any{"total_count": len(list), name: out})
}

// plain answers one page of a list that has no count.
func plain[T any](c *call, list []T, shape func(T) map[string]any) {
	out := []any{}
	for _, x := range page(c, list) {
		out = append(out, shape(x))
	}
	c.json(http.StatusOK, out)
}
