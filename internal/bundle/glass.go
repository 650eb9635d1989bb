package bundle

import (
	"encoding/json"

	"cordon/internal/casefile"
)

// glass is one change that went on without the second person that its playbook wants.
type glass struct {
	task, binds, by, why string
	countersigned        bool
}

// agreement folds who agreed to what.
func (s *story) agreement(l casefile.Line) error {
	var d struct {
		Task  string `json:"task"`
		Binds string `json:"binds"`
	}
	if err := json.Unmarshal(l.Data, &d); err != nil {
		return err
	}
	if l.Kind == "break-glass" {
		s.glass = append(s.glass, glass{task: d.Task, binds: d.Binds, by: l.Actor, why: l.Msg})
		return nil
	}
	for i := range s.glass {
		if s.glass[i].binds == d.Binds {
			s.glass[i].countersigned = true
		}
	}
	return nil
}
