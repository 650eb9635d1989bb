package engine

import (
	"fmt"
	"slices"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/change"
	"cordon/playbooks"
	"cordon/providers"
)

// maxTries is how often a change that was refused for now alone is planned again. After
// that it is for a person.
const maxTries = 7

// maxWait is the longest time that a run waits by itself; beyond that a person is asked.
const maxWait = 15 * time.Minute

// busyFor is how long to wait before each further try of a deletion that is refused
// because of a job: an agent needs moments to end a job that was cancelled, and a service
// keeps one whose agent was stopped for about ten minutes (facts/github.md §2.3).
var busyFor = [maxTries]time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, time.Minute, 3 * time.Minute, 6 * time.Minute}

// retriable reports whether a refused change may pass later, and when to try again: a
// deletion that is refused because of a job (actions/runner#3737), and what the service
// refused because it wants fewer requests.
func (r *Run) retriable(t task, out change.Outcome) (time.Time, bool) {
	tries := r.st.tries[t.key()]
	if t.undo != nil || tries >= maxTries {
		return time.Time{}, false
	}
	conflict := out.Status == 409 || out.Status == 412 || out.Status == 422
	if conflict && t.do().Verb == providers.Deregister {
		return out.At.Add(busyFor[max(tries-1, 0)]), true
	}
	return out.NotBefore, !out.NotBefore.IsZero() && out.NotBefore.Sub(out.At) <= maxWait
}

// retry opens the task again, and the cancelling of jobs in the same step, so that what
// runs is read afresh. Each try is planned and confirmed like the first, not before its time.
func (r *Run) retry(t task, out change.Outcome, at time.Time) (Prompt, error) {
	keys := []string{t.key()}
	for _, o := range r.book {
		if o.step.ID == t.step.ID && o.on == t.on && o.do().Do == playbooks.Plan && o.do().Verb == providers.Cancel {
			if end := r.st.end[o.key()]; slices.Contains([]string{Done, NotNeeded}, end) {
				keys = append(keys, o.key())
			}
		}
	}
	text := fmt.Sprintf("%s: refused for now (%d of %d): %s; at %s what runs there is read again, then it can be tried again",
		out.Change, r.st.tries[t.key()], maxTries, out.Why, at.UTC().Format("15:04:05Z"))
	p := r.prompt(t, Progress, text)
	p.Outcome = &out
	return p, r.append(casefile.Event{Kind: "again", Step: t.step.ID, Target: t.on, Msg: text, Data: encode(againData{keys, at})})
}
