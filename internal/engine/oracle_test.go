package engine

import (
	"encoding/json"
	"slices"
	"strings"

	"cordon/internal/casefile"
	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/providers"
)

// check reads the journal as a stranger would, with types of its own, and holds it
// against the rules. It shares no code with the fold of the engine.
func (m *model) check(v *casefile.View) {
	o := oracle{m: m, items: map[string]bool{}, ends: map[string]string{}, leave: map[string]map[string]bool{}, open: map[string]string{}, outcome: map[string]string{}}
	for _, l := range v.Lines {
		o.line(l)
	}
	for _, e := range m.w.Ledger() {
		if !o.intended[e.Digest] {
			m.errorf("NO SYNCED INTENT: %s happened and is not in the journal", e.Change)
		}
	}
	m.undoRight()
}

type oracle struct {
	m        *model
	items    map[string]bool            // evidence that is kept
	ends     map[string]string          // task → end
	leave    map[string]map[string]bool // task → digests that are confirmed and not used
	open     map[string]string          // task → change whose outcome is not known
	outcome  map[string]string          // change → state
	intended map[string]bool            // digests
	agreed   []string                   // what was approved, or went on without
}

type oracleLine struct {
	Name, Task, End, Plan, Digest, Binds, Of string
	Changes, Tasks, Waived                   []string
	Change                                   change.Change
	Outcome                                  struct{ Change, State string }
}

func (o *oracle) line(l casefile.Line) {
	var d oracleLine
	if len(l.Data) > 0 && slices.Contains([]string{"evidence", "step", "confirm", "intent", "result", "settle", "approve", "break-glass", "renew"}, l.Kind) {
		if err := json.Unmarshal(l.Data, &d); err != nil {
			o.bad("line %d (%s) is not understood: %v", l.Seq, l.Kind, err)
		}
	}
	switch l.Kind {
	case "evidence":
		o.items[d.Name] = true
	case "step":
		o.ends[d.Task] = d.End
		delete(o.open, d.Task)
	case "drift", "again":
		o.ends = without(o.ends, l)
	case "anew": // a person, with a reason, has what may have happened done once more
		if l.Msg == "" {
			o.bad("line %d plans anew without a reason", l.Seq)
		}
		var a anewData
		if err := json.Unmarshal(l.Data, &a); err != nil {
			o.bad("line %d (%s) is not understood: %v", l.Seq, l.Kind, err)
		}
		delete(o.open, a.Task)
		delete(o.ends, a.Task)
	case "approve", "break-glass":
		o.agreed = append(o.agreed, d.Binds)
	case "confirm":
		o.confirm(l, d)
	case "intent":
		if o.intended == nil {
			o.intended = map[string]bool{}
		}
		o.intended[d.Digest] = true
		if !o.leave[d.Task][d.Digest] {
			o.bad("REPEATED: line %d makes %s for a confirmation that is used or was never given", l.Seq, d.Change.ID)
		}
		delete(o.leave[d.Task], d.Digest)
		o.open[d.Task] = d.Change.ID
		if strings.HasPrefix(d.Task, standDownStep+"/") {
			if of := strings.TrimPrefix(d.Task, standDownStep+"/"); o.outcome[of] != change.Applied {
				o.bad("WRONG STATE: line %d undoes %s, which is on record as %q", l.Seq, of, o.outcome[of])
			}
			o.m.Undone++
		}
	case "result", "settle":
		o.outcome[d.Outcome.Change] = d.Outcome.State
		if d.Outcome.State != change.Unknown && o.open[d.Task] == d.Outcome.Change {
			delete(o.open, d.Task)
		}
	}
}

// without forgets the ends of tasks that a line opens again.
func without(ends map[string]string, l casefile.Line) map[string]string {
	var d struct {
		Task  string
		Tasks []string
	}
	_ = json.Unmarshal(l.Data, &d) // what does not fit opens nothing
	for _, k := range append(d.Tasks, d.Task) {
		delete(ends, k)
	}
	return ends
}

// confirm holds one confirmation against the guards that must have been there.
func (o *oracle) confirm(l casefile.Line, d oracleLine) {
	for i, digest := range d.Changes {
		task := d.Task
		if len(d.Tasks) > 0 {
			task = d.Tasks[i]
		}
		if at := o.open[task]; at != "" {
			o.bad("REPEATED: line %d confirms %s while nobody knows what became of %s", l.Seq, task, at)
		}
		if o.leave[task] == nil {
			o.leave[task] = map[string]bool{}
		}
		o.leave[task][digest] = true
	}
	waived := func(id string) bool { return slices.Contains(d.Waived, id) }
	verb := map[string]string{"remove/1/": providers.Cancel, "remove/2/": providers.Stop, "remove/3/": providers.Deregister}
	for prefix := range verb {
		if !strings.HasPrefix(d.Task, prefix) {
			continue
		}
		for _, h := range o.m.destroyed(d.Task, prefix, l.Target) {
			name := "host/" + h + "/snapshot.json"
			if !o.items[name] && !waived("evidence:"+name) {
				o.bad("GUARD OFF: line %d destroys %s, which is neither kept nor waived", l.Seq, name)
			}
		}
		if !o.done("collect/") && !waived("needs:collect") {
			o.bad("GUARD OFF: line %d goes on without the step collect", l.Seq)
		}
	}
	if strings.HasPrefix(d.Task, "remove/3/") && o.m.asks() && !slices.Contains(o.agreed, binds("remove", d.Task, d.Plan, l.Target)) {
		o.bad("GUARD OFF: line %d was approved by nobody else", l.Seq)
	}
}

// destroyed are the hosts whose traces a task clears away.
func (m *model) destroyed(_, prefix string, on target.Ref) []string {
	if prefix == "remove/2/" {
		return []string{on.ID}
	}
	var all []string
	for _, h := range m.hosts {
		all = append(all, h.ID)
	}
	return all
}

func (m *model) asks() bool { return m.pb.Steps[4].Acts[2].Ask != "" }

// done reports whether every task of a step ended well.
func (o *oracle) done(prefix string) bool {
	n := 0
	for k, end := range o.ends {
		if strings.HasPrefix(k, prefix) {
			if end != Done && end != NotNeeded {
				return false
			}
			n++
		}
	}
	return n == len(o.m.hosts)
}

func (o *oracle) bad(format string, a ...any) {
	o.m.errorf(format, a...)
}

// undoRight holds the ledger against the rule that only what we did is undone: each
// resuming follows a pause of ours that was not undone yet, each start a stop of ours.
func (m *model) undoRight() {
	ours := map[target.Ref]int{}
	for _, e := range m.w.Ledger() {
		if e.Again {
			continue
		}
		switch e.Op {
		case providers.Pause, providers.Stop:
			ours[e.Target]++
		case providers.Resume, "start":
			if ours[e.Target] == 0 {
				m.errorf("WRONG STATE: %s of %s takes back what we did not do", e.Op, e.Target)
			}
			ours[e.Target] = 0
		}
	}
}
