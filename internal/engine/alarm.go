package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/playbooks"
	"cordon/providers"
)

// Words of an alarm: a prompt of kind Progress that carries one must not be overlooked.
const (
	Drift   = "DRIFT"    // a pause is no longer in force: somebody, or a reload, took it back
	LateJob = "LATE JOB" // a job began after the pause: it was handed out before, and has secrets
	Renewed = "RENEWED"  // a pause that ends by itself was made again
	Expired = "EXPIRED"  // one could not be
)

// paused are the tasks whose pause has to be in force now.
func (r *Run) paused() []task {
	if r.o.Issuer == nil || r.st.standDown != "" {
		return nil
	}
	var all []task
	for _, t := range r.book {
		if a := t.do(); a.Do == playbooks.Plan && a.Verb == providers.Pause && !r.gone(t.on) {
			if end := r.st.end[t.key()]; end == Done || end == NotNeeded {
				all = append(all, t)
			}
		}
	}
	return all
}

// pauses looks after what was paused: a pause that ends by itself is made again before
// it does, and before each later step every pause is read again. A prompt with a Kind
// is an alarm to be shown before anything else.
func (r *Run) pauses(ctx context.Context, next task, open bool) (Prompt, error) {
	for _, t := range r.paused() {
		if until, of := r.lease(t); of != nil && !r.o.Clock.Now().Before(until.Add(-of.Lease/4)) {
			return r.renew(ctx, t, *of)
		}
	}
	if !open || r.checked[next.step.ID] {
		return Prompt{}, nil
	}
	for _, t := range r.paused() {
		if t.step.ID == next.step.ID {
			continue
		}
		if p, err := r.recheck(ctx, t); err != nil || p.Kind != "" {
			return p, err
		}
	}
	r.checked[next.step.ID] = true
	return Prompt{}, nil
}

// recheck reads one pause again.
func (r *Run) recheck(ctx context.Context, t task) (Prompt, error) {
	rctx, lost := r.record(ctx, t)
	seen, err := r.provider(t.on).Observe(rctx, t.on)
	if *lost != nil {
		return Prompt{}, *lost
	}
	if ctx.Err() != nil {
		return Prompt{}, ctx.Err()
	}
	if err != nil { // not seen is not gone: the next step looks again
		return Prompt{}, r.append(casefile.Event{Kind: "note", Step: t.step.ID, Target: t.on, Msg: "whether it is still paused could not be read: " + err.Error()})
	}
	is, _ := r.beside(rctx, t)
	if *lost != nil {
		return Prompt{}, *lost
	}
	if is == witness.No { // its runner shows it, or nothing is in force
		if p, err := r.drift(t, seen); err != nil || p.Kind != "" {
			return p, err
		}
	}
	return r.lateJob(rctx, t, lost)
}

// beside reads whether a pause in part is in force that is none of the runner's own, such
// as a workflow that was disabled: no observation of the runner shows it, so each of its
// changes is asked about. No: one is not, or the pause is the runner's own.
func (r *Run) beside(ctx context.Context, t task) (witness.Tri, string) {
	var whys []string
	is := witness.No
	for _, m := range r.st.made {
		if m.task != t.key() || m.outcome.State != change.Applied && m.outcome.State != change.Already {
			continue
		}
		if !r.partly(t) || m.change.Target == t.on {
			return witness.No, ""
		}
		sys, err := r.settler(m.change)
		s, ok := sys.(providers.Settler)
		if err != nil || !ok {
			return witness.Unknown, "it cannot be asked about"
		}
		state, why, err := s.Settle(ctx, m.change)
		switch {
		case err != nil:
			return witness.Unknown, err.Error()
		case state != change.Applied:
			return witness.No, why
		}
		is, whys = witness.Yes, append(whys, why)
	}
	return is, strings.Join(whys, "; ")
}

// drift raises the alarm where what was paused reads back as not paused, and opens the
// pause again (configuration-as-code-plugin#2682: a reload brought nodes back).
func (r *Run) drift(t task, seen []witness.Observation) (Prompt, error) {
	for _, o := range seen {
		if o.Subject != t.on || o.CouldNot != "" || o.Paused != witness.No || o.Exists == witness.No || r.partly(t) && o.Partly != "" {
			continue
		}
		says := fmt.Sprintf("%s is no longer paused (%s): somebody resumed it, or a reload of its configuration did; the pause is open again", t.on.Short(), o.Says)
		err := r.append(casefile.Event{Kind: "drift", Step: t.step.ID, Target: t.on, Msg: says, Data: encode(alarmData{t.key(), Drift, t.on, says})})
		if err != nil {
			return Prompt{}, err
		}
		p := r.prompt(t, Progress, Drift+": "+says)
		p.Word, p.Seen = Drift, seen
		return p, nil
	}
	return Prompt{}, nil
}

// lateReads bounds, in requests, one look for late jobs where a provider has to search for
// them: it is made again at the next.
const lateReads = 60

// lateJob looks for jobs that began after the pause: they were handed out in a race
// with it (gocd#3760), and have their secrets.
func (r *Run) lateJob(ctx context.Context, t task, lost *error) (Prompt, error) {
	l, ok := r.provider(t.on).(providers.JobLister)
	since := r.pausedAt(t)
	if !ok || since.IsZero() {
		return Prompt{}, nil
	}
	jobs, _, err := l.Jobs(providers.WithCalls(ctx, lateReads), t.on, since.Add(-24*time.Hour), 50)
	if *lost != nil || err != nil {
		return Prompt{}, *lost // what could not be read now is read before the next step
	}
	for _, j := range jobs {
		id := j.Ref.String()
		known := r.late[id] || slices.ContainsFunc(r.st.alarms, func(a alarmData) bool { return a.Word == LateJob && a.Target == j.Ref })
		if known || !j.StartedAt.After(since) {
			continue
		}
		r.late[id] = true
		says := fmt.Sprintf("job %s (%s of %s) began %s, after the pause of %s: it was handed out before and has its secrets", j.Ref.ID, j.Name, j.Project, j.StartedAt.UTC().Format("15:04:05Z"), since.UTC().Format("15:04:05Z"))
		err := r.append(casefile.Event{Kind: "late-job", Step: t.step.ID, Target: t.on, Msg: says, Data: encode(alarmData{t.key(), LateJob, j.Ref, says})})
		if err != nil {
			return Prompt{}, err
		}
		p := r.prompt(t, Progress, LateJob+": "+says)
		p.Word = LateJob
		return p, nil
	}
	return Prompt{}, nil
}

// partly reports whether the pause of a task was planned as one in part.
func (r *Run) partly(t task) bool {
	tr := r.st.tried[t.key()]
	return tr != nil && tr.partly
}

// heldSince is when a pause of ours took effect after which no new job comes to a runner;
// zero where there is none, or one in part.
func (r *Run) heldSince(runner target.Ref) time.Time {
	for _, t := range r.paused() {
		if t.on == runner && !r.partly(t) {
			return r.pausedAt(t)
		}
	}
	return time.Time{}
}

// pausedAt is when the pause took effect, by the provider's clock where it said; zero
// where it was not ours.
func (r *Run) pausedAt(t task) time.Time {
	for _, m := range slices.Backward(r.st.made) {
		if m.task == t.key() && m.outcome.State == change.Applied {
			if m.outcome.Date.IsZero() {
				return m.outcome.At
			}
			return m.outcome.Date
		}
	}
	return time.Time{}
}

// lease is when the pause of a task ends by itself and the change that was confirmed
// with it; nil where it does not end.
func (r *Run) lease(t task) (time.Time, *change.Change) {
	var first *change.Change
	var until time.Time
	for i, m := range r.st.made {
		renewal := m.task == renewal(t.key())
		if m.task != t.key() && !renewal || m.change.Lease <= 0 || m.outcome.State != change.Applied {
			continue
		}
		if !renewal {
			first = &r.st.made[i].change
		}
		until = m.outcome.At.Add(m.change.Lease)
	}
	return until, first
}

func renewal(task string) string { return task + "/renew" }

// Lease says until when a target is paused, where that ends by itself.
type Lease struct {
	Target target.Ref
	Until  time.Time
}

// Leases are the pauses in force that end by themselves.
func (r *Run) Leases() []Lease {
	var all []Lease
	for _, t := range r.paused() {
		if until, of := r.lease(t); of != nil {
			all = append(all, Lease{t.on, until})
		}
	}
	return all
}
