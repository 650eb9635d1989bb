package table

import "slices"

// Toggle selects the row under the cursor, or gives it back.
func (t *Table) Toggle() {
	switch {
	case t.curID == "":
	case t.chosen[t.curID]:
		delete(t.chosen, t.curID)
	default:
		t.chosen[t.curID] = true
	}
}

// ToggleAll selects every row of the list, or, where all are, none of them. Rows that
// the filter hides are left as they are.
func (t *Table) ToggleAll() {
	all := true
	for _, i := range t.rows {
		if !t.chosen[t.src.ID(int(i))] {
			all = false
			break
		}
	}
	for _, i := range t.rows {
		if id := t.src.ID(int(i)); all {
			delete(t.chosen, id)
		} else {
			t.chosen[id] = true
		}
	}
}

// Clear gives the whole selection back.
func (t *Table) Clear() { clear(t.chosen); t.gone = 0 }

// Selected are the ids of all selected rows, in order of id, those that are not on
// the list now too.
func (t *Table) Selected() []string {
	out := make([]string, 0, len(t.chosen))
	for id := range t.chosen {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// Hidden is how many of the selected rows were not on the list at the last Swap.
func (t *Table) Hidden() int { return min(t.gone, len(t.chosen)) }
