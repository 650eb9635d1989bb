package engine

import (
	"fmt"
	"slices"
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
	PIDs  []int  `json:"pids,omitempty"` // of its agents, then
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
			stands, _ := r.standsOf(h, s)
			lines = append(lines, fmt.Sprintf("%s: %s; %s: open item", s.What, stands, word))
		}
	}
	return lines, told
}

// strayRuns is the worst that is known of the strays of all hosts: Yes where an agent of
// one still runs, Unknown where nobody saw that it does not.
func (r *Run) strayRuns() (is witness.Tri, which string) {
	is = witness.No
	for _, h := range r.o.Hosts {
		for _, s := range r.st.strays[h.ID] {
			switch stands, runs := r.standsOf(h, s); {
			case runs == witness.Yes:
				return runs, s.What + ": " + stands
			case runs == witness.Unknown:
				is, which = runs, s.What+": "+stands
			}
		}
	}
	return is, which
}

// straysEnd keeps a case from being done while what was planted on its host runs, whatever
// became of its own runner: the machine is still in somebody else's hands.
func (r *Run) straysEnd(e Ending) Ending {
	if e.Exit != ExitDone {
		return e
	}
	switch is, which := r.strayRuns(); is {
	case witness.Yes:
		return Ending{Word: witness.Polling, Exit: ExitPolls, Notes: append(e.Notes, which)}
	case witness.Unknown:
		return Ending{Word: "cannot tell", Exit: ExitCannotTell, Notes: append(e.Notes, which)}
	}
	return e
}

// from is how an observation of an agent names the root that it runs from.
func from(root string) string { return ", from " + root }

// isOf reports whether an agent that was seen on a stray's host is of it: by its root, or
// by its number where the look could not read whose file it runs.
func (s Stray) isOf(o witness.Observation) bool {
	if strings.Contains(o.Says, from("")) {
		return strings.HasSuffix(o.Says, from(s.Root))
	}
	return slices.ContainsFunc(s.PIDs, func(pid int) bool { return strings.HasSuffix(o.Subject.ID, fmt.Sprintf("-%d", pid)) })
}

// isStray reports whether an agent that was seen beside the case's is of a stray.
func (r *Run) isStray(o witness.Observation) bool {
	return slices.ContainsFunc(r.st.strays[o.Subject.Scope.Path], func(s Stray) bool { return s.isOf(o) })
}

// standsOf says where a stray stands: gone only where the host was looked at after it
// was found there, by its process table, and no agent of its root was among them, nor one
// of which it is not known whose it is.
func (r *Run) standsOf(h target.Ref, s Stray) (says string, runs witness.Tri) {
	var last witness.Observation // of the host's processes
	for _, t := range r.book {
		for _, o := range r.st.seen[t.key()] {
			if o.Subject == h && o.Source == witness.HostProcess && !o.At.Before(last.At) {
				last = o
			}
		}
	}
	looked := last.At.After(r.st.read[h.ID])
	nameless := false
	for _, t := range r.book {
		for _, o := range r.st.seen[t.key()] {
			if o.Subject.Kind != target.Installation || o.Subject.Scope.Path != h.ID || !o.At.Equal(last.At) {
				continue
			}
			if s.isOf(o) {
				return "still runs on " + h.ID, witness.Yes
			}
			nameless = nameless || !strings.Contains(o.Says, from(""))
		}
	}
	switch {
	case !looked && s.Runs:
		return "ran on " + h.ID + " when it was read, and nobody looked again", witness.Unknown
	case !s.Runs:
		return "not running, and its files were on " + h.ID, witness.No
	case last.CouldNot != "":
		return "ran on " + h.ID + " when it was read, and the last look could not see", witness.Unknown
	case last.Exists == witness.Yes || nameless:
		return "ran on " + h.ID + " when it was read; an agent still runs there, and the look does not say which", witness.Unknown
	}
	return "gone from this host (" + h.ID + ")", witness.No
}
