package engine

import (
	"fmt"

	"cordon/internal/target"
	"cordon/playbooks"
)

// task is one act of one step on one target: the unit that is done, skipped or in doubt.
type task struct {
	step  playbooks.Step
	index int // of the step, from 1
	act   int
	on    target.Ref
}

func (t task) do() playbooks.Act { return t.step.Acts[t.act] }

// key names the task in the journal; it must stay stable over versions of cordon.
func (t task) key() string { return fmt.Sprintf("%s/%d/%s", t.step.ID, t.act+1, t.on) }

// expand lays the playbook out over the targets of the case, in order.
func expand(p *playbooks.Playbook, runner target.Ref, hosts []target.Ref) []task {
	var all []task
	for i, s := range p.Steps {
		for a, act := range s.Acts {
			on := []target.Ref{runner}
			if act.On == "hosts" {
				on = hosts
			}
			for _, t := range on {
				all = append(all, task{step: s, index: i + 1, act: a, on: t})
			}
		}
	}
	return all
}

// current is the first task without an end, or false when the run is over.
func (r *Run) current() (task, bool) {
	for _, t := range r.tasks {
		if r.st.end[t.key()] == "" {
			return t, true
		}
	}
	return task{}, false
}

// task of a verb: where it stands, "" if it is not in the playbook or not ended.
func (r *Run) endOf(verb string) []string {
	var ends []string
	for _, t := range r.tasks {
		if a := t.do(); a.Do == "plan" && a.Verb == verb {
			ends = append(ends, r.st.end[t.key()])
		}
	}
	return ends
}
