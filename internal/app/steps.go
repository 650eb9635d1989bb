package app

import (
	"fmt"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/engine"
	"cordon/internal/target"
	"cordon/playbooks"
)

// CaseState is where a kept case stands, for a list of cases.
type CaseState struct {
	casefile.Summary
	Runner target.Ref // zero for a case about hosts alone
	Steps  []engine.StepState
}

// At is the number of the step that the run stands at, from 1, and how many there
// are. A run that is over stands at 0.
func (c CaseState) At() (step, of int) {
	for i, s := range c.Steps {
		if s.Now {
			return i + 1, len(c.Steps)
		}
	}
	return 0, len(c.Steps)
}

// CaseStates lists the cases with a playbook, by id, with where they stand. It takes
// no lock and writes nothing. A case that cannot be read is in the list as Broken.
func (a *App) CaseStates() ([]CaseState, error) {
	all, err := a.Cases()
	if err != nil {
		return nil, err
	}
	var out []CaseState
	for _, s := range all {
		c := CaseState{Summary: s}
		if s.Purged != nil {
			continue // nothing to go on with
		}
		if s.Broken == "" {
			v, err := a.View(s.ID)
			if err != nil {
				c.Broken = err.Error()
			} else if len(v.Opening.Playbook) == 0 {
				continue // a check of a host: nothing to go on with
			} else if err := c.fold(v); err != nil {
				c.Broken = err.Error()
			}
		}
		out = append(out, c)
	}
	return out, nil
}

func (c *CaseState) fold(v *casefile.View) error {
	p, err := playbooks.Parse(v.Opening.PlaybookName, v.Opening.Playbook)
	if err != nil {
		return fmt.Errorf("the playbook it was opened with is not understood by this build: %w", err)
	}
	for _, t := range v.Opening.Targets {
		if t.Kind == target.Runner {
			c.Runner = t
		}
	}
	c.Steps, err = engine.StepsOf(v, p)
	return err
}

// Steps lists the steps of the session's playbook with where they stand.
func (s *Session) Steps() []engine.StepState { return s.Run.Steps() }

// Matrix is where every step stands for every runner of the session.
func (s *Session) Matrix() engine.Matrix { return s.Run.Matrix() }

// SuspectSince moves the beginning of the suspect window and records why.
func (s *Session) SuspectSince(from time.Time, why string) error {
	w := s.Run.Window()
	w.From, w.Why = from, why
	return s.Run.SetWindow(w)
}

// View reads the case of the session from its journal.
func (s *Session) View() (*casefile.View, error) { return s.c.View() }

// Opened says what a session is about. It is a copy: safe to hand to a screen.
type Opened struct {
	ID     string
	Runner target.Ref
	Hosts  []string
	How    string // how the hosts are known; only for a new case
	Kept   bool   // false: a dry run, which leaves nothing
	Window casefile.Window
	Steps  []engine.StepState
}

// Opened describes the session as it is now.
func (s *Session) Opened() Opened {
	return Opened{s.ID(), s.runner, s.HostNames(), s.how, s.Kept(), s.Run.Window(), s.Steps()}
}
