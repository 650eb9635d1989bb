package engine

import (
	"encoding/json"

	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/providers"
)

// operatorSystem is the system that plans and applies the owner's own actions, on
// targets of other systems.
const operatorSystem = "operator"

// planner is the system that plans a task.
func (r *Run) planner(t task) (providers.System, error) {
	if t.do().Verb == providers.Operator {
		return r.system(target.Ref{System: operatorSystem})
	}
	return r.system(t.on)
}

// settler is the system that can read back a change.
func (r *Run) settler(c change.Change) (providers.System, error) {
	if c.System == operatorSystem {
		return r.system(target.Ref{System: operatorSystem})
	}
	return r.system(c.Target)
}

// word is the verb of a task, for the ids of its changes: an action by its name,
// because a case may have several on one target.
func (t task) word() string {
	if a := t.do(); a.Verb == providers.Operator {
		return a.Verb + "-" + a.Name
	}
	return t.do().Verb
}

// operatorArgs says what an action is about.
func (r *Run) operatorArgs(t task) json.RawMessage {
	runner := r.o.Runner
	if t.on.Kind == target.Runner {
		runner = t.on
	}
	return encode(struct {
		Name   string `json:"name"`
		Case   string `json:"case"`
		Runner string `json:"runner"`
	}{t.do().Name, r.caseID, runner.String()})
}
