package engine

import (
	"fmt"
	"net/url"
	"slices"

	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/playbooks"
	"cordon/providers"
)

// task is one act of one step on one target: the unit that is done, skipped or in doubt.
type task struct {
	step  playbooks.Step
	index int // of the step, from 1
	act   int
	on    target.Ref
	undo  *change.Change // the change that a task of standing down takes back
}

func (t task) do() playbooks.Act { return t.step.Acts[t.act] }

// key names the task in the journal; it must stay stable over versions of cordon.
func (t task) key() string {
	if t.undo != nil {
		return standDownStep + "/" + t.undo.ID
	}
	return fmt.Sprintf("%s/%d/%s", t.step.ID, t.act+1, t.on)
}

// expand lays the playbook out over the targets of the case, in order: each act on
// the first runner before the others.
func expand(p *playbooks.Playbook, runners, hosts []target.Ref) []task {
	var all []task
	for i, s := range p.Steps {
		for a, act := range s.Acts {
			on := runners
			switch {
			case act.On == playbooks.OnHosts:
				on = hosts
			case len(runners) == 0 && act.Do == playbooks.Confirm:
				on = hosts // a case about hosts alone watches them
			case act.Do == playbooks.Manual && act.On == "":
				on = append(slices.Clone(runners), hosts...)[:1] // once for the case
			}
			for _, t := range on {
				all = append(all, task{step: s, index: i + 1, act: a, on: t})
			}
		}
	}
	return all
}

// todo are the tasks of the run: those of the playbook, or those that stand it down.
func (r *Run) todo() []task {
	if r.st.standDown != "" {
		return r.undoing()
	}
	return r.book
}

// endOf is where the tasks of a verb stand, "" for one that has not ended; of one
// target, or of all with the zero Ref.
func (r *Run) endOf(verb string, on target.Ref) []string {
	var ends []string
	for _, t := range r.book {
		if a := t.do(); a.Do == playbooks.Plan && a.Verb == verb && (on.IsZero() || t.on == on) {
			ends = append(ends, r.st.end[t.key()])
		}
	}
	return ends
}

// passedOver reports whether the task is one of several alike in its step, for a choice of
// which each ends one, and somebody wanted no more of them, or there were none.
func (r *Run) passedOver(t task) bool {
	alike := func(a playbooks.Act) bool {
		return a.Do == playbooks.Plan && a.Verb == t.do().Verb && a.Name == t.do().Name
	}
	return t.undo == nil && slices.ContainsFunc(r.book, func(x task) bool {
		end := r.st.end[x.key()]
		return x.step.ID == t.step.ID && x.act < t.act && x.on == t.on && alike(x.do()) && (end == Skipped || end == NotNeeded)
	})
}

// gone reports whether the registration is known to be deleted in this run.
func (r *Run) gone(runner target.Ref) bool {
	ends := r.endOf(providers.Deregister, runner)
	return len(ends) > 0 && !slices.ContainsFunc(ends, func(e string) bool { return e != Done })
}

// name is how the ids of changes call a target: its id, with its system where another
// target of the case has the same id, and with its scope too where that is of the same
// system: a GitHub counts the runners of each scope from one.
func (r *Run) name(t target.Ref) string {
	s := t.ID
	for _, o := range slices.Concat(r.o.Runners, r.o.Hosts) {
		switch {
		case o == t || o.ID != t.ID || o.Kind != t.Kind:
		case o.System == t.System:
			return fmt.Sprintf("%s:%s:%s:%s", t.System, t.Scope.Level, url.PathEscape(t.Scope.Path), t.ID)
		default:
			s = t.System + ":" + t.ID
		}
	}
	return s
}
