package engine

import (
	"context"
	"fmt"
	"strings"

	"cordon/internal/casefile"
	"cordon/internal/change"
	"cordon/providers"
)

// doubt observes before anything else: if the system can tell by reading whether the
// change took effect, the doubt is settled; otherwise a person decides. Nothing is
// ever sent a second time from here.
func (r *Run) doubt(ctx context.Context, t task, d pending) (Prompt, error) {
	sys, err := r.settler(d.change)
	if err != nil {
		return Prompt{}, err
	}
	state, why := change.Unknown, d.why
	if s, ok := sys.(providers.Settler); ok {
		rctx, lost := r.record(ctx, t)
		var serr error
		state, why, serr = s.Settle(rctx, d.change)
		if *lost != nil {
			return Prompt{}, *lost
		}
		if serr != nil {
			state, why = change.Unknown, serr.Error()
		}
		if state == change.Unknown && d.why != "" && why != d.why { // how it was left, and what a look tells now
			why = strings.TrimSuffix(d.why+"; looking again: "+why, "; looking again: ")
		}
	}
	if err := ctx.Err(); err != nil {
		return Prompt{}, err
	}
	if state != change.Unknown {
		out := change.Outcome{Change: d.change.ID, State: state, Why: why, Status: d.status, At: r.o.Clock.Now()}
		if err := r.resultFor(t, t.key(), "settle", out); err != nil {
			return Prompt{}, err
		}
		p := r.prompt(t, Progress, fmt.Sprintf("%s was unknown, now %s: %s", d.change.Title, state, why))
		p.Outcome = &out
		return p, nil // Next plans what was never sent, or concludes
	}
	p := r.prompt(t, Doubt, fmt.Sprintf("UNKNOWN whether it took effect: %s (%s)", d.change.Title, why))
	p.Outcome = &change.Outcome{Change: d.change.ID, State: change.Unknown, Why: why}
	return r.ask(p, Again, Anew, Leave, Stop), nil
}

// settleLate looks at every doubt that was left behind once more, when a later step
// may have made it answerable.
func (r *Run) settleLate(ctx context.Context, t task) error {
	for _, d := range append([]pending(nil), r.st.doubts...) {
		sys, err := r.settler(d.change)
		if err != nil {
			continue
		}
		s, ok := sys.(providers.Settler)
		if !ok {
			continue
		}
		rctx, lost := r.record(ctx, t)
		state, why, err := s.Settle(rctx, d.change)
		if *lost != nil {
			return *lost
		}
		if err != nil || state == change.Unknown {
			continue
		}
		out := change.Outcome{Change: d.change.ID, State: state, Why: why, At: r.o.Clock.Now()}
		err = r.append(casefile.Event{
			Kind: "settle", Step: t.step.ID, Target: d.change.Target, OK: true, Msg: why,
			Data: encode(resultData{d.task, d.verb, out}),
		})
		if err != nil {
			return err
		}
	}
	return nil
}
