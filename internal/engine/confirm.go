package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/target"
	"cordon/internal/watch"
	"cordon/internal/witness"
	"cordon/playbooks"
	"cordon/providers"
)

// rounds is how many times the provider is asked within one watch, beside its start.
const rounds = 6

// confirm watches for silence, one round a call: the provider is asked at every
// round, the hosts at the start and at the end, because every login is seen there
// and the agent's log covers what lies between. All runners of a case are watched at
// once, and each is judged by itself.
func (r *Run) confirm(ctx context.Context, t task) (Prompt, error) {
	if err := r.settleLate(ctx, t); err != nil {
		return Prompt{}, err
	}
	w := r.st.watch
	if w == nil {
		s := r.silence()
		p := r.prompt(t, Watch, fmt.Sprintf("watch for %s: %s", s.Needs, s.Why))
		if len(r.o.Hosts) == 0 {
			return r.ask(p, Begin, Skip, Stop), nil
		}
		if len(r.o.Runners) == 0 {
			p.Text += "; it reads the hosts at its start and its end, which is visible there"
			return r.ask(p, Begin, Skip, Stop), nil
		}
		var names []string
		for _, h := range r.o.Hosts {
			names = append(names, h.ID)
		}
		p.Text += fmt.Sprintf("; it reads %s at its start and its end, which is visible there (%s: ask the provider alone, the verdict then cannot be silent)",
			strings.Join(names, ", "), Blind)
		return r.ask(p, Begin, Blind, Skip, Stop), nil
	}
	watched := r.watched(t)
	if woke, err := r.wait(ctx, w, watched); err != nil || woke {
		return r.prompt(t, Progress, "a pause has to be made again before the next look"), err
	}
	// One time for the whole round: a slow look must not end a window whose last look at
	// the hosts has not been made.
	now := r.o.Clock.Now()
	over := r.quiet(watched) >= w.Needs
	first := slices.ContainsFunc(watched, func(o task) bool { return len(r.st.seen[o.key()]) == 0 })
	hosts, err := r.lookAtHosts(ctx, t, !w.Blind && (over || first))
	if err != nil {
		return Prompt{}, err
	}
	p := r.prompt(t, Progress, "")
	final := true
	look := providers.LookBetween
	switch {
	case over:
		look = providers.LookWhole
	case first:
		look = providers.LookFirst
	}
	for _, o := range watched {
		v, seen, err := r.judge(providers.WithLook(ctx, look), o, w, hosts, round{now, over})
		if err != nil {
			return Prompt{}, err
		}
		if a, err := r.drift1(o, seen); err != nil || a.Kind != "" {
			return a, err
		}
		final = final && v.State != witness.Waiting
		p.Seen, p.Verdicts = append(p.Seen, seen...), append(p.Verdicts, v)
	}
	for i, o := range watched {
		if err := r.conclusion(o, p.Verdicts[i], final); err != nil {
			return Prompt{}, err
		}
	}
	p.Text = said(p.Verdicts)
	p.Verdicts = nil
	for _, o := range watched {
		p.Verdicts = append(p.Verdicts, r.st.verdicts[o.on]...)
	}
	if !final {
		return p, nil
	}
	for _, o := range watched {
		v := r.st.verdicts[o.on][0]
		if err := r.finish(o, Done, fmt.Sprintf("%s: %s (%s)", v.Question, v.State, v.Why)); err != nil {
			return Prompt{}, err
		}
	}
	return p, nil
}

func said(vs []witness.Verdict) string {
	worst := vs[0]
	for _, v := range vs {
		if rank(v.State) > rank(worst.State) {
			worst = v
		}
	}
	return fmt.Sprintf("%s: %s (%s)", worst.Question, worst.State, worst.Why)
}

// rank orders the states of a verdict from best to worst.
func rank(state string) int {
	return slices.Index([]string{witness.Silent, witness.Waiting, witness.CannotTell, witness.Knocking, witness.Polling, witness.Resurrected}, state)
}

// watched are the open tasks of the watch that t begins: one for each runner.
func (r *Run) watched(t task) []task {
	var all []task
	for _, o := range r.book {
		if o.do().Do == playbooks.Confirm && r.st.end[o.key()] == "" {
			all = append(all, o)
		}
	}
	return all
}

// silence is the longest that any provider of the case needs.
func (r *Run) silence() providers.Silence {
	var s providers.Silence
	if len(r.o.Runners) == 0 {
		return hostSilence
	}
	for _, t := range r.o.Runners {
		if x := r.provider(t).Silence(); x.Needs > s.Needs {
			s = x
		}
	}
	return s
}

// wait lets time pass until the next look. It reports true where a pause has to be
// made again first.
func (r *Run) wait(ctx context.Context, w *watchData, watched []task) (bool, error) {
	if len(r.st.seen) == 0 {
		return false, nil
	}
	left := w.Needs - r.quiet(watched)
	switch {
	case len(r.o.Runners) == 0: // a host is looked at twice, and nobody else is asked
	case r.st.passed.fresh: // by a service's clock more may have passed than anybody here saw
		left = 0
	default:
		left = min(left, w.Needs/rounds-(r.ran()-r.st.passed.looked))
	}
	now := r.o.Clock.Now()
	wake := r.wake()
	woke := !wake.IsZero() && wake.Before(now.Add(left))
	if woke {
		left = wake.Sub(now)
	}
	return woke, r.o.Clock.Wait(ctx, left)
}

// round is one look at everything in a watch.
type round struct {
	now  time.Time
	over bool // it is the last, so that the hosts were looked at too
}

// judge looks at one runner and weighs everything seen of it since the watch began.
func (r *Run) judge(ctx context.Context, t task, w *watchData, hosts []witness.Observation, at round) (witness.Verdict, []witness.Observation, error) {
	var seen []witness.Observation
	mine := []target.Ref{t.on}
	if t.on.Kind == target.Runner {
		var err error
		if seen, err = r.look(ctx, t); err != nil {
			return witness.Verdict{}, nil, err
		}
		mine = r.hostsOf(t.on)
	}
	for _, o := range hosts {
		if slices.ContainsFunc(mine, func(h target.Ref) bool { return o.Subject == h || o.Subject.Scope.Path == h.ID && h.ID != "" }) {
			seen = append(seen, o)
		}
	}
	err := r.append(casefile.Event{Kind: "observe", Step: t.step.ID, Target: t.on, OK: true, Data: encode(observeData{t.key(), seen})})
	if err != nil {
		return witness.Verdict{}, nil, err
	}
	window := watch.Window{Runner: t.on, Hosts: mine, NotIts: r.wrongHosts(t.on), From: w.From, Needs: w.Needs, Now: at.now, Passed: r.st.passed.quiet(t.on, r.ran()), Stray: r.isStray}
	if !at.over {
		window.Passed = min(window.Passed, w.Needs-1)
	}
	if t.on.Kind == target.Host {
		return watch.JudgeHost(window, r.st.seen[t.key()]), seen, nil
	}
	v := r.disagree(t, w, watch.Judge(window, r.st.seen[t.key()]))
	if len(r.o.Runners) > 1 {
		v.Why = t.on.Short() + ": " + v.Why
	}
	return v, seen, nil
}

// drift1 is drift for a runner that was to stay paused through the watch.
func (r *Run) drift1(t task, seen []witness.Observation) (Prompt, error) {
	for _, p := range r.paused() {
		if p.on == t.on {
			return r.drift(p, seen)
		}
	}
	return Prompt{}, nil
}

// conclusion writes the verdict on one runner.
func (r *Run) conclusion(t task, v witness.Verdict, final bool) error {
	vs := []witness.Verdict{v}
	if final {
		if err := r.buryToken(t, v); err != nil {
			return err
		}
		if t.on.Kind == target.Runner {
			vs = append(vs, r.reach(v)...)
		}
	}
	return r.append(casefile.Event{
		Kind: "verdict", Step: t.step.ID, Target: t.on, OK: v.State == witness.Silent, Msg: v.Question + ": " + v.State,
		Data: encode(verdictData{final, vs}),
	})
}

// buryToken marks the runner's own credential dead on the exposure list when the
// provider says that the registration, and so every token of it, is gone.
func (r *Run) buryToken(t task, v witness.Verdict) error {
	i := slices.IndexFunc(v.For, func(o witness.Observation) bool {
		return o.Subject == t.on && o.Source == witness.ProviderAPI && o.Exists == witness.No
	})
	if i < 0 || r.st.exposed == nil {
		return nil
	}
	x := *r.st.exposed
	x.Entries = slices.Clone(x.Entries)
	for k, c := range x.Entries {
		mine := len(r.o.Runners) == 1 || c.Where == t.on.String()
		if c.Kind == "runner-token" && mine && c.Dead.IsZero() {
			x.Entries[k].Dead, x.Entries[k].DeadSaysBy = v.For[i].At, v.For[i].Says
		}
	}
	return r.append(casefile.Event{Kind: "exposure", Step: t.step.ID, Target: t.on, OK: true, Data: encode(x)})
}

func (r *Run) beginWatch(t task, blind bool) error {
	s := r.silence()
	return r.append(casefile.Event{
		Kind: "watch", Step: t.step.ID, Target: t.on, OK: true, Msg: s.Why,
		Data: encode(watchData{From: r.o.Clock.Now(), Needs: s.Needs, Why: s.Why, Blind: blind}),
	})
}
