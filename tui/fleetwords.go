package tui

import (
	"slices"
	"strings"

	"cordon/internal/witness"
	"cordon/providers"
)

// badness orders levels, the worst first.
func badness(word string) int {
	return slices.Index([]string{"bad", "warn", "open", "", "good"}, level[word])
}

func triWord(t witness.Tri) string {
	if t == witness.Unknown {
		return "?"
	}
	return string(t)
}

// unknownUnless tells nothing there from nobody asked.
func unknownUnless(known bool, s string) string {
	switch {
	case s != "":
		return s
	case known:
		return "none"
	}
	return "?"
}

func labels(r *providers.Runner) string {
	var b strings.Builder
	for i, l := range r.Labels {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(string(l))
		if b.Len() > 400 {
			break
		}
	}
	return b.String()
}

func scopeText(r *providers.Runner) string {
	s := r.Ref.Scope
	if s.Path == "" {
		return s.Level
	}
	return s.Level + ":" + s.Path
}

// compareFold compares without regard to ASCII case and without allocating.
func compareFold(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		if x, y = lower(x), lower(y); x != y {
			return int(x) - int(y)
		}
	}
	return len(a) - len(b)
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// marked is a word behind its glyph, if it has one.
func marked(th Theme, word string) string {
	if lv := level[word]; lv != "" {
		return th.Glyph(lv) + " " + word
	}
	return word
}
