// Package fault names what can be made to go wrong in a lab, one thing at a time.
package fault

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// The faults. Each has its expected ending in the scenario file.
const (
	None          = "none"
	KeepsPolling  = "keeps-polling"  // the agent survives the stop and ignores its own back-off
	Resurrects    = "resurrects"     // the host registers anew once its token is refused
	LosesReset    = "loses-reset"    // the first reset takes effect, its answer is lost
	Always422     = "always-422"     // deleting a runner is refused for ever
	HostGone      = "host-gone"      // nobody listens at the compromised host's SSH address
	EmptyEvidence = "empty-evidence" // the collector answers nothing and says it went well

	// Of a GitHub.
	OldListener = "old-listener" // a listener of before RunnerNotFound survives the stop and retries for ever
	NewListener = "new-listener" // a current one survives the stop and wipes itself once it learns of the deletion
	Rogue       = "rogue"        // a second listener on the host, of an account that nobody configured
	Busy422     = "busy-422"     // deleting the runner is refused for ever as if it were busy, whatever its page says
)

// Names lists them all, None first.
func Names() []string {
	return []string{None, KeepsPolling, Resurrects, LosesReset, Always422, HostGone, EmptyEvidence, OldListener, NewListener, Rogue, Busy422}
}

// Switch holds the fault that is on. The zero value is None. Safe for concurrent use.
type Switch struct {
	mu      sync.Mutex
	only    []string
	name    string
	spent   bool
	changed []func(string)
}

// Only leaves these to choose from: what a scenario has endings for.
func (s *Switch) Only(names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.only = slices.DeleteFunc(Names(), func(n string) bool { return !slices.Contains(names, n) })
}

// Set turns one fault on and the others off; "" means None.
func (s *Switch) Set(name string) error {
	if name == "" {
		name = None
	}
	s.mu.Lock()
	known := s.only
	if known == nil {
		known = Names()
	}
	if !slices.Contains(known, name) {
		s.mu.Unlock()
		return fmt.Errorf("no fault %q here: choose one of %s", name, strings.Join(known, ", "))
	}
	s.name, s.spent = name, false
	told := slices.Clone(s.changed)
	s.mu.Unlock()
	for _, f := range told {
		f(name)
	}
	return nil
}

// OnChange calls f after every Set, from the goroutine that sets.
func (s *Switch) OnChange(f func(name string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed = append(s.changed, f)
}

// Name is the fault that is on.
func (s *Switch) Name() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.name == "" {
		return None
	}
	return s.name
}

// Is reports whether that fault is on.
func (s *Switch) Is(name string) bool { return s.Name() == name }

// Once reports whether that fault is on and has not struck since it was set.
func (s *Switch) Once(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.name != name || s.spent {
		return false
	}
	s.spent = true
	return true
}
