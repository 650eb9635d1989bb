package github

import (
	"fmt"
	"slices"
)

// span is some pages one after the other.
type span struct{ from, to int }

func (s span) name() string {
	if s.from == s.to {
		return fmt.Sprintf("page %d", s.from)
	}
	return fmt.Sprintf("pages %d to %d", s.from, s.to)
}

// spans joins neighbouring pages.
func spans(pages []int) []span {
	slices.Sort(pages)
	var out []span
	for _, n := range slices.Compact(pages) {
		if last := len(out) - 1; last >= 0 && out[last].to == n-1 {
			out[last].to = n
			continue
		}
		out = append(out, span{n, n})
	}
	return out
}
