package report

import (
	"fmt"
	"strings"

	"cordon/internal/casefile"
	"cordon/internal/untrusted"
)

// madeData is a change that was sent or about to be.
type madeData struct {
	changeData
	step, verb string
}

// undo is the verb of a change that takes another one back; its id is undo/ID.N.
const undo = "undo"

func (f *fold) applied(m *madeData) bool { return f.effects[m.ID] == "applied" }

// doneIn names the changes of a step that is not over which took effect already: a run
// that was killed right after one does not make it again.
func (f *fold) doneIn(step string) []string {
	var out []string
	for _, m := range f.made {
		if m.step == step && m.verb != undo && f.applied(m) {
			out = append(out, untrusted.Clean(m.ID, 60))
		}
	}
	return out
}

// stays are the changes that took effect and were not taken back.
func (f *fold) stays() []*madeData {
	back := map[string]bool{}
	for _, m := range f.made {
		if m.verb == undo && f.applied(m) {
			id := strings.TrimPrefix(m.ID, undo+"/")
			back[id[:max(0, strings.LastIndex(id, "."))]] = true
		}
	}
	var out []*madeData
	for _, m := range f.made {
		if m.verb != undo && f.applied(m) && !back[m.ID] {
			out = append(out, m)
		}
	}
	return out
}

// forGood reports whether a change has no way back.
func (m *madeData) forGood() bool { return len(m.Undo) == 0 || string(m.Undo) == "null" }

// lasting says which changes of a case that was stood down have no way back; "" where
// there are none.
func (f *fold) lasting() string {
	var ids []string
	for _, m := range f.stays() {
		if m.forGood() {
			ids = append(ids, untrusted.Clean(m.ID, 40))
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return "cannot be undone: " + ids[0] + more(len(ids)-1)
}

// inForce says which changes of a case that was stood down could be taken back and were
// not, by what is on record; "" where there are none.
func (f *fold) inForce() string {
	if f.removed() {
		return "" // what was done to the runner ended with it
	}
	var ids []string
	for _, m := range f.stays() {
		if !m.forGood() {
			ids = append(ids, untrusted.Clean(m.ID, 40))
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return "not taken back by this case: " + ids[0] + more(len(ids)-1)
}

func (f *fold) removed() bool { return f.stayed("deregister") }

func (f *fold) stayed(verb string) bool {
	for _, m := range f.stays() {
		if m.verb == verb {
			return true
		}
	}
	return false
}

// repair is what somebody has to do after a false alarm because it cannot be undone.
func (f *fold) repair() string {
	var out []string
	switch {
	case f.removed():
		out = append(out, "register the runner again: it was removed, and its machine gets no job")
	case f.stayed("rotate"):
		out = append(out, "register its machines again or give them the new token: the old one is dead, and they get no job")
	}
	if f.stayed("cancel") {
		out = append(out, "run again what was cancelled")
	}
	if len(out) == 0 && f.lasting() != "" {
		out = append(out, "mend by hand what "+f.lasting())
	}
	return strings.Join(out, "; ")
}

// handoverData is to whom a case goes.
type handoverData struct {
	To string `json:"to"`
}

func (f *fold) handOver(l casefile.Line, d handoverData) {
	if f.handed = ""; l.OK {
		f.handed = fmt.Sprintf("handed over to %s by %s at %s", untrusted.Clean(d.To, 60), untrusted.Clean(l.Actor, 60), when(l.T))
	}
}
