package engine_test

import (
	"strings"
	"testing"

	"cordon/internal/engine"
	"cordon/internal/engine/enginemodel"
	"cordon/internal/fleet"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
)

const devEnv = "/home/ci/.dev-env"

// TestARunnerThatIsNotOursIsAnOpenItem: a planted runner on the host of a case outlives
// everything that the case does. The ending says where it stands, and never more than
// was seen; whose its registration is stays open in each.
func TestARunnerThatIsNotOursIsAnOpenItem(t *testing.T) {
	stray := engine.Stray{Host: "h1", Root: devEnv, State: fleet.NotOurs, Runs: true, What: `github "SHA1HULUD" at /home/ci/.dev-env, registered to https://github.com/mallory/x`}
	stop := func(h *enginemodel.Host) { h.Beside = nil }
	nameless := func(g *rig) {
		g.w.WithHost("h1", func(h *enginemodel.Host) { h.Beside = []string{""} })
	}
	for name, c := range map[string]struct {
		steps  string
		before func(*rig)
		stray  engine.Stray
		says   string
		never  string
		exit   int
	}{
		"it runs to the end":  {whole, func(*rig) {}, stray, "still runs on h1; registration not ours: open item", "gone", engine.ExitPolls},
		"somebody ended it":   {whole, func(g *rig) { g.until(kind(engine.Watch)); g.w.WithHost("h1", stop) }, stray, "gone from this host (h1); registration not ours: open item", "still runs", engine.ExitDone},
		"nobody looked again": {stepSnapshot + stepCollect, func(*rig) {}, stray, "nobody looked again; registration not ours: open item", "gone", engine.ExitCannotTell},
		"the last look saw nothing": {whole, func(g *rig) {
			g.until(kind(engine.Watch))
			g.w.WithHost("h1", func(h *enginemodel.Host) { h.Away = true })
		}, stray, "the last look could not see; registration not ours: open item", "gone", engine.ExitCannotTell},
		"only its files were there":       {whole, func(g *rig) { g.w.WithHost("h1", stop) }, engine.Stray{Host: "h1", Root: devEnv, State: fleet.NotOurs}, "its files were on h1; registration not ours: open item", "gone", engine.ExitDone},
		"its number is all that was seen": {whole, nameless, engine.Stray{Host: "h1", Root: devEnv, State: fleet.NotOurs, Runs: true, PIDs: []int{7}}, "still runs on h1; registration not ours: open item", "gone", engine.ExitPolls},
		"one runs, and nobody saw whose":  {whole, nameless, stray, "the look does not say which; registration not ours: open item", "gone", engine.ExitCannotTell},
		"it is in no list of ours":        {whole, func(*rig) {}, engine.Stray{Host: "h1", Root: devEnv, State: fleet.Rogue, Runs: true}, "still runs on h1; registered nowhere that was listed: open item", "not ours", engine.ExitPolls},
		"one that is nobody's stray":      {whole, func(*rig) {}, engine.Stray{}, "another runner agent runs on h1", "open item", engine.ExitDone},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, c.steps)
			g.w.WithHost("h1", func(h *enginemodel.Host) { h.Beside = []string{devEnv} })
			g.w.With("1", quiet)
			g.cfg = func(o *engine.Options) {
				o.Strays = func(s *snapshot.Snapshot, ours []target.Ref) []engine.Stray {
					if s.Host != "h1" || len(ours) != 1 || ours[0] != runner {
						t.Errorf("asked about %s for %v", s.Host, ours)
					}
					if c.stray.Host == "" {
						return nil
					}
					return []engine.Stray{c.stray}
				}
			}
			g.open()
			c.before(g)
			check := func(e engine.Ending) {
				t.Helper()
				all := strings.Join(e.Open, "\n")
				if e.Exit != c.exit {
					t.Errorf("ends %s (exit %d), want exit %d; %q", e.Word, e.Exit, c.exit, e.Notes)
				}
				if !strings.Contains(all, c.says) || strings.Contains(all, c.never) || strings.Count(all, "still runs on h1") > 1 {
					t.Errorf("ends %s, open %q", e.Word, e.Open)
				}
				if !noted(e, c.says) {
					t.Errorf("no note says it: %q", e.Notes)
				}
			}
			check(g.endPatiently())
			g.die() // what was found is in the journal
			check(g.end())
		})
	}
}
