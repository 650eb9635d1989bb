package table

import (
	"fmt"
	"strings"
)

// Foot says in one line what the list does not show: how many rows of how many, what
// the filter cannot tell, what is selected, and which columns had no
// room on the last view. It is at most w cells wide.
func (t *Table) Foot(w int) string {
	parts := []string{fmt.Sprintf("%d of %d", len(t.rows), t.Total())}
	if len(t.rows) > 0 {
		parts[0] = fmt.Sprintf("%d/%s", t.cur+1, parts[0])
	}
	if t.unk > 0 {
		parts = append(parts, fmt.Sprintf("%d more where the filter cannot tell", t.unk))
	}
	if n := len(t.chosen); n > 0 {
		s := fmt.Sprintf("%d selected", n)
		if h := t.Hidden(); h > 0 {
			s += fmt.Sprintf(" (%d not on this list)", h)
		}
		parts = append(parts, s)
	}
	if hid := t.HiddenColumns(); len(hid) > 0 {
		parts = append(parts, "hidden: "+strings.Join(hid, ", "))
	}
	return clip(strings.Join(parts, "; "), w, t.ascii)
}
