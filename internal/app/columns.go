package app

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"cordon/internal/untrusted"
)

// mostColumn is how wide one long value may make its column; it is written whole all the
// same, and the rest of its line stands further right.
const mostColumn = 100

// columns writes rows below each other. A column is as wide as its widest value, and as
// least says at least; the last value of a row takes what is left.
func (l Lines) columns(rows [][]string, least ...int) {
	for _, r := range rows {
		for i := range r[:len(r)-1] {
			r[i] = untrusted.Clean(r[i], 0)
			least[i] = max(least[i], min(mostColumn, ansi.StringWidth(r[i])))
		}
	}
	for _, r := range rows {
		line := ""
		for i, s := range r {
			if i == len(r)-1 {
				line += s
				break
			}
			line += s + strings.Repeat(" ", max(0, least[i]-ansi.StringWidth(s))) + " "
		}
		l.Printf("%s", line)
	}
}
