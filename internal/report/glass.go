package report

import (
	"fmt"

	"cordon/internal/casefile"
	"cordon/internal/signing"
	"cordon/internal/untrusted"
)

// glassData is a change that went on without the second person its playbook asks for.
type glassData struct {
	Binds string `json:"binds"`

	step, by, key string
	agreed        string // who agreed later, as the record says
}

// broke notes a broken glass. The same change tried again is no second one.
func (f *fold) broke(l casefile.Line, d glassData) {
	for _, g := range f.glass {
		if g.Binds == d.Binds {
			return
		}
	}
	d.step, d.by, d.key = l.Step, l.Actor, l.Key
	f.glass = append(f.glass, &d)
}

// approved takes an approval for what its signature is worth: one that does not check, or
// that is of whoever asked or broke the glass, agrees to nothing.
func (f *fold) approved(v *casefile.View, l casefile.Line, d signing.Agreed) {
	said, err := d.Check(v.ID, v.Simulated, l.Step, l.Target.String())
	if err != nil || said.Key == d.Key || said.By == d.Person {
		return
	}
	for _, g := range f.glass {
		if g.Binds == d.Binds && g.by != d.Person && g.key != d.Key {
			g.agreed = d.Person
		}
	}
}

// glassSays tells of the broken glass, and first of what nobody countersigned. Whose key
// it was that countersigned only the configuration knows: that is the record's word.
func (f *fold) glassSays() string {
	var last *glassData
	alone := 0
	for _, g := range f.glass {
		if g.agreed == "" {
			alone++
		}
		if last == nil || g.agreed == "" || last.agreed != "" {
			last = g
		}
	}
	switch {
	case last == nil:
		return ""
	case alone == 0:
		s := fmt.Sprintf("BREAK GLASS at %s, countersigned by %s as the record says", untrusted.Clean(last.step, 40), untrusted.Clean(last.agreed, 60))
		return s + more(len(f.glass)-1)
	}
	s := fmt.Sprintf("BREAK GLASS at %s by %s alone: NOT COUNTERSIGNED", untrusted.Clean(last.step, 40), untrusted.Clean(last.by, 60))
	return s + more(alone-1)
}

func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", and %d more", n)
}
