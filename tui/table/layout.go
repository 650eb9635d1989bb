package table

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// shown is a column on screen.
type shown struct{ col, width int }

// layout chooses columns for w cells. While the widths that are wanted do not fit, the
// columns that may shrink do; where that is not enough, the column that is dropped first
// goes. What is left over then widens columns from the left. But for columns that are
// shown whole it depends on w alone, so that nothing moves when rows come.
func (t *Table) layout(w int) (cols []shown, hidden []string) {
	for i := range t.cols {
		cols = append(cols, shown{i, t.wanted(i)})
	}
	for t.need(cols)-t.slack(cols) > w && len(cols) > 1 {
		worst := 0
		for i, c := range cols {
			if t.cols[c.col].Drop >= t.cols[cols[worst].col].Drop {
				worst = i
			}
		}
		if t.cols[cols[worst].col].Drop == 0 && t.shrinks(cols, w) {
			break
		}
		cols = append(cols[:worst], cols[worst+1:]...)
	}
	room := w - t.need(cols)
	for i := range cols {
		switch c := t.cols[cols[i].col]; {
		case room < 0 && c.Least > 0:
			n := min(-room, max(0, cols[i].width-c.Least))
			cols[i].width, room = cols[i].width-n, room+n
		case room > 0 && c.Max > cols[i].width && !c.Whole:
			n := min(room, c.Max-cols[i].width)
			cols[i].width, room = cols[i].width+n, room-n
		}
	}
	if room < 0 {
		cols[0].width = max(0, cols[0].width+room)
	}
	on := map[int]bool{}
	for _, c := range cols {
		on[c.col] = true
	}
	for i, c := range t.cols {
		if !on[i] {
			hidden = append(hidden, strings.ToLower(c.Title))
		}
	}
	return cols, hidden
}

// wanted is how wide a column is before it shrinks or grows.
func (t *Table) wanted(col int) int {
	c := t.cols[col]
	if wide, ok := t.src.(Wider); ok && c.Whole {
		return max(c.Min, min(c.Max, wide.Widest(col)))
	}
	return c.Min
}

func (t *Table) need(cols []shown) int {
	n := gutter
	for i, c := range cols {
		if i > 0 {
			n += gap
		}
		n += c.width
	}
	return n
}

// slack is how much narrower the columns may be.
func (t *Table) slack(cols []shown) (n int) {
	for _, c := range cols {
		if least := t.cols[c.col].Least; least > 0 {
			n += max(0, c.width-least)
		}
	}
	return n
}

// shrinks reports whether columns fit once the first gives way down to its least width:
// a value that had to be shown whole is cut before what must not be dropped is.
func (t *Table) shrinks(cols []shown, w int) bool {
	first := t.cols[cols[0].col]
	return first.Whole && t.need(cols)-t.slack(cols)-(cols[0].width-first.Min) <= w
}

// Whole makes foreign text safe and at most w cells wide, like Cell, but so that two texts
// that differ never look alike: where it has to be cut it ends in a part of the digest of
// all of it.
func Whole(s string, w int, ascii bool) string {
	const digits = 6
	text := Cell(s, len(s)*8+8, ascii) // an escape is eight cells at most
	if ansi.StringWidth(text) <= w {
		return text
	}
	if w < 2*digits {
		return clip(text, w, ascii)
	}
	sum := sha256.Sum256([]byte(s))
	return clip(text, w-digits, ascii) + hex.EncodeToString(sum[:])[:digits]
}
