package engine

import (
	"encoding/json"

	"cordon/internal/casefile"
	"cordon/internal/target"
	"cordon/providers"
)

// LastRead is a runner as a case read it last, nil: it never did. It tells what a
// registration was that is gone since.
func LastRead(v *casefile.View, on target.Ref) *providers.Runner {
	var last *providers.Runner
	for _, l := range v.Lines {
		var d traitsData
		if l.Kind == "traits" && l.Target == on && json.Unmarshal(l.Data, &d) == nil && d.Runner != nil && d.Runner.Ref == on {
			last = d.Runner
		}
	}
	return last
}
