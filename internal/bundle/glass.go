package bundle

import (
	"encoding/json"
	"fmt"

	"cordon/internal/casefile"
	"cordon/internal/signing"
)

// glass is one change that went on without the second person that its playbook wants.
type glass struct {
	task, binds, by, key, why string
	countersigned             bool
}

// agreement folds who agreed to what. An approval that is worth nothing countersigns
// nothing, and is told.
func (s *story) agreement(l casefile.Line) error {
	var d struct {
		Task string `json:"task"`
		signing.Agreed
	}
	if err := json.Unmarshal(l.Data, &d); err != nil {
		return err
	}
	if l.Kind == "break-glass" {
		s.glass = append(s.glass, glass{task: d.Task, binds: d.Binds, by: l.Actor, key: l.Key, why: l.Msg})
		return nil
	}
	if _, err := genuine(d.Agreed, l, s.v.ID, s.v.Simulated); err != nil {
		s.unknown = append(s.unknown, fmt.Sprintf("NO APPROVAL: journal line %d says that %s approves %s: %s", l.Seq, quote(d.Person), quote(l.Step), quote(err.Error())))
		return nil
	}
	for i := range s.glass {
		if g := &s.glass[i]; g.binds == d.Binds && g.by != d.Person && g.key != d.Key {
			g.countersigned = true
		}
	}
	return nil
}
