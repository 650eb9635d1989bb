package engine

import (
	"fmt"
	"slices"

	"cordon/internal/casefile"
	"cordon/internal/target"
	"cordon/playbooks"
)

// Matrix is where every step stands for every runner of a case.
type Matrix struct {
	Runners []target.Ref
	Steps   []StepState
	Cells   [][]Cell // [runner][step]
}

// Cell is one step for one runner.
type Cell struct {
	End   string // the worst end of its tasks, "" while one is open
	Now   bool   // the run stands here
	Waits string // for whom and until when, where a task of it waits; "" where none does
	Task  string // key of the first that waits, for Pick
	Once  bool   // it is done once for the case, and stands the same for every runner
	None  bool   // nothing in this step is about this runner: no host is known for it
}

// Matrix is the run as it stands.
func (r *Run) Matrix() Matrix {
	m := Matrix{Runners: r.o.Runners, Steps: r.Steps()}
	now, open := r.current()
	for _, runner := range r.o.Runners {
		row := make([]Cell, 0, len(m.Steps))
		for _, s := range m.Steps {
			row = append(row, r.cell(s.ID, runner, now, open))
		}
		m.Cells = append(m.Cells, row)
	}
	return m
}

// cell is the step for one runner: its own tasks, those on its hosts, and those that are
// done once for the case.
func (r *Run) cell(step string, runner target.Ref, now task, open bool) Cell {
	c := Cell{Once: true, None: true}
	worst, done := Done, false
	for _, t := range append(slices.Clone(r.book), r.undoing()...) {
		once := t.undo == nil && t.do().Do == playbooks.Manual && t.do().On == ""
		if t.step.ID != step || !once && t.on != runner && !slices.Contains(r.assigned(runner), t.on) {
			continue
		}
		c.None, c.Once = false, c.Once && once
		key := t.key()
		end := r.st.end[key]
		done = done || end == Done
		worst = ends[max(slices.Index(ends, worst), slices.Index(ends, end))]
		if w := r.st.people.tasks[key].waits(); end == "" && w != "" && c.Task == "" {
			c.Waits, c.Task = w, key
		}
		c.Now = c.Now || open && now.key() == key
	}
	if c.None {
		return Cell{None: true}
	}
	if c.End = worst; worst == NotNeeded && done {
		c.End = Done
	}
	return c
}

// ends of tasks, from the best to the worst; an open one hides all others.
var ends = []string{Done, NotNeeded, Skipped, Unreached, InDoubt, RefusedBy, ""}

// MatrixOf is Matrix of a case that nobody runs here, folded from its journal.
func MatrixOf(v *casefile.View, p *playbooks.Playbook) (Matrix, error) {
	r, err := fold(v, p)
	if err != nil {
		return Matrix{}, err
	}
	return r.Matrix(), nil
}

// Pick makes Next show a task that waits, before its time and before what is open: a
// colleague came back early, or has an answer. Nothing is written by it. It counts until
// an answer was taken.
func (r *Run) Pick(key string) error {
	t, ok := r.taskOf(key)
	switch {
	case !ok:
		return fmt.Errorf("%w: no task %q in this run", ErrChoice, key)
	case r.st.end[key] != "":
		return fmt.Errorf("%w: %s ended already: %s", ErrChoice, t.step.ID, r.st.end[key])
	case r.st.people.tasks[key].waits() == "":
		return fmt.Errorf("%w: %s does not wait for anybody", ErrChoice, t.step.ID)
	}
	r.shown, r.picked = Prompt{}, key
	return nil
}

// Note writes what a person has to say into the case. It answers no prompt.
func (r *Run) Note(text string) error {
	return r.append(casefile.Event{Kind: "note", OK: true, Msg: text})
}
