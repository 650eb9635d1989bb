package engine

import (
	"fmt"
	"strings"

	"cordon/internal/fleet"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/internal/witness"
)

// Stray is a runner that was found on a host of the case and that is in no list of
// ours. Deregistering the case's runner does nothing to it, and nobody here may be able
// to end its registration: it stays an open item until somebody who can has.
type Stray struct {
	Host  string `json:"host"`
	Root  string `json:"root"`  // of the installation; cleaned
	What  string `json:"what"`  // one line for a person; cleaned
	State string `json:"state"` // fleet.NotOurs or fleet.Rogue
	Why   string `json:"why,omitempty"`
	Runs  bool   `json:"runs,omitempty"` // when the host was read
}

// strays asks for those of a host that was just read.
func (r *Run) strays(s *snapshot.Snapshot) []Stray {
	if r.o.Strays == nil || s == nil {
		return nil
	}
	return r.o.Strays(s, r.o.Runners)
}

// openStrays is what is open about the strays of all hosts, one line each, and the roots
// that they tell of, so that nothing is told twice.
func (r *Run) openStrays() (lines []string, told map[string]bool) {
	told = map[string]bool{}
	for _, h := range r.o.Hosts {
		for _, s := range r.st.strays[h.ID] {
			word := "registered nowhere that was listed"
			if s.State == fleet.NotOurs {
				word = "registration not ours"
			}
			told[from(s.Root)] = true
			lines = append(lines, fmt.Sprintf("%s: %s; %s: open item", s.What, r.standsOf(h, s), word))
		}
	}
	return lines, told
}

// from is how an observation of an agent names the root that it runs from.
func from(root string) string { return ", from " + root }

// standsOf says where a stray stands: gone only where the host was looked at after it
// was found there, by its process table, and no agent of its root was among them.
func (r *Run) standsOf(h target.Ref, s Stray) string {
	var last witness.Observation // of the host's processes
	for _, t := range r.book {
		for _, o := range r.st.seen[t.key()] {
			if o.Subject == h && o.Source == witness.HostProcess && !o.At.Before(last.At) {
				last = o
			}
		}
	}
	looked := last.At.After(r.st.read[h.ID])
	for _, t := range r.book {
		for _, o := range r.st.seen[t.key()] {
			if o.Subject.Kind == target.Installation && o.Subject.Scope.Path == h.ID && o.At.Equal(last.At) && strings.HasSuffix(o.Says, from(s.Root)) {
				return "still runs on " + h.ID
			}
		}
	}
	switch {
	case !looked && s.Runs:
		return "ran on " + h.ID + " when it was read, and nobody looked again"
	case !s.Runs:
		return "not running, and its files were on " + h.ID
	case last.CouldNot != "":
		return "ran on " + h.ID + " when it was read, and the last look could not see"
	case last.Exists == witness.Yes:
		return "ran on " + h.ID + " when it was read; an agent still runs there, and the look does not say which"
	}
	return "gone from this host (" + h.ID + ")"
}
