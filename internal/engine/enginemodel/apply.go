package enginemodel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/providers"
)

// args is what every change here carries.
type args struct {
	ID string `json:"id"`
}

// state is the Before of a change.
type state struct {
	Paused  bool `json:"paused,omitempty"`
	Running bool `json:"running,omitempty"`
	Tokens  int  `json:"tokens,omitempty"`
}

func raw(v any) json.RawMessage {
	b, _ := json.Marshal(v) // closed structs of strings, numbers and bools
	return b
}

// call is what an operation would send.
func call(op string, t target.Ref) change.Call {
	return change.Call{Method: "POST", URL: "https://fake.test/" + op + "/" + t.ID}
}

// before is what a change of op on t was planned on. The lock is held.
func (w *World) before(op string, t target.Ref) json.RawMessage {
	if h, ok := w.hosts[t.ID]; ok && t.Kind == target.Host {
		return raw(state{Running: h.Running})
	}
	r := w.runner(key(t))
	switch op {
	case providers.Rotate:
		return raw(state{Tokens: r.Tokens})
	case providers.Pause, providers.Resume:
		return raw(state{Paused: r.Paused})
	}
	return raw(state{})
}

// already reports whether what op wants is so. The lock is held.
func (w *World) already(op string, t target.Ref) bool {
	if t.Kind == target.Host {
		return w.hosts[t.ID].Running == (op == start)
	}
	r := w.runner(key(t))
	switch op {
	case providers.Pause:
		return r.Gone || r.Paused && w.Lease == 0 // one that ends by itself can be made again
	case providers.Resume:
		return !r.Paused
	case providers.Cancel:
		return r.Gone || r.Jobs == 0
	case providers.Deregister:
		return r.Gone
	}
	return r.Gone
}

// happen makes an effect and keeps it in the ledger. The lock is held.
func (w *World) happen(op string, c change.Change, again bool) {
	w.ledger = append(w.ledger, Entry{op, c.Target, c.ID, c.Digest(), again})
	if c.Target.Kind == target.Host {
		w.hosts[c.Target.ID].Running = op == start
		return
	}
	r := w.runners[key(c.Target)]
	switch op {
	case providers.Pause, providers.Resume:
		r.Paused, r.until = op == providers.Pause, w.Clock.Now().Add(w.Lease)
	case providers.Cancel:
		r.Jobs = 0
	case providers.Rotate:
		r.Tokens++
	case providers.Deregister:
		r.Gone, r.Polls = true, false
		w.gone[key(c.Target)] = w.Late
	}
}

var errNoAnswer = fmt.Errorf("%w: connection reset", providers.ErrUnavailable)

// apply carries out one change with whatever goes wrong with it.
func (w *World) apply(ctx context.Context, op string, c change.Change) (change.Outcome, error) {
	out := change.Outcome{Change: c.ID, At: w.Clock.Now()}
	end := func(state, why string, status int, err error) (change.Outcome, error) {
		out.State, out.Why, out.Status = state, why, status
		return out, err
	}
	fault := None
	if w.Next != nil {
		fault = w.Next(op)
	}
	w.mu.Lock()
	drifted := string(w.before(op, c.Target)) != string(c.Before)
	already := w.already(op, c.Target)
	w.mu.Unlock()
	switch {
	case already:
		return end(change.Already, "it was so before; nothing was sent", 0, nil)
	case drifted || fault == Stale:
		return end(change.Refused, "nothing was sent: "+change.ErrStale.Error(), 0, change.ErrStale)
	}
	if err := change.Admit(ctx, c.Call); err != nil {
		return end(change.Refused, "nothing was sent: "+err.Error(), 0, err)
	}
	if w.Effect != nil {
		w.Effect(c)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch fault {
	case Refuse:
		return end(change.Refused, "422: a job is running", 422, providers.ErrConflict)
	case Slower:
		out, err := end(change.Refused, "429: fewer requests", 429, providers.ErrLimited)
		out.NotBefore = w.Clock.Now().Add(time.Minute)
		return out, err
	case LostCall:
		return end(change.Unknown, errNoAnswer.Error(), 0, errNoAnswer)
	case Nothing:
		return end(change.Unknown, "it said yes, but reads back as before", 200, providers.ErrMalformed)
	case DieBefore:
		w.Die()
		return end(change.Unknown, errNoAnswer.Error(), 0, errNoAnswer)
	}
	w.happen(op, c, false)
	switch fault {
	case Twice:
		w.happen(op, c, true)
		if op == providers.Deregister {
			return end(change.Already, "404 on the second delivery", 404, nil)
		}
	case LostReply:
		return end(change.Unknown, errNoAnswer.Error(), 0, errNoAnswer)
	case DieAfter:
		w.Die()
		return end(change.Unknown, errNoAnswer.Error(), 0, errNoAnswer)
	}
	return end(change.Applied, "read back", 200, nil)
}

// settle tells by looking what became of a change. A rotation cannot be seen.
func (w *World) settle(op string, c change.Change) (string, string, error) {
	if err := w.read(); err != nil {
		return change.Unknown, err.Error(), err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case op == providers.Rotate && !w.runners[key(c.Target)].Gone:
		return change.Unknown, "the provider does not say when a token was replaced", nil
	case w.already(op, c.Target), op == providers.Pause && w.runner(key(c.Target)).Paused:
		return change.Applied, "reads back as done", nil
	}
	return change.Refused, "reads back as before", nil
}

// planned captures a change.
func (w *World) planned(ctx context.Context, op string, t target.Ref) (change.Change, error) {
	captured, err := change.PlanCall(ctx, func(ctx context.Context) error { return change.Admit(ctx, call(op, t)) })
	if err != nil {
		return change.Change{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return change.Change{
		System: t.System, Op: "fake." + op + "@1", Title: op + " " + t.ID, Target: t, Args: raw(args{t.ID}),
		Before: w.before(op, t), Call: captured,
	}, nil
}

func opOf(c change.Change) (string, error) {
	for _, op := range []string{
		providers.Pause, providers.Resume, providers.Cancel, providers.Rotate, providers.Deregister, providers.Stop, start,
	} {
		if c.Op == "fake."+op+"@1" {
			return op, nil
		}
	}
	return "", errors.New("no operation " + c.Op)
}
