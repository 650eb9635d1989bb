package engine

import (
	"fmt"
	"slices"

	"cordon/internal/casefile"
	"cordon/internal/change"
	"cordon/playbooks"
	"cordon/providers"
)

// maxTries is how often a deletion that the provider refuses in this state is planned
// again. After that it is for a person at the provider.
const maxTries = 3

// retriable reports whether a refused change may pass once what stands in its way is
// gone: a deletion that is refused because of a job (actions/runner#3737).
func (r *Run) retriable(t task, out change.Outcome) bool {
	conflict := out.Status == 409 || out.Status == 412 || out.Status == 422
	return conflict && t.undo == nil && t.do().Verb == providers.Deregister && r.st.tries[t.key()] < maxTries
}

// retry opens the task again, and the cancelling of jobs in the same step, so that what
// runs is read afresh. Each try is planned and confirmed like the first.
func (r *Run) retry(t task, out change.Outcome) (Prompt, error) {
	keys := []string{t.key()}
	for _, o := range r.book {
		if o.step.ID == t.step.ID && o.on == t.on && o.do().Do == playbooks.Plan && o.do().Verb == providers.Cancel {
			if end := r.st.end[o.key()]; slices.Contains([]string{Done, NotNeeded}, end) {
				keys = append(keys, o.key())
			}
		}
	}
	text := fmt.Sprintf("%s: refused (%d of %d): %s; what runs there is read again, then it can be tried again", out.Change, r.st.tries[t.key()], maxTries, out.Why)
	p := r.prompt(t, Progress, text)
	p.Outcome = &out
	return p, r.append(casefile.Event{Kind: "again", Step: t.step.ID, Target: t.on, Msg: text, Data: encode(againData{keys})})
}
