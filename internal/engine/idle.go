package engine

import (
	"context"
	"fmt"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/witness"
)

const (
	idleEvery = 30 * time.Second // between two looks while jobs run
	idleLong  = 4 * time.Hour    // after this long a person is asked again
)

// idle waits until no job runs on the runner: it looks, and where one runs asks
// whether to wait. Then it looks every half minute by itself. What cannot be seen is
// not idle.
func (r *Run) idle(ctx context.Context, t task) (Prompt, error) {
	from, begun := r.st.people.idle[t.key()]
	if last := r.st.people.looked[t.key()]; begun && !last.IsZero() {
		if err := r.o.Clock.Wait(ctx, last.Add(idleEvery).Sub(r.o.Clock.Now())); err != nil {
			return Prompt{}, err
		}
	}
	sys, err := r.system(t.on)
	if err != nil {
		return r.unreached(t, err.Error())
	}
	rctx, lost := r.record(ctx, t)
	seen, err := sys.Observe(rctx, t.on)
	if *lost != nil {
		return Prompt{}, *lost
	}
	if ctx.Err() != nil {
		return Prompt{}, ctx.Err()
	}
	if err != nil {
		seen = []witness.Observation{{Subject: t.on, Source: witness.ProviderAPI, At: r.o.Clock.Now(), CouldNot: err.Error(), Says: err.Error()}}
	}
	busy, says := busyOf(seen)
	err = r.append(casefile.Event{
		Kind: "observe", Step: t.step.ID, Target: t.on, OK: busy == witness.No, Msg: says, Data: encode(observeData{Task: t.key(), Seen: seen}),
	})
	if err != nil {
		return Prompt{}, err
	}
	switch {
	case busy == witness.No:
		p := r.prompt(t, Progress, "no job runs on it: "+says)
		p.Seen = seen
		return p, r.finish(t, Done, p.Text)
	case begun && r.o.Clock.Now().Before(from.Add(idleLong)):
		p := r.prompt(t, Progress, "waiting until no job runs: "+says)
		p.Seen = seen
		return p, nil
	}
	text := "jobs may still run: " + says
	if begun {
		text = fmt.Sprintf("after %s jobs may still run: %s", idleLong, says)
	}
	p := r.prompt(t, Watch, text+". Begin to wait, or go on without waiting and say why")
	p.Seen = seen
	return r.ask(p, Begin, Skip, Stop), nil
}

func (r *Run) beginIdle(t task) error {
	return r.append(casefile.Event{
		Kind: "idle-wait", Step: t.step.ID, Target: t.on, OK: true, Msg: "waits until no job runs",
		Data: encode(idleData{t.key(), r.o.Clock.Now()}),
	})
}

// busyOf is whether a job runs, by the first observation that says so. A registration
// that is gone has none.
func busyOf(seen []witness.Observation) (witness.Tri, string) {
	says := "nothing was seen"
	for _, o := range seen {
		says = o.Says
		if o.CouldNot != "" {
			says = o.CouldNot
			continue
		}
		if o.Exists == witness.No {
			return witness.No, o.Says
		}
		if o.Busy != witness.Unknown {
			return o.Busy, o.Says
		}
	}
	return witness.Unknown, says
}
