package engine

import (
	"fmt"
	"slices"
	"strings"

	"cordon/internal/casefile"
	"cordon/internal/target"
	"cordon/playbooks"
)

// StepState is where one step of a playbook stands.
type StepState struct {
	ID    string
	Title string
	End   string // one of the ends of a task, the worst of the step; "" while one is open
	Now   bool   // it is the step that the run stands at
	Waits string // for whom and until when, where a task of it waits; "" where none does
}

// Steps lists the steps of the playbook in order. At most one is Now, none when the
// run is over.
func (r *Run) Steps() []StepState {
	var out []StepState
	now, open := r.current()
	for _, s := range r.o.Playbook.Steps {
		out = append(out, StepState{ID: s.ID, Title: s.Title, End: r.stepEnd(s.ID), Now: open && now.step.ID == s.ID, Waits: r.waits(s.ID)})
	}
	if r.st.standDown != "" {
		out = append(out, StepState{ID: standDownStep, Title: standDownTitle, End: r.stepEnd(standDownStep), Now: open && now.step.ID == standDownStep})
	}
	return out
}

// stepEnd is the worst end of a step's tasks, except that one task without need does
// not hide that another was done.
func (r *Run) stepEnd(id string) string {
	none := !slices.ContainsFunc(r.book, func(t task) bool { return t.step.ID == id })
	if none && len(r.o.Hosts) == 0 && slices.ContainsFunc(r.o.Playbook.Steps, func(s playbooks.Step) bool { return s.ID == id && len(s.Acts) > 0 }) {
		return NoHost
	}
	end := r.worst(id)
	if end != NotNeeded {
		return end
	}
	for _, t := range append(slices.Clone(r.book), r.undoing()...) {
		if t.step.ID == id && r.st.end[t.key()] == Done {
			return Done
		}
	}
	return end
}

// Targets takes the targets of a case apart, in their order: its runners, its hosts,
// and which host uses which runner, which is the runner that it stands behind.
func Targets(all []target.Ref) (runners, hosts []target.Ref, of map[target.Ref][]target.Ref) {
	of = map[target.Ref][]target.Ref{}
	for _, t := range all {
		switch t.Kind {
		case target.Runner:
			runners = append(runners, t)
			of[t] = nil
		case target.Host:
			if !slices.Contains(hosts, t) {
				hosts = append(hosts, t)
			}
			if n := len(runners); n > 0 {
				of[runners[n-1]] = append(of[runners[n-1]], t)
			}
		}
	}
	if len(runners) < 2 {
		of = nil
	}
	return runners, hosts, of
}

// StepsOf is Steps of a case that nobody runs here, folded from its journal.
func StepsOf(v *casefile.View, p *playbooks.Playbook) ([]StepState, error) {
	r, err := fold(v, p)
	if err != nil {
		return nil, err
	}
	return r.Steps(), nil
}

// fold is a run of a case that is only looked at: it has no clock and no systems.
func fold(v *casefile.View, p *playbooks.Playbook) (*Run, error) {
	r := &Run{o: Options{Playbook: p}, st: newState()}
	r.o.Runners, r.o.Hosts, r.o.HostsOf = Targets(v.Opening.Targets)
	if len(r.o.Runners) == 0 && len(r.o.Hosts) == 0 {
		r.o.Runners = []target.Ref{{}} // a case of another kind: its steps are shown all the same
	}
	if len(r.o.Runners) > 0 {
		r.o.Runner = r.o.Runners[0]
	}
	r.book = expand(p, r.o.Runners, r.o.Hosts)
	for _, l := range v.Lines {
		if err := r.st.apply(l); err != nil {
			return nil, fmt.Errorf("steps of %s: journal line %d: %w", v.ID, l.Seq, err)
		}
	}
	return r, nil
}

// Window is the time in which the runner is suspect.
func (r *Run) Window() casefile.Window { return r.st.window }

// SetWindow changes the suspect window and writes why. What was read under the old
// window (the exposure list) stays as it was read. Errors: ErrReason without a reason.
func (r *Run) SetWindow(w casefile.Window) error {
	if strings.TrimSpace(w.Why) == "" {
		return fmt.Errorf("change the suspect window: %w", ErrReason)
	}
	if !w.To.IsZero() && w.To.Before(w.From) {
		return fmt.Errorf("change the suspect window: it ends %s, before it begins", w.To.Format("2006-01-02 15:04Z"))
	}
	return r.append(casefile.Event{Kind: "window", Target: r.o.Runner, OK: true, Msg: w.Why, Data: encode(w)})
}
