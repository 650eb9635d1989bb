package engine_test

import (
	"context"
	"testing"
	"time"

	"cordon/internal/engine"
	"cordon/internal/engine/enginemodel"
	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/providers"
)

// undated is a provider that does not tell since when a registration exists.
type undated struct {
	*enginemodel.Provider
	now    func() time.Time
	listed []providers.Traits
	asked  []providers.Traits
}

func (u *undated) Namesakes(_ context.Context, t target.Ref, traits providers.Traits) (providers.Known, error) {
	u.listed = append(u.listed, traits)
	other := t
	other.ID = "8"
	return providers.Known{At: u.now(), Names: traits.Names, Refs: []target.Ref{other}}, nil
}

func (u *undated) Returned(ctx context.Context, gone target.Ref, traits providers.Traits, since time.Time) (witness.Observation, error) {
	u.asked = append(u.asked, traits)
	return u.Provider.Returned(ctx, gone, traits, since)
}

// Who was there before is listed once, while the runner is there, and a process that goes
// on later has it from the record.
func TestWhoWasThereBeforeIsKeptForTheSearchOfAReturn(t *testing.T) {
	g := newRig(t, whole)
	u := &undated{Provider: g.w.Systems()[runner.System].(*enginemodel.Provider), now: g.w.Clock.Now}
	g.cfg = func(o *engine.Options) { o.Systems[runner.System] = u }
	g.open()
	g.until(func(p engine.Prompt) bool { return p.Kind == engine.Watch })
	if len(u.listed) != 1 || len(u.asked) != 0 {
		t.Fatalf("control: listed %d times, asked %d times before the process ended", len(u.listed), len(u.asked))
	}
	g.die()
	g.end()
	if len(u.listed) != 1 || len(u.listed[0].Names) != 1 || u.listed[0].Known != nil {
		t.Errorf("listed %+v", u.listed)
	}
	if len(u.asked) == 0 {
		t.Fatal("nobody searched for a return")
	}
	for i, a := range u.asked {
		if a.Known == nil || len(a.Known.Refs) != 1 || a.Known.Refs[0].ID != "8" || len(a.Known.Names) != 1 || a.Known.At.IsZero() {
			t.Errorf("search %d: %+v", i, a.Known)
		}
	}
}
