// Package table is a list of rows in a window.
//
// Rows are places in an immutable Source; only those in the window are ever made into
// text. The cursor and the selection are kept by id, so that they survive sorting,
// filtering and new data. Filtering and sorting are a Job that runs anywhere but in the
// screen's loop and is swapped in by its number. The package knows no screen library:
// styles come in as a function. It may import internal/untrusted and x/ansi.
package table

// Source is one immutable snapshot. Cell returns foreign text as it is; the table makes
// it safe. It is read by several goroutines at once.
type Source interface {
	Len() int
	ID(i int) string // unique, never empty
	Cell(i, col int) string
}

// Comparer is a Source that knows better than comparing cells as text. It returns how
// i and j stand in col, as cmp.Compare does. A value that is not known should come last
// in both directions: last reports that for a row.
type Comparer interface {
	Compare(i, j, col int) int
	Last(i, col int) bool
}

// Toner is a Source that colours cells; the word goes to Painter as it is.
type Toner interface{ Tone(i, col int) string }

// Column is one column.
type Column struct {
	Title string // in capitals, ASCII
	Min   int    // cells; below that it is not shown
	Max   int    // cells it may grow to; 0: Min
	Least int    // cells it may shrink to before a column is dropped; 0: Min
	Drop  int    // the highest goes first when there is no room
	Whole bool   // as wide as its widest cell, up to Max, before others get room; see Whole
}

// Wider is a Source that knows how many cells the widest value of a column takes, for
// columns that are shown whole.
type Wider interface{ Widest(col int) int }

// Sort is an order. The zero value is that of the Source.
type Sort struct {
	Col  int // from 1; 0: as listed
	Desc bool
}

// Painter styles one piece of a line without changing its width. Parts are "head",
// "cursor" (a whole line), and the tones of the source.
type Painter func(part, text string) string

// Table is the state of one list. It is used by one goroutine.
type Table struct {
	cols  []Column
	paint Painter
	ascii bool

	src  Source
	rows []int32 // of src, in the order on screen
	sort Sort
	gen  int // of the last Job that was made
	unk  int // rows that were not shown because the filter cannot tell

	cur, off int // places in rows
	curID    string
	w, h     int // cells and rows of the window on the last view
	chosen   map[string]bool
	gone     int // chosen, and not among rows
}

// New makes an empty table. paint may be nil.
func New(cols []Column, paint Painter, ascii bool) *Table {
	if paint == nil {
		paint = func(_, s string) string { return s }
	}
	return &Table{cols: cols, paint: paint, ascii: ascii, h: 1, chosen: map[string]bool{}}
}

// Len is how many rows are on the list now.
func (t *Table) Len() int { return len(t.rows) }

// Total is how many rows there are without the filter.
func (t *Table) Total() int {
	if t.src == nil {
		return 0
	}
	return t.src.Len()
}

// Unknown is how many rows are not shown because the filter cannot tell.
func (t *Table) Unknown() int { return t.unk }

// Cursor is the id of the row the cursor is on, "" on an empty list.
func (t *Table) Cursor() string { return t.curID }

// Row is the place in the Source that the cursor is on, -1 on an empty list.
func (t *Table) Row() int {
	if len(t.rows) == 0 {
		return -1
	}
	return int(t.rows[t.cur])
}

// Source is what the rows on screen are of; nil before the first Swap.
func (t *Table) Source() Source { return t.src }

// Visible are the places in the Source of the rows in the window, from the top.
func (t *Table) Visible() []int32 {
	if t.src == nil {
		return nil
	}
	return t.rows[t.off:min(t.off+t.h, len(t.rows))]
}

// Move moves the cursor by n rows.
func (t *Table) Move(n int) { t.to(t.cur + n) }

// HalfPage moves the cursor by half a window, up for -1, down for 1.
func (t *Table) HalfPage(dir int) { t.Move(dir * max(1, t.h/2)) }

// Top moves to the first row.
func (t *Table) Top() { t.to(0) }

// Bottom moves to the last row.
func (t *Table) Bottom() { t.to(len(t.rows) - 1) }

func (t *Table) to(i int) {
	t.cur = max(0, min(i, len(t.rows)-1))
	t.curID = ""
	if len(t.rows) > 0 {
		t.curID = t.src.ID(int(t.rows[t.cur]))
	}
	t.reveal()
}

// reveal moves the window so that the cursor is in it. A cursor that leaves takes the
// window along by half its height: over a slow link a page that moves line by line
// resends every line for every key.
func (t *Table) reveal() {
	switch {
	case t.cur < t.off:
		t.off = t.cur - t.h/2
	case t.cur >= t.off+t.h:
		t.off = t.cur - (t.h-1)/2
	}
	t.off = max(0, min(t.off, len(t.rows)-t.h))
}

// resize tells how many rows the window has.
func (t *Table) resize(h int) {
	if h = max(1, h); h != t.h {
		t.h = h
		t.reveal()
	}
}
