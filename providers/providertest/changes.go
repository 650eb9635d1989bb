package providertest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"cordon/internal/change"
	"cordon/providers"
)

func planIsSent(t *testing.T, h Harness) {
	_, _, all := h.New(t, Wait)
	for _, verb := range all.Verbs {
		t.Run(verb, func(t *testing.T) {
			p, a, f := h.New(t, Wait)
			c, out, err := apply(t, p, a, f, verb)
			if err != nil || out.State != change.Applied || out.Change != c.ID || out.Status/100 != 2 || out.At.IsZero() || out.Why == "" {
				t.Errorf("%+v, %v", out, err)
			}
			sent := f.Wire.Changes()
			if len(sent) != 1 || f.Effects(verb) != 1 {
				t.Fatalf("%d changes on the wire, %d effects", len(sent), f.Effects(verb))
			}
			got := change.Call{Method: sent[0].Method, URL: f.Base + sent[0].URI, Body: sent[0].Body}
			if got != c.Call {
				t.Errorf("approved %s, sent %s", c.Call, got)
			}
			if c.Issues {
				return // a new secret is issued each time: it is never "already"
			}
			out, err = a.Apply(permit(t, c), c)
			if err != nil || out.State != change.Already || len(f.Wire.Changes()) != 1 {
				t.Errorf("once more: %+v, %v, %d on the wire", out, err, len(f.Wire.Changes()))
			}
			if c.Undo == nil {
				return
			}
			out, err = a.Apply(permit(t, *c.Undo), *c.Undo)
			if err != nil || out.State != change.Applied || len(f.Wire.Changes()) != 2 {
				t.Errorf("undone: %+v, %v", out, err)
			}
		})
	}
}

func noPermit(t *testing.T, h Harness) {
	p, a, f := h.New(t, Wait)
	for _, verb := range f.Verbs {
		c := chosen(t, p, f, verb)
		out, err := a.Apply(context.Background(), c)
		if !errors.Is(err, change.ErrNoPermit) || out.State != change.Refused {
			t.Errorf("%s: %+v, %v", verb, out, err)
		}
		spent := permit(t, c)
		if err := change.Admit(spent, c.Call); err != nil {
			t.Fatal(err)
		}
		if out, err := a.Apply(spent, c); !errors.Is(err, change.ErrSpent) || out.State != change.Refused {
			t.Errorf("%s with a spent permit: %+v, %v", verb, out, err)
		}
	}
	if n := len(f.Wire.Changes()); n != 0 {
		t.Fatalf("%d changes left", n)
	}
	apply(t, p, a, f, f.Verbs[0])
	if len(f.Wire.Changes()) != 1 {
		t.Error("control: the twin with a permit did not leave")
	}
}

func edited(t *testing.T, h Harness) {
	p, a, f := h.New(t, Wait)
	for _, verb := range f.Verbs {
		c := chosen(t, p, f, verb)
		e := c
		e.Args = json.RawMessage(strings.Replace(string(c.Args), f.Runner.ID, f.Runner.ID+"1", 1))
		if _, err := change.NewIssuer().Permit(e, c.Digest()); !errors.Is(err, change.ErrMismatch) && string(e.Args) != string(c.Args) {
			t.Errorf("%s: a permit for edited arguments: %v", verb, err)
		}
		other := c
		other.Call.Body += " "
		out, err := a.Apply(permit(t, other), c) // a permit for another call than the operation makes
		if !errors.Is(err, change.ErrMismatch) || out.State != change.Refused {
			t.Errorf("%s: %+v, %v", verb, out, err)
		}
		e = c
		e.Target.ID += "1"
		if out, err := a.Apply(permit(t, e), e); err == nil || out.State != change.Refused {
			t.Errorf("%s: arguments and target disagree: %+v, %v", verb, out, err)
		}
		e = c
		e.System += "x"
		if out, err := a.Apply(permit(t, e), e); err == nil || out.State != change.Refused {
			t.Errorf("%s: of another system: %+v, %v", verb, out, err)
		}
	}
	if n := len(f.Wire.Changes()); n != 0 {
		t.Errorf("%d changes left", n)
	}
}

func stale(t *testing.T, h Harness) {
	p, a, f := h.New(t, Wait)
	planned := map[string]change.Change{}
	for _, verb := range f.Verbs {
		if c := chosen(t, p, f, verb); c.Target == f.Runner {
			planned[verb] = c
		}
	}
	if len(planned) == 0 {
		t.Fatal("no verb acts on the runner itself")
	}
	f.Drift()
	for verb, c := range planned {
		out, err := a.Apply(permit(t, c), c)
		if !errors.Is(err, change.ErrStale) || out.State != change.Refused {
			t.Errorf("%s: %+v, %v", verb, out, err)
		}
	}
	if n := len(f.Wire.Changes()); n != 0 {
		t.Errorf("%d changes left", n)
	}
}

func otherBuild(t *testing.T, h Harness) {
	p, a, f := h.New(t, Wait)
	c := chosen(t, p, f, f.Verbs[0])
	name, _, _ := strings.Cut(c.Op, "@")
	for _, op := range []string{name + "@999", "other.thing@1", ""} {
		c.Op = op
		out, err := a.Apply(permit(t, c), c)
		if !errors.Is(err, change.ErrStale) || !strings.Contains(err.Error(), "plan again") || out.State != change.Refused {
			t.Errorf("%q: %+v, %v", op, out, err)
		}
		if s, ok := p.(providers.Settler); ok {
			if state, _, err := s.Settle(context.Background(), c); state != change.Unknown || err == nil {
				t.Errorf("settle %q: %s, %v", op, state, err)
			}
		}
	}
	if n := len(f.Wire.Changes()); n != 0 {
		t.Errorf("%d changes left", n)
	}
}

func lostAnswers(t *testing.T, h Harness) {
	_, _, all := h.New(t, Wait)
	for _, verb := range all.Verbs {
		t.Run(verb, func(t *testing.T) {
			p, a, f := h.New(t, Wait)
			c := chosen(t, p, f, verb)
			f.Wire.Hostile(&Answer{Late: true, Status: 502, Media: "text/html", Body: "<html>bad gateway"}, Changes)
			out, err := a.Apply(permit(t, c), c)
			if err == nil || out.State != change.Unknown {
				t.Fatalf("%+v, %v", out, err)
			}
			f.Wire.Hostile(nil, nil)
			s, ok := p.(providers.Settler)
			if !ok {
				return
			}
			state, why, err := s.Settle(context.Background(), c)
			want := change.Applied
			if c.Issues {
				want = change.Unknown // nobody saw the new secret, and nobody can see that it is new
			}
			if state != want || why == "" || err != nil {
				t.Errorf("settles as %s (%s), %v", state, why, err)
			}
			if n := f.Effects(verb); n != 1 || len(f.Wire.Changes()) != 1 {
				t.Errorf("%d effects, %d changes on the wire", n, len(f.Wire.Changes()))
			}
			if out, err := a.Apply(permit(t, c), c); !c.Issues && (err != nil || out.State != change.Already) {
				t.Errorf("applied again: %+v, %v", out, err)
			}

			p, a, f = h.New(t, Wait) // its twin that had no effect
			c = chosen(t, p, f, verb)
			f.Wire.Hostile(&Answer{Status: 502}, Changes)
			_, _ = a.Apply(permit(t, c), c)
			f.Wire.Hostile(nil, nil)
			if state, _, _ := p.(providers.Settler).Settle(context.Background(), c); state == change.Applied {
				t.Error("control: what never happened settles as applied")
			}
		})
	}
}
