package table

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"cordon/internal/untrusted"
)

// gutter is the mark of the cursor, that of the selection, and a space; gap is what
// lies between columns.
const (
	gutter = 3
	gap    = 2
)

// HiddenColumns are the titles of the columns that had no room on the last view.
func (t *Table) HiddenColumns() []string {
	_, hidden := t.layout(t.w)
	return hidden
}

// View draws the header and h-1 rows, each exactly w cells wide before it is styled.
func (t *Table) View(w, h int) string {
	if w <= gutter || h <= 0 {
		return ""
	}
	t.w = w
	t.resize(h - 1)
	cols, _ := t.layout(w)
	var b strings.Builder
	b.Grow(w * h * 2)
	b.WriteString(t.paint("head", t.header(cols, w)))
	if h == 1 {
		return b.String()
	}
	for n, i := range t.Visible() {
		b.WriteByte('\n')
		t.line(&b, cols, int(i), t.off+n == t.cur, w)
	}
	return b.String()
}

func (t *Table) header(cols []shown, w int) string {
	var b strings.Builder
	b.WriteString("   ")
	for i, c := range cols {
		if i > 0 {
			b.WriteString("  ")
		}
		title := t.cols[c.col].Title
		if t.sort.Col == c.col+1 {
			title = clip(title, max(0, c.width-1), t.ascii) + t.arrow()
		}
		pad(&b, clip(title, c.width, t.ascii), c.width)
	}
	return exact(b.String(), w)
}

func (t *Table) arrow() string {
	switch {
	case t.ascii && t.sort.Desc:
		return "v"
	case t.ascii:
		return "^"
	case t.sort.Desc:
		return "▼"
	}
	return "▲"
}

// line writes one row. The line of the cursor is painted as one piece: under a style
// that covers it, tones of single cells would be holes.
func (t *Table) line(b *strings.Builder, cols []shown, i int, cursor bool, w int) {
	var plain strings.Builder
	out := b
	if cursor {
		out = &plain
	}
	mark := []byte("   ")
	if cursor {
		mark[0] = '>'
	}
	if len(t.chosen) > 0 && t.chosen[t.src.ID(i)] {
		mark[1] = '*'
	}
	out.Write(mark)
	toner, _ := t.src.(Toner)
	used := gutter
	for n, c := range cols {
		if n > 0 {
			out.WriteString("  ")
			used += gap
		}
		text := ""
		if t.cols[c.col].Whole {
			text = Whole(t.src.Cell(i, c.col), c.width, t.ascii)
		} else {
			text = Cell(t.src.Cell(i, c.col), c.width, t.ascii)
		}
		used += c.width
		tone := ""
		if toner != nil && !cursor {
			tone = toner.Tone(i, c.col)
		}
		if tone != "" {
			n := c.width - ansi.StringWidth(text)
			out.WriteString(t.paint(tone, text))
			blanks(out, n)
			continue
		}
		pad(out, text, c.width)
	}
	blanks(out, w-used)
	if cursor {
		b.WriteString(t.paint("cursor", exact(plain.String(), w)))
	}
}

// Cell makes foreign text safe and at most w cells wide. Terminals disagree on the width
// of clusters that are drawn as one (flags, skin tones, spacing marks); those are
// escaped too, because one of them moves the rest of the line.
func Cell(s string, w int, ascii bool) string {
	if plain(s) {
		return clip(s, w, ascii)
	}
	// What is cut off is not worth cleaning; a rune makes at least one cell or is a mark.
	s = untrusted.Clean(s, 3*w+3)
	if ansi.StringWidth(s) != ansi.StringWidthWc(s) {
		s = steady(s)
	}
	return clip(s, w, ascii)
}

// plain reports whether s is printable ASCII, as nearly all of it is.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// steady writes a ? for every rune of a cluster whose width is in doubt.
func steady(s string) string {
	var b strings.Builder
	for state := byte(0); s != ""; {
		seq, width, n, next := ansi.DecodeSequence(s, state, nil)
		if n <= 0 {
			break
		}
		if width != ansi.StringWidthWc(seq) {
			b.WriteByte('?')
		} else {
			b.WriteString(seq)
		}
		s, state = s[n:], next
	}
	return b.String()
}

// clip cuts clean text to w cells and marks the cut.
func clip(s string, w int, ascii bool) string {
	if len(s) <= w || ansi.StringWidth(s) <= w {
		return s
	}
	tail := "…"
	if ascii {
		tail = "."
	}
	if w < 2 {
		tail = ""
	}
	return ansi.Truncate(s, w, tail)
}

func pad(b *strings.Builder, s string, w int) {
	b.WriteString(s)
	n := len(s)
	if !plain(s) {
		n = ansi.StringWidth(s)
	}
	blanks(b, w-n)
}

func blanks(b *strings.Builder, n int) {
	const some = "                                                                                "
	for n > 0 {
		m := min(n, len(some))
		b.WriteString(some[:m])
		n -= m
	}
}

// exact makes a line exactly w cells wide; it was made to be, but for windows that are
// narrower than the least column.
func exact(s string, w int) string {
	n := ansi.StringWidth(s)
	if n > w {
		s = ansi.Truncate(s, w, "")
		n = ansi.StringWidth(s)
	}
	if n < w {
		s += strings.Repeat(" ", w-n)
	}
	return s
}
