package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"cordon/internal/untrusted"
)

// clean makes foreign text safe to style: one line, no control characters. It comes
// before any style, never after, because it escapes the style's own bytes too.
func clean(s string) string { return untrusted.Clean(s, 0) }

// clip cuts a line, styled or not, to w cells and marks the cut.
func clip(t Theme, s string, w int) string {
	if w <= 0 {
		return ""
	}
	if ansi.StringWidth(s) <= w {
		return s
	}
	tail := t.Glyph("more")
	if ansi.StringWidth(tail) >= w {
		tail = ""
	}
	return ansi.Truncate(s, w, tail)
}

// fit makes a line exactly w cells wide.
func fit(t Theme, s string, w int) string {
	s = clip(t, s, w)
	if n := w - ansi.StringWidth(s); n > 0 {
		s += strings.Repeat(" ", n)
	}
	return s
}

// wrap breaks clean text into lines of at most w cells, at spaces; what has none (an
// address, a digest) is cut at the edge and loses nothing.
func wrap(s string, w int) []string {
	if w <= 0 {
		return nil
	}
	var out []string
	line, width := "", 0
	for word := range strings.SplitSeq(s, " ") {
		n := ansi.StringWidth(word)
		if line != "" && width+1+n > w {
			out, line, width = append(out, line), "", 0
		} else if line != "" {
			line, width = line+" ", width+1
		}
		for n > w {
			head := ansi.Truncate(word, w-width, "")
			if head == "" {
				break // a cell pair in a column of one
			}
			out, line, width = append(out, line+head), "", 0
			word = word[len(head):]
			n = ansi.StringWidth(word)
		}
		line, width = line+word, width+n
	}
	return append(out, line)
}

// bound cuts a block to h lines of at most w cells each. It is the last thing that
// happens to a view: the renderer would drop lines from the top instead.
func bound(t Theme, block string, w, h int) string {
	if w <= 0 || h <= 0 {
		return ""
	}
	lines := strings.Split(block, "\n")
	if len(lines) > h {
		lines = lines[:h]
	}
	for i, l := range lines {
		lines[i] = clip(t, l, w)
	}
	return strings.Join(lines, "\n")
}

// age is a duration in one unit, so that a screen full of ages stays still.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "<1m"
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
