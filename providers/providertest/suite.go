package providertest

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/providers"
)

// Suite runs every rule, each over a fresh fake.
func Suite(t *testing.T, h Harness) {
	for name, rule := range map[string]func(*testing.T, Harness){
		"references select by system, scope and id":                     references,
		"what is gone, hidden and unreadable are three things":          absences,
		"planning, observing and gathering never write":                 neverWrites,
		"a plan is what will be sent, once":                             planIsSent,
		"plans are complete and the same when made again":               plansAreComplete,
		"nothing leaves without a permit":                               noPermit,
		"arguments edited after approval do not leave":                  edited,
		"what drifted since it was planned does not leave":              stale,
		"an operation of another build is planned again":                otherBuild,
		"a lost answer is unknown, and settles by looking":              lostAnswers,
		"every hostile answer to a read ends in the right word":         hostileReads,
		"every hostile answer to a change ends in the right word, once": hostileChanges,
		"whatever is asked ends with its context":                       contextsEnd,
		"no secret of an answer is handed on":                           secrets,
	} {
		t.Run(name, func(t *testing.T) { rule(t, h) })
	}
}

func references(t *testing.T, h Harness) {
	p, _, f := h.New(t, Wait)
	ctx := context.Background()
	if p.Name() != f.Runner.System {
		t.Errorf("named %q, its runner is of %q", p.Name(), f.Runner.System)
	}
	bare := f.Runner
	bare.Scope = target.Scope{}
	for _, ref := range []target.Ref{bare, f.Runner} {
		r, err := p.Runner(ctx, ref)
		if err != nil || r.Ref != f.Runner {
			t.Errorf("%s reads as %s, %v", ref, r.Ref, err)
		}
	}
	listed := false
	err := p.Runners(ctx, func(page providers.Page) error {
		if page.Gap != nil {
			t.Errorf("the healthy fake has a gap: %+v", page.Gap)
		}
		for _, r := range page.Runners {
			listed = listed || r.Ref == f.Runner
		}
		return nil
	})
	if err != nil || !listed {
		t.Errorf("the list: %v; the runner is in it: %v", err, listed)
	}
	for _, ref := range f.Wrong {
		for name, ask := range asks(p, &Sink{}, ref) {
			if err := ask(ctx); !errors.Is(err, providers.ErrNotYours) {
				t.Errorf("%s of %s: %v", name, ref, err)
			}
		}
	}
	if _, err := p.Plan(ctx, "dance", f.Runner, nil); !errors.Is(err, providers.ErrNoVerb) {
		t.Errorf("an unknown verb: %v", err)
	}
	stop := errors.New("enough")
	if err := p.Runners(ctx, func(providers.Page) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("yield's error: %v", err)
	}
}

// asks is every question about one target.
func asks(p providers.Provider, to *Sink, ref target.Ref) map[string]func(context.Context) error {
	since := time.Unix(1, 0)
	out := map[string]func(context.Context) error{
		"Runner":   func(ctx context.Context) error { _, err := p.Runner(ctx, ref); return err },
		"Observe":  func(ctx context.Context) error { _, err := p.Observe(ctx, ref); return err },
		"Gather":   func(ctx context.Context) error { _, err := p.Gather(ctx, ref, providers.Express, to); return err },
		"Can":      func(ctx context.Context) error { _, err := p.Can(ctx, ref); return err },
		"Plan":     func(ctx context.Context) error { _, err := p.Plan(ctx, providers.Pause, ref, nil); return err },
		"Exposure": func(context.Context) error { return providers.ErrNotYours },
	}
	delete(out, "Exposure")
	if e, ok := p.(providers.Exposer); ok {
		out["Exposure"] = func(ctx context.Context) error { _, _, err := e.Exposure(ctx, ref, since); return err }
	}
	return out
}

func absences(t *testing.T, h Harness) {
	p, _, f := h.New(t, Wait)
	ctx := context.Background()
	if _, err := p.Runner(ctx, f.Missing); !errors.Is(err, providers.ErrNotFound) {
		t.Errorf("missing: %v", err)
	}
	seen, err := p.Observe(ctx, f.Missing)
	if err != nil || len(seen) == 0 || seen[0].Exists != witness.No || seen[0].CouldNot != "" || seen[0].Subject != f.Missing {
		t.Errorf("missing: %+v, %v", seen, err)
	}
	seen, err = p.Observe(ctx, f.Runner)
	if err != nil || len(seen) == 0 || seen[0].Exists != witness.Yes || seen[0].Paused != witness.No || seen[0].Busy != witness.Yes || seen[0].Says == "" {
		t.Errorf("there: %+v, %v", seen, err)
	}
	f.Wire.Hostile(&Answer{Status: 404, Media: "application/json", Body: `{"message":"404 Not Found"}`}, Everything)
	seen, err = p.Observe(ctx, f.Runner)
	if err != nil || len(seen) == 0 || seen[0].Exists != witness.Unknown || seen[0].CouldNot == "" {
		t.Errorf("everything is hidden, which says nothing about this runner: %+v, %v", seen, err)
	}
}

func neverWrites(t *testing.T, h Harness) {
	p, a, f := h.New(t, Wait)
	ctx := context.Background()
	readEverything(ctx, p, f, &Sink{})
	if n := len(f.Wire.Sent()); n == 0 {
		t.Fatal("control: nothing was asked")
	}
	if c := f.Wire.Changes(); len(c) != 0 {
		t.Errorf("reading sent changes: %v", c)
	}
	apply(t, p, a, f, f.Verbs[0])
	if len(f.Wire.Changes()) != 1 {
		t.Error("control: an applied change is not counted")
	}
}

// readEverything asks every question that a provider answers and returns the answers.
func readEverything(ctx context.Context, p providers.Provider, f Fixture, to *Sink) []any {
	var out []any
	_ = p.Runners(ctx, func(page providers.Page) error { out = append(out, page); return nil })
	keep := func(v any, err error) { out = append(out, v, err) }
	for _, ref := range []target.Ref{f.Runner, f.Missing} {
		r, err := p.Runner(ctx, ref)
		keep(r, err)
		m, err := p.Managers(ctx, ref)
		keep(m, err)
		o, err := p.Observe(ctx, ref)
		keep(o, err)
		c, err := p.Can(ctx, ref)
		keep(c, err)
		g, err := p.Gather(ctx, ref, providers.Express, to)
		keep(g, err)
		for _, verb := range []string{providers.Pause, providers.Resume, providers.Cancel, providers.Rotate, providers.Deregister} {
			plans, err := p.Plan(ctx, verb, ref, nil)
			keep(plans, err)
		}
		since := time.Unix(1, 0)
		if e, ok := p.(providers.Exposer); ok {
			c, g, err := e.Exposure(ctx, ref, since)
			keep([]any{c, g}, err)
		}
		if l, ok := p.(providers.JobLister); ok {
			j, why, err := l.Jobs(ctx, ref, since, 100)
			keep([]any{j, why}, err)
		}
		if r, ok := p.(providers.Returner); ok {
			o, err := r.Returned(ctx, ref, providers.Traits{SystemIDs: []string{"s_nobody"}, Addresses: []string{"192.0.2.99"}}, since)
			keep(o, err)
		}
	}
	return out
}

var opRE = regexp.MustCompile(`^[a-z.]+@[0-9]+$`)

func plansAreComplete(t *testing.T, h Harness) {
	p, _, f := h.New(t, Wait)
	ctx := context.Background()
	for _, verb := range f.Verbs {
		plans, err := p.Plan(ctx, verb, f.Runner, nil)
		again, err2 := p.Plan(ctx, verb, f.Runner, nil)
		if err != nil || err2 != nil || len(plans) == 0 || len(plans) != len(again) {
			t.Fatalf("%s: %d and %d plans, %v, %v", verb, len(plans), len(again), err, err2)
		}
		options := map[string]bool{}
		for i, pl := range plans {
			if pl.Hash() != again[i].Hash() {
				t.Errorf("%s/%s: made again it is another plan", verb, pl.Option)
			}
			if pl.Verb != verb || pl.Option == "" || options[pl.Option] || pl.Title == "" || pl.Made.IsZero() {
				t.Errorf("%s: verb, option, title or time is missing or not its own: %+v", verb, pl)
			}
			options[pl.Option] = true
			if len(pl.Changes) == 0 && len(pl.Manual) == 0 {
				t.Errorf("%s/%s: neither a change nor a thing to do by hand", verb, pl.Option)
			}
			for _, c := range pl.Changes {
				if c.ID == "" || c.System != p.Name() || !opRE.MatchString(c.Op) || c.Title == "" || c.Target.IsZero() || c.Call.IsZero() || len(c.Before) == 0 {
					t.Errorf("%s/%s: incomplete: %+v", verb, pl.Option, c)
				}
				if c.Capacity == "" || len(c.Hits) == 0 && !f.Alone {
					t.Errorf("%s/%s: who is hit, or what the queue loses, is not said: %+v", verb, pl.Option, c)
				}
				if !strings.HasPrefix(c.Call.URL, f.Base+"/") {
					t.Errorf("%s/%s: the call goes to %s", verb, pl.Option, c.Call.URL)
				}
				if u := c.Undo; u != nil && (u.Call.IsZero() || u.Call == c.Call) {
					t.Errorf("%s/%s: the undo has no call of its own", verb, pl.Option)
				}
			}
		}
	}
	first, err := p.Plan(ctx, f.Verbs[0], f.Runner, nil)
	f.Drift()
	after, err2 := p.Plan(ctx, f.Verbs[0], f.Runner, nil)
	if err != nil || err2 != nil || first[0].Hash() == after[0].Hash() {
		t.Errorf("control: after a drift the plan is the same: %v, %v", err, err2)
	}
}

// chosen is the first change of the first plan of verb.
func chosen(t *testing.T, p providers.Provider, f Fixture, verb string) change.Change {
	t.Helper()
	plans, err := p.Plan(context.Background(), verb, f.Runner, nil)
	if err != nil {
		t.Fatalf("plan %s: %v", verb, err)
	}
	for _, pl := range plans {
		if len(pl.Changes) > 0 {
			return pl.Changes[0]
		}
	}
	t.Fatalf("no plan of %s has a change", verb)
	return change.Change{}
}

func permit(t *testing.T, c change.Change) context.Context {
	t.Helper()
	p, err := change.NewIssuer().Permit(c, c.Digest())
	if err != nil {
		t.Fatalf("permit for %s: %v", c.ID, err)
	}
	return change.WithPermit(context.Background(), p)
}

func apply(t *testing.T, p providers.Provider, a providers.Applier, f Fixture, verb string) (change.Change, change.Outcome, error) {
	t.Helper()
	c := chosen(t, p, f, verb)
	out, err := a.Apply(permit(t, c), c)
	return c, out, err
}
