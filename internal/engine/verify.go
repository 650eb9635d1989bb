package engine

import (
	"context"
	"fmt"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/witness"
)

// lookAfter is how long to wait before each look at what a change left behind; when
// the last one does not confirm it, the task ends as unknown. A service may answer a
// deletion at once and carry it out later.
var lookAfter = [...]time.Duration{0, 5 * time.Second, 15 * time.Second, 40 * time.Second}

// verify reads back what the playbook says has to be true now, once a call. A change
// that went through and cannot be confirmed ends as unknown, not as done.
func (r *Run) verify(ctx context.Context, t task) error {
	want := t.do().Verify
	if want == "" {
		return r.finish(t, Done, "")
	}
	sys, err := r.system(t.on)
	if err != nil {
		return err
	}
	look, partly := 0, false
	if tr := r.st.tried[t.key()]; tr != nil {
		look, partly = min(tr.looks, len(lookAfter)-1), tr.partly
	}
	if err := r.o.Clock.Wait(ctx, lookAfter[look]); err != nil {
		return err // resumed runs come back here
	}
	rctx, lost := r.record(ctx, t)
	seen, err := sys.Observe(rctx, t.on)
	if *lost != nil {
		return *lost
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		seen = append(seen, witness.Observation{Subject: t.on, Source: witness.ProviderAPI, At: r.o.Clock.Now(), CouldNot: err.Error(), Says: err.Error()})
	}
	ok, says := confirms(want, seen, partly)
	if !ok && partly {
		is, why := r.beside(rctx, t)
		if *lost != nil {
			return *lost
		}
		if is == witness.Yes {
			ok, says = true, "partial pause: "+why
		}
	}
	err = r.append(casefile.Event{
		Kind: "observe", Step: t.step.ID, Target: t.on, OK: ok, Msg: says, Data: encode(observeData{t.key(), seen}),
	})
	if err != nil {
		return err
	}
	p := r.prompt(t, Progress, "read back: "+says)
	p.Seen = seen
	switch {
	case ok:
		r.tell(p)
		return r.finish(t, Done, says)
	case look+1 < len(lookAfter):
		p.Text = fmt.Sprintf("not confirmed yet: wanted %s, %s; look %d of %d, the next in %s", want, says, look+1, len(lookAfter), lookAfter[look+1])
		r.tell(p)
		return nil
	}
	p.Text = fmt.Sprintf("done, but not confirmed: wanted %s, %s", want, says)
	r.tell(p)
	return r.finish(t, InDoubt, p.Text)
}

// confirms compares observations with the closed list of facts that a playbook may
// ask for.
// A plan that holds back in part is confirmed by what it covers, and says what it leaves.
func confirms(want string, seen []witness.Observation, partly bool) (bool, string) {
	says := "nothing was seen"
	for _, o := range seen {
		if o.CouldNot != "" {
			says = o.CouldNot
			continue
		}
		says = o.Says
		switch {
		case want == "paused" && o.Paused == witness.Yes,
			want == "gone" && o.Exists == witness.No,
			want == "stopped" && o.Source == witness.HostProcess && o.Exists == witness.No:
			return true, o.Says
		case want == "paused" && partly && o.Partly != "":
			return true, "partial pause: " + o.Partly
		case want == "stopped" && o.Source == witness.HostProcess:
			return false, o.Says
		}
	}
	return false, says
}
