package engine

import (
	"slices"
	"time"
)

// current is the task that somebody picked, or the first without an end that waits for
// nobody, or false when the run is over. What comes after a waiting task in its step, and steps that need the
// step, wait with it. Where nothing else is open the first that waits is current: a
// run is not over while one does.
func (r *Run) current() (task, bool) {
	if t, ok := r.taskOf(r.picked); ok && r.st.end[r.picked] == "" {
		return t, true
	}
	var now time.Time // a case that is only looked at has no clock
	if r.o.Clock != nil {
		now = r.o.Clock.Now()
	}
	var first *task
	from := map[string]int{} // step id → the act from which on it is held up
	for _, t := range r.todo() {
		if r.st.end[t.key()] != "" {
			continue
		}
		act, up := from[t.step.ID]
		held := slices.ContainsFunc(t.step.Needs, func(id string) bool { _, waits := from[id]; return waits })
		switch {
		case held && !up:
			from[t.step.ID] = -1
		case held || up && t.act > act:
		case !r.st.people.parked(t.key(), now):
			return t, true
		default:
			if !up {
				from[t.step.ID] = t.act
			}
			if first == nil {
				first = &t
			}
		}
	}
	if first != nil {
		return *first, true
	}
	return task{}, false
}
