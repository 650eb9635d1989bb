package engine_test

import (
	"strings"
	"testing"

	"cordon/internal/casefile"
	"cordon/internal/engine"
	"cordon/internal/engine/enginemodel"
	"cordon/internal/fleet"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/internal/witness"
)

// A runner that was planted on a machine of ours, registered to an account that is not:
// there is no runner to contain, only a host. Such a case can end, and its ending is
// about the host.
func TestACaseAboutAHostAlone(t *testing.T) {
	stray := engine.Stray{Host: "h1", Root: devEnv, State: fleet.NotOurs, Runs: true, What: "github"}
	for name, c := range map[string]struct {
		before func(*rig)
		word   string
		exit   int
		open   string
	}{
		"ended by hand before the watch": {func(g *rig) {
			g.until(kind(engine.Watch))
			g.w.WithHost("h1", func(h *enginemodel.Host) { h.Beside, h.Running = nil, false })
		}, engine.GoneFromHost, engine.ExitDone, "gone from this host (h1); registration not ours: open item"},
		"it goes on": {func(g *rig) {
			g.until(kind(engine.Watch))
			g.w.WithHost("h1", func(h *enginemodel.Host) { h.Running = false })
		}, witness.Polling, engine.ExitPolls, "still runs on h1; registration not ours: open item"},
		"the host is out of reach": {func(g *rig) {
			g.until(kind(engine.Watch))
			g.w.WithHost("h1", func(h *enginemodel.Host) { h.Away = true })
		}, "cannot tell", engine.ExitCannotTell, "the last look could not see; registration not ours: open item"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, whole)
			var err error
			if err = g.c.Close(); err != nil {
				t.Fatal(err)
			}
			g.c, err = g.s.Create(t.Context(), casefile.Opening{
				ID: "H", Kind: "incident", Targets: []target.Ref{h1}, Playbook: g.pb.Source, PlaybookName: g.pb.ID,
			}, casefile.Actor{Name: "alice", Host: "a", BootID: "b", PID: 1})
			if err != nil {
				t.Fatal(err)
			}
			g.w.WithHost("h1", func(h *enginemodel.Host) { h.Beside = []string{devEnv} })
			g.cfg = func(o *engine.Options) {
				o.Runner = target.Ref{}
				o.Strays = func(_ *snapshot.Snapshot, ours []target.Ref) []engine.Stray {
					if len(ours) != 0 {
						t.Errorf("asked for %v", ours)
					}
					return []engine.Stray{stray}
				}
			}
			g.open()
			c.before(g)
			e := g.endPatiently()
			if all := strings.Join(e.Open, "\n"); e.Word != c.word || e.Exit != c.exit || !strings.Contains(all, c.open) {
				t.Errorf("ends %q (exit %d), open %q, notes %q", e.Word, e.Exit, e.Open, e.Notes)
			}
			for _, s := range g.r.Steps() {
				if s.End == "" || s.Now {
					t.Errorf("step %s is open: %+v", s.ID, s)
				}
			}
			v, err := g.c.View()
			if err != nil {
				t.Fatal(err)
			}
			if steps, err := engine.StepsOf(v, g.pb); err != nil || len(steps) != len(g.r.Steps()) {
				t.Errorf("folded again: %v, %v", steps, err)
			}
		})
	}
}
