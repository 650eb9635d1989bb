package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/change"
	"cordon/playbooks"
	"cordon/providers"
)

// Next goes on until there is something to show. Work that only reads a provider is
// done on the way and comes back as Progress; everything else waits for Answer.
// Calling Next again without an answer plans or observes afresh. An error means that
// the journal could not be written or ctx ended: nothing was decided.
func (r *Run) Next(ctx context.Context) (Prompt, error) {
	if err := ctx.Err(); err != nil {
		return Prompt{}, err
	}
	r.shown = Prompt{}
	r.answered()
	if len(r.told) > 0 {
		p := r.told[0]
		r.told = r.told[1:]
		return p, nil
	}
	if r.Outgrown() {
		return r.reopened(ctx)
	}
	t, open := r.current()
	if p, err := r.pauses(ctx, t, open); err != nil || p.Kind != "" {
		return p, err
	}
	if t, open = r.current(); !open {
		if err := r.identifyAll(ctx); err != nil {
			return Prompt{}, err
		}
		return r.finished()
	}
	if d := r.st.doubtOf(t.key()); d != nil {
		return r.doubt(ctx, t, *d)
	}
	switch a := t.do(); a.Do {
	case "gather":
		return r.gather(ctx, t)
	case "exposure":
		return r.openExposure(ctx, t)
	case "confirm":
		return r.confirm(ctx, t)
	case playbooks.Manual:
		return r.manual(ctx, t)
	case playbooks.Wait:
		return r.idle(ctx, t)
	case "plan":
		if tr := r.st.tried[t.key()]; tr != nil && tr.over() {
			return r.conclude(ctx, t, tr) // also where it was killed between the result and the end of the task
		}
		if t.undo != nil {
			return r.planUndo(ctx, t)
		}
		return r.plan(ctx, t)
	default:
		return Prompt{}, fmt.Errorf("step %s: this build cannot do %q; use the build that opened the case, or plan again", t.step.ID, a.Do)
	}
}

// conclude ends a task whose changes all have outcomes.
func (r *Run) conclude(ctx context.Context, t task, tr *try) (Prompt, error) {
	out := tr.worst()
	if tr.looks > 0 {
		return r.lookAgain(ctx, t)
	}
	if at, ok := r.retriable(t, out); ok && out.State == change.Refused {
		return r.retry(t, out, at)
	}
	text := fmt.Sprintf("%s: %s", out.Change, out.State)
	if out.Why != "" {
		text += ": " + out.Why
	}
	p := r.prompt(t, Progress, text)
	p.Outcome = &out
	if out.State != change.Refused {
		return p, r.verify(ctx, t)
	}
	if t.do().Optional && out.Status == 0 {
		return p, r.finish(t, Unreached, out.Why) // out of reach is a gap, not a failure
	}
	// A wrong token, a limit, a plan that went stale: the task stays open until somebody
	// says that it is over, or the next step would be offered over a runner that still runs.
	p.Kind, p.Text = Doubt, "REFUSED, not done: "+text
	return r.ask(p, Again, Leave, Stop), nil
}

// lookAgain reads back what the last look did not confirm.
func (r *Run) lookAgain(ctx context.Context, t task) (Prompt, error) {
	if err := r.verify(ctx, t); err != nil {
		return Prompt{}, err
	}
	p := r.told[0]
	r.told = r.told[1:]
	return p, nil
}

// tell queues what was done for the next call of Next.
func (r *Run) tell(p Prompt) { r.told = append(r.told, p) }

// prompt starts a prompt for a task.
func (r *Run) prompt(t task, kind, text string) Prompt {
	return Prompt{
		Kind: kind, Step: t.step.ID, Task: t.key(), Index: t.index, Of: len(r.o.Playbook.Steps),
		Title: t.step.Title, Why: t.step.Why, Verb: t.do().Verb, Target: t.on, Text: text,
	}
}

// ask makes p the prompt that waits for an answer.
func (r *Run) ask(p Prompt, choices ...string) Prompt {
	r.n++
	p.N, p.Choices, p.Leases = r.n, choices, r.Leases()
	r.shown = p
	r.since = r.o.Clock.Now()
	return p
}

// plan asks the system of the task for its options and shows them with what holds
// each of them back.
func (r *Run) plan(ctx context.Context, t task) (Prompt, error) {
	if r.passedOver(t) {
		return r.notNeeded(t, "no further one: the one before was passed over")
	}
	// The last prompt said until when; a clock that was set back does not make it longer.
	if err := r.o.Clock.Wait(ctx, min(r.st.notBefore[t.key()].Sub(r.o.Clock.Now()), maxWait)); err != nil {
		return Prompt{}, err
	}
	sys, err := r.planner(t)
	if err != nil {
		return r.unreached(t, err.Error())
	}
	rctx, lost := r.record(ctx, t)
	plans, err := sys.Plan(r.recent(rctx, t), t.do().Verb, t.on, r.planArgs(t))
	if *lost != nil {
		return Prompt{}, *lost
	}
	if err != nil {
		if ctx.Err() != nil {
			return Prompt{}, ctx.Err()
		}
		r.unplanned++
		p := r.prompt(t, Choose, fmt.Sprintf("plan %s of %s: %v", t.do().Verb, t.on.Short(), err))
		p.CannotDo = "no plan could be made: " + err.Error()
		return r.ask(p, Skip, Again, Stop), nil
	}
	if v := t.do().Verb; v != providers.Deregister && v != providers.Operator && r.gone(t.on) {
		return r.notNeeded(t, "the registration is gone already")
	}
	r.named(t, plans)
	plans, of := r.together(rctx, t, plans)
	if *lost != nil {
		return Prompt{}, *lost
	}
	if err := ctx.Err(); err != nil {
		return Prompt{}, err
	}
	return r.offer(t, plans, of)
}

// offer writes plans down and shows them with what holds each of them back.
func (r *Run) offer(t task, plans []change.Plan, of [][]task) (Prompt, error) {
	d := planData{Task: t.key(), Plans: plans, Hash: change.HashDone}
	if t.do().Ask == playbooks.SecondPerson {
		d.Until = r.o.Clock.Now().Add(r.o.Approval.valid()).Truncate(time.Second)
	}
	err := r.append(casefile.Event{Kind: "plan", Step: t.step.ID, Target: t.on, OK: true, Data: encode(d)})
	if err != nil {
		return Prompt{}, err
	}
	if nothing(plans) {
		return r.notNeeded(t, strings.Join(append([]string{plans[0].Title}, plans[0].Manual...), "; "))
	}
	if err := r.takeApprovals(t); err != nil {
		return Prompt{}, err
	}
	p := r.prompt(t, Choose, "")
	p.Plans, r.of = plans, of
	for _, pl := range plans {
		p.Guards = append(p.Guards, r.guards(t, pl))
	}
	if err := r.want(t, p); err != nil {
		return Prompt{}, err
	}
	choices := []string{Skip, Again, Stop}
	switch {
	case r.o.Issuer == nil:
		p.CannotDo = ErrReadOnly.Error()
	case !applicable(plans):
		p.CannotDo = "this cannot be done from here: see what has to be done by hand"
	default:
		choices = append([]string{Apply}, choices...)
	}
	return r.ask(p, choices...), nil
}

func applicable(plans []change.Plan) bool {
	for _, p := range plans {
		if len(p.Changes) > 0 || len(p.Contacts) > 0 {
			return true
		}
	}
	return false
}

// nothing reports whether the system looked and has nothing to do.
func nothing(plans []change.Plan) bool {
	return len(plans) > 0 && !slices.ContainsFunc(plans, func(p change.Plan) bool { return !p.Nothing || len(p.Changes)+len(p.Contacts) > 0 })
}

// planArgs hands the playbook's own settings to the plan.
func (r *Run) planArgs(t task) json.RawMessage {
	if t.do().Verb == providers.Operator {
		return r.operatorArgs(t)
	}
	switch t.do().Verb {
	case providers.Pause: // some providers can leave a marker that others see there
		return encode(struct {
			Case string `json:"case"`
		}{r.caseID})
	case providers.Purge: // what its runs left behind since then
		return encode(struct {
			Since time.Time `json:"since,omitzero"`
		}{r.st.window.From})
	}
	if t.do().Profile == "" {
		return nil
	}
	return encode(struct {
		Profile string `json:"profile"`
	}{t.do().Profile})
}

func (r *Run) notNeeded(t task, why string) (Prompt, error) {
	if err := r.finish(t, NotNeeded, why); err != nil {
		return Prompt{}, err
	}
	return r.prompt(t, Progress, why), nil
}

func (r *Run) unreached(t task, why string) (Prompt, error) {
	if err := r.finish(t, Unreached, why); err != nil {
		return Prompt{}, err
	}
	return r.prompt(t, Progress, "could not be reached: "+why), nil
}
