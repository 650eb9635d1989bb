package table

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Job is the work of filtering and sorting. It holds no part of the Table and may run
// in any goroutine.
type Job struct {
	Gen  int
	Src  Source
	Keep func(i int) (keep, unknown bool) // nil: all
	Sort Sort
}

// Order is what a Job led to.
type Order struct {
	Gen  int
	Src  Source
	Sort Sort
	Rows []int32
	Unk  int
}

// Job makes a new job; all earlier ones are stale from here on.
func (t *Table) Job(src Source, keep func(int) (bool, bool), s Sort) Job {
	t.gen++
	return Job{t.gen, src, keep, s}
}

// Run does the work. It stops early with an error when ctx ends.
func (j Job) Run(ctx context.Context) (Order, error) {
	o := Order{Gen: j.Gen, Src: j.Src, Sort: j.Sort, Rows: make([]int32, 0, j.Src.Len())}
	for i := range j.Src.Len() {
		if i%4096 == 0 && ctx.Err() != nil {
			return o, ctx.Err()
		}
		keep, unknown := true, false
		if j.Keep != nil {
			keep, unknown = j.Keep(i)
		}
		if keep {
			o.Rows = append(o.Rows, int32(i))
		} else if unknown {
			o.Unk++
		}
	}
	j.order(o.Rows)
	return o, ctx.Err()
}

// order sorts stably: rows that are equal stay as they are listed, in both directions.
// The place in the source decides between equals, which is much faster than a stable
// algorithm.
func (j Job) order(rows []int32) {
	col := j.Sort.Col - 1
	if col < 0 {
		if j.Sort.Desc {
			slices.Reverse(rows)
		}
		return
	}
	sign := 1
	if j.Sort.Desc {
		sign = -1
	}
	if c, ok := j.Src.(Comparer); ok {
		known := make([]int32, 0, len(rows))
		var last []int32
		for _, i := range rows {
			if c.Last(int(i), col) {
				last = append(last, i)
			} else {
				known = append(known, i)
			}
		}
		slices.SortFunc(known, func(a, b int32) int {
			return cmp.Or(sign*c.Compare(int(a), int(b), col), cmp.Compare(a, b))
		})
		copy(rows[copy(rows, known):], last)
		return
	}
	keys := make([]string, j.Src.Len())
	for _, i := range rows {
		keys[i] = strings.ToLower(j.Src.Cell(int(i), col))
	}
	slices.SortFunc(rows, func(a, b int32) int {
		switch x, y := keys[a], keys[b]; {
		case x == y:
			return cmp.Compare(a, b)
		case x == "":
			return 1
		case y == "":
			return -1
		default:
			return sign * strings.Compare(x, y)
		}
	})
}

// Swap takes an Order over, unless a newer Job was made since. The cursor stays on its
// row and, where that can be, at its place in the window; a cursor whose row is gone
// stays at its place in the list.
func (t *Table) Swap(o Order) bool {
	if o.Gen != t.gen {
		return false
	}
	at := t.cur - t.off
	t.src, t.rows, t.sort, t.unk = o.Src, o.Rows, o.Sort, o.Unk
	found, seen := t.cur, 0
	for i, r := range t.rows {
		id := t.src.ID(int(r))
		if id == t.curID {
			found = i
		}
		if len(t.chosen) > 0 && t.chosen[id] {
			seen++
		}
	}
	t.gone = len(t.chosen) - seen
	t.off = max(0, min(found-at, len(t.rows)-t.h))
	t.to(found)
	return true
}

// Sorted is the order on screen.
func (t *Table) Sorted() Sort { return t.sort }

// NextSort is the order by the next visible column, and at last as listed.
func (t *Table) NextSort(now Sort) Sort {
	shown, _ := t.layout(t.w)
	for _, c := range shown {
		if c.col >= now.Col {
			return Sort{Col: c.col + 1}
		}
	}
	return Sort{}
}
