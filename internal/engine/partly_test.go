package engine_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/change"
	"cordon/internal/engine"
	"cordon/internal/engine/enginemodel"
	"cordon/internal/evidence"
	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/providers"
)

// labels is a provider whose only pause is one in part, and whose store set a secret anew.
type labels struct {
	*enginemodel.Provider
	shows  bool // it reads back as held back in part
	whole  bool // its pause is a whole one
	anew   time.Time
	looked int
}

func (l *labels) Plan(ctx context.Context, verb string, t target.Ref, args json.RawMessage) ([]change.Plan, error) {
	ps, err := l.Provider.Plan(ctx, verb, t, args)
	for i := range ps {
		ps[i].Partial = verb == providers.Pause && !l.whole
	}
	return ps, err
}

func (l *labels) Observe(ctx context.Context, t target.Ref) ([]witness.Observation, error) {
	l.looked++
	seen, err := l.Provider.Observe(ctx, t)
	for i := range seen {
		if seen[i].Paused == witness.Yes && !l.whole {
			seen[i].Paused = witness.No
			if l.shows {
				seen[i].Partly = "no custom labels: jobs that ask for its group alone still come to it"
			}
		}
	}
	return seen, err
}

func (l *labels) Exposure(context.Context, target.Ref, time.Time) ([]providers.Credential, []evidence.Gap, error) {
	return []providers.Credential{{Name: "NPM", Kind: "secret", Where: "acme/web", Why: "its jobs ran here", Replaced: l.anew}}, nil, nil
}

func inPart(t *testing.T, l *labels, steps string) *rig {
	g := newRig(t, steps)
	g.cfg = func(o *engine.Options) {
		l.Provider = o.Systems[enginemodel.System].(*enginemodel.Provider)
		o.Systems[enginemodel.System] = l
	}
	return g.open()
}

// A pause in part is done when it reads back as what it covers, and says what it leaves:
// it must not end as unknown, which holds back everything after it.
func TestAPauseInPartIsConfirmedByWhatItCovers(t *testing.T) {
	for _, c := range []struct {
		shows bool
		end   string
	}{{true, engine.Done}, {false, engine.InDoubt}} {
		l := &labels{shows: c.shows}
		g := inPart(t, l, stepSnapshot+stepPause+stepRotate+stepConfirm)
		g.answer(willing(g.until(at("pause"))))
		g.die()
		p := g.until(at("rotate"))
		i := slices.IndexFunc(g.r.Steps(), func(s engine.StepState) bool { return s.ID == "pause" })
		if got := g.r.Steps()[i].End; got != c.end {
			t.Errorf("held back in part: %v, and the pause is %q, want %q", c.shows, got, c.end)
		}
		if c.shows && (l.looked > 3 || strings.Contains(p.Text, "no longer paused")) {
			t.Errorf("looked %d times, %q", l.looked, p.Text)
		}
		told := slices.ContainsFunc(g.lines("step"), func(x casefile.Line) bool { return strings.Contains(x.Msg, "partial pause: no custom labels") })
		if told != c.shows {
			t.Errorf("it is said that the pause is partial: %v", told)
		}
		if e := g.end(); remarked(e, "partial pause: no custom labels") != c.shows {
			t.Errorf("the ending: %q", e.Notes)
		}
		if n := len(g.lines("drift")); n != 0 {
			t.Errorf("%d alarms that it is no longer paused", n)
		}
	}
}

// What was set anew while the runner still got jobs is not replaced.
func TestReplacedCountsFromAWholePause(t *testing.T) {
	for _, c := range []struct {
		name  string
		whole bool
		after time.Duration
		want  int
	}{
		{"before the pause", true, -time.Minute, 0}, {"after it", true, time.Minute, 1}, {"after a pause in part", false, time.Minute, 0},
	} {
		l := &labels{shows: true, whole: c.whole}
		g := inPart(t, l, stepSnapshot+stepPause+stepRotate+stepConfirm)
		g.until(at("rotate"))
		l.anew = g.w.Clock.Now().Add(c.after)
		g.w.Clock.Jump(2 * time.Minute)
		p := g.until(func(p engine.Prompt) bool { return p.Exposed != nil })
		i := slices.IndexFunc(p.Exposed.Entries, func(x providers.Credential) bool { return x.Name == "NPM" })
		if got := !p.Exposed.Entries[i].Replaced.IsZero(); got != (c.want == 1) {
			t.Errorf("%s: replaced %v: %+v", c.name, got, p.Exposed.Entries[i])
		}
	}
}
