package providertest

import (
	"context"
	"errors"
	"testing"
	"time"

	"cordon/internal/change"
	"cordon/internal/evidence"
	"cordon/internal/witness"
	"cordon/providers"
)

// hostile is one answer and the word it has to end in.
type hostile struct {
	Answer
	read  error  // of Runner
	state string // of a change
}

func hostiles(f Fixture) []hostile {
	j := "application/json"
	denied := string(f.Denied)
	return []hostile{
		{Answer{Name: "401", Status: 401, Media: j, Body: denied}, providers.ErrUnauthorized, change.Refused},
		{Answer{Name: "403", Status: 403, Media: j, Body: denied}, providers.ErrForbidden, change.Refused},
		{Answer{Name: "404", Status: 404, Media: j, Body: denied}, providers.ErrNotFound, change.Refused},
		{Answer{Name: "409", Status: 409, Media: j, Body: denied}, providers.ErrConflict, change.Refused},
		{Answer{Name: "412", Status: 412, Media: j, Body: denied}, providers.ErrConflict, change.Refused},
		{Answer{Name: "422", Status: 422, Media: j, Body: denied}, providers.ErrConflict, change.Refused},
		{Answer{Name: "429", Status: 429, Media: "text/plain", Body: "Retry later"}, providers.ErrLimited, change.Refused},
		{Answer{Name: "500", Status: 500, Media: j, Body: denied}, providers.ErrUnavailable, change.Unknown},
		{Answer{Name: "502 HTML", Status: 502, Media: "text/html", Body: "<html>" + denied}, providers.ErrUnavailable, change.Unknown},
		{Answer{Name: "HTML", Status: 200, Media: "text/html", Body: "<!DOCTYPE html><title>Sign in</title>" + denied}, providers.ErrMalformed, change.Unknown},
		{Answer{Name: "403 HTML", Status: 403, Media: "text/html", Body: "<html>firewall" + denied}, providers.ErrMalformed, change.Unknown},
		{Answer{Name: "empty", Status: 200, Media: j}, providers.ErrMalformed, change.Unknown},
		{Answer{Name: "truncated JSON", Status: 200, Media: j, Body: `{"id":4`}, providers.ErrMalformed, change.Unknown},
		{Answer{Name: "other JSON", Status: 200, Media: j, Body: `"words"`}, providers.ErrMalformed, change.Unknown},
		{Answer{Name: "null", Status: 200, Media: j, Body: `null`}, providers.ErrMalformed, change.Unknown},
		{Answer{Name: "huge", Status: 200, Media: j, Huge: true}, providers.ErrMalformed, change.Unknown},
		{Answer{Name: "teapot", Status: 418, Media: j, Body: denied}, providers.ErrMalformed, change.Unknown},
		{Answer{Name: "silence", Silent: true}, providers.ErrUnavailable, change.Unknown},
	}
}

func hostileReads(t *testing.T, h Harness) {
	_, _, all := h.New(t, Wait)
	for _, x := range hostiles(all) {
		t.Run(x.Name, func(t *testing.T) {
			p, _, f := h.New(t, waitFor(x))
			f.Wire.Hostile(&x.Answer, Everything)
			ctx := context.Background()
			if _, err := p.Runner(ctx, f.Runner); !errors.Is(err, x.read) {
				t.Errorf("Runner: %v, want %v", err, x.read)
			}
			seen, err := p.Observe(ctx, f.Runner)
			if err != nil || len(seen) == 0 {
				t.Fatalf("Observe: %+v, %v", seen, err)
			}
			for _, o := range seen {
				if o.CouldNot == "" || o.Exists != witness.Unknown || o.Paused != witness.Unknown || o.Busy != witness.Unknown || o.Polling != witness.Unknown {
					t.Errorf("what could not be seen is told as seen: %+v", o)
				}
			}
			to := &Sink{}
			gaps, err := p.Gather(ctx, f.Runner, providers.Express, to)
			if err != nil || len(gaps) == 0 || len(to.Gaps) != len(gaps) || len(to.Files) != 0 {
				t.Errorf("Gather: gaps %+v, kept %v, %v", gaps, to.Files, err)
			}
			var gap *evidence.Gap
			listed := 0
			err = p.Runners(ctx, func(pg providers.Page) error {
				if pg.Gap != nil {
					gap = pg.Gap
				}
				listed += len(pg.Runners)
				return nil
			})
			if err != nil || gap == nil || listed != 0 {
				t.Errorf("Runners: gap %+v, %d listed, %v", gap, listed, err)
			}
			if _, err := p.Plan(ctx, f.Verbs[0], f.Runner, nil); err == nil {
				t.Error("a plan was made from it")
			}
			if n := len(f.Wire.Changes()); n != 0 {
				t.Errorf("%d changes left", n)
			}
		})
	}
}

func hostileChanges(t *testing.T, h Harness) {
	_, _, all := h.New(t, Wait)
	for _, x := range hostiles(all) {
		for _, verb := range all.Verbs {
			t.Run(x.Name+"/"+verb, func(t *testing.T) {
				p, a, f := h.New(t, waitFor(x))
				c := chosen(t, p, f, verb)
				f.Wire.Hostile(&x.Answer, Changes)
				out, err := a.Apply(permit(t, c), c)
				want := x.state
				if verb == providers.Deregister && x.Status == 404 {
					want = change.Unknown // "not there", and it is still there
				}
				if out.State != want || err == nil || out.Why == "" {
					t.Errorf("%+v, %v; want %s", out, err, want)
				}
				if n := len(f.Wire.Changes()); n != 1 {
					t.Errorf("%d changes on the wire", n)
				}
				if f.Effects(verb) != 0 {
					t.Error("the hostile answer had an effect; this proves nothing")
				}
			})
		}
	}
}

// waitFor keeps silence short and everything else far from the limit.
func waitFor(x hostile) time.Duration {
	if x.Silent {
		return 400 * time.Millisecond
	}
	return Wait
}

func contextsEnd(t *testing.T, h Harness) {
	p, a, f := h.New(t, Wait)
	c := chosen(t, p, f, f.Verbs[0])
	questions := asks(p, &Sink{}, f.Runner)
	questions["Runners"] = func(ctx context.Context) error {
		return p.Runners(ctx, func(providers.Page) error { return nil })
	}
	questions["Managers"] = func(ctx context.Context) error { _, err := p.Managers(ctx, f.Runner); return err }
	done, cancel := context.WithCancel(context.Background())
	cancel()
	for name, ask := range questions {
		if err := ask(done); !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a finished context: %v", name, err)
		}
	}
	if f.Unmanaged {
		delete(questions, "Managers")
	}
	f.Wire.Hostile(&Answer{Silent: true}, Everything)
	for name, ask := range questions {
		ctx, cancel := context.WithCancel(context.Background())
		arrived, ended := f.Wire.Arrival(), make(chan error, 1)
		go func() { ended <- ask(ctx) }()
		select {
		case <-arrived: // now it hangs on the silent service
		case err := <-ended:
			t.Fatalf("%s did not ask: %v", name, err)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%s, canceled while it waits: %v", name, err)
		}
	}
	f.Wire.Hostile(&Answer{Silent: true}, Changes)
	ctx, cancel := context.WithCancel(permit(t, c))
	go func() {
		defer cancel()
		for arrived := f.Wire.Arrival(); len(f.Wire.Changes()) == 0 && ctx.Err() == nil; arrived = f.Wire.Arrival() {
			select {
			case <-arrived:
			case <-ctx.Done():
			}
		}
	}()
	out, err := a.Apply(ctx, c)
	if out.State != change.Unknown || !errors.Is(err, context.Canceled) {
		t.Errorf("a change whose caller gave up after it left: %+v, %v", out, err)
	}
}
