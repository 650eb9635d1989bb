package app

import (
	"cordon/internal/operator"
	"cordon/internal/redact"
)

// operator adds the owner's own actions. A read-only process has no applier for them
// and starts no process of theirs at all.
func (a *App) operator(s *systems, m redact.Marker) {
	acts := map[string]operator.Action{}
	for name, x := range a.cfg.Operator {
		acts[name] = operator.Action{
			Title: x.Title, Verb: x.Verb, OnHosts: x.On == "hosts", Do: x.Do, Verify: x.Verify, Undo: x.Undo,
			Timeout: x.Timeout, Env: x.Env, TipsOff: x.TipsOff, Destroys: x.Destroys,
		}
	}
	sys := operator.New(operator.Options{Actions: acts, Clock: a.clock, Marker: m, Processes: !a.o.ReadOnly})
	s.all[operator.Name] = sys
	if s.appliers != nil {
		s.appliers[operator.Name] = operator.NewApplier(sys)
	}
}
