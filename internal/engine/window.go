package engine

import (
	"context"

	"cordon/internal/casefile"
	"cordon/internal/exposure"
	"cordon/playbooks"
)

// Outgrown reports whether the suspect window now begins before the time that the open
// exposure list covers. Next then opens the list again by itself; a window that became
// narrower changes nothing, because the list never shrinks.
func (r *Run) Outgrown() bool {
	from, x := r.st.window.From, r.st.exposed
	return x != nil && !from.IsZero() && from.Before(x.Window.From)
}

// Reopen opens the exposure list again over the suspect window as it stands and joins
// it with what was on it. It returns nil where the list need not be opened again. What
// could not be read this time, because the registration is gone for one, is a gap of
// the new list, and nothing that was on the old one is lost.
func (r *Run) Reopen(ctx context.Context) (*exposure.List, error) {
	if !r.Outgrown() {
		return nil, nil
	}
	t := r.exposureTask()
	rctx, lost := r.record(ctx, t)
	list := *r.st.exposed
	for _, runner := range r.o.Runners {
		if r.st.listed[runner] {
			list = r.reachable(rctx, runner, r.st.window.From).Joined(list)
		}
	}
	list = r.compared(list)
	if *lost != nil {
		return nil, *lost
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	err := r.append(casefile.Event{
		Kind: "exposure", Step: t.step.ID, Target: t.on, OK: true, Msg: "the suspect window grew: " + list.Summary(), Data: encode(list),
	})
	return &list, err
}

// reopened is Reopen as a prompt.
func (r *Run) reopened(ctx context.Context) (Prompt, error) {
	list, err := r.Reopen(ctx)
	if err != nil {
		return Prompt{}, err
	}
	p := r.prompt(r.exposureTask(), Progress, "the suspect window grew, and so does the list: "+list.Summary())
	p.Exposed = list
	return p, nil
}

// exposureTask is the act that opened the list.
func (r *Run) exposureTask() task {
	for _, t := range r.book {
		if t.do().Do == playbooks.Exposure {
			return t
		}
	}
	return task{on: r.o.Runner} // a playbook of another build: the line belongs to no step
}
