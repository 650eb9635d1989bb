package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/engine"
	"cordon/internal/engine/enginemodel"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/providers"
)

const holdsAnother = "h1 holds the registration of runner 2 and none of runner 1"

// another makes hosts those of other runners, once they were read.
func another(o *engine.Options, why map[string]string) {
	o.NotOf = func(s *snapshot.Snapshot, r providers.Runner, _ []providers.Manager) string {
		return why[s.Host+" "+r.Ref.ID]
	}
}

// TestAHostThatIsAnotherRunnersHoldsTheRestBack: the wrong host was named. Before its agent
// is stopped and before the registration goes that is said, in both steps, and no standing
// answer sets it aside.
func TestAHostThatIsAnotherRunnersHoldsTheRestBack(t *testing.T) {
	for _, step := range []string{"stop", "remove"} {
		t.Run(step, func(t *testing.T) {
			g := newRig(t, whole)
			g.cfg = func(o *engine.Options) { another(o, map[string]string{"h1 1": holdsAnother}) }
			g.open()
			if step == "remove" {
				g.answer(engine.Decision{N: g.until(at("stop")).N, Verb: engine.Skip, Reason: "not this one"})
			} else {
				g.until(at("stop"))
				g.die() // it is in the journal
			}
			p := g.until(at(step))
			i := slices.IndexFunc(p.Guards[0], func(x engine.Guard) bool { return x.ID == engine.WrongHost+"h1" })
			if i < 0 || p.Guards[0][i].Class != engine.GuardBlock || p.Guards[0][i].Text != holdsAnother+": is the host right?" {
				t.Fatalf("guards %+v", p.Guards[0])
			}
			g.holds(p, p.Plans[0].Verb)
			g.answer(willing(p)) // a person can
		})
	}
}

// TestAHostThatIsAnotherRunnersIsNoWitness: what it shows says nothing of this runner, in
// either direction, whatever a person set aside before.
func TestAHostThatIsAnotherRunnersIsNoWitness(t *testing.T) {
	for name, c := range map[string]struct {
		not  map[string]string
		runs bool
		word string
	}{
		"it is quiet":             {map[string]string{"h1 1": holdsAnother}, false, "cannot tell"},
		"its own agent runs":      {map[string]string{"h1 1": holdsAnother}, true, "cannot tell"},
		"it is this one's":        {nil, false, engine.Contained},
		"it is not some other's":  {map[string]string{"h1 2": "x", "h2 1": "x"}, false, engine.Contained},
		"it is, and one agent is": {nil, true, witness.Knocking},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, whole)
			g.w.With("1", quiet)
			g.cfg = func(o *engine.Options) { another(o, c.not) }
			g.open()
			g.until(kind(engine.Watch))
			g.w.WithHost("h1", func(h *enginemodel.Host) { h.Running = c.runs })
			e := g.endPatiently()
			if e.Word != c.word {
				t.Errorf("ends %s: %q", e.Word, e.Notes)
			}
			if c.not["h1 1"] != "" && !noted(e, holdsAnother+": it is no witness of this runner") {
				t.Errorf("it is not said why: %q", e.Notes)
			}
			for _, l := range g.lines("verdict") {
				if c.not["h1 1"] != "" && strings.Contains(string(l.Data), `"host-process"`) {
					t.Errorf("the verdict has a word of that host: %s", l.Data)
				}
			}
		})
	}
}

// Of several runners each has its own hosts: the wrong one of one is the right one of
// another, and takes nothing from it.
func TestEachOfSeveralRunnersHasItsOwnHosts(t *testing.T) {
	g := several(t, 2, whole)
	was := g.cfg
	for _, id := range []string{"1", "2"} {
		g.w.With(id, quiet)
	}
	g.cfg = func(o *engine.Options) {
		was(o)
		another(o, map[string]string{"h1 1": "h1 holds the registration of runner 9 and none of runner 1"})
	}
	g.open()
	p := g.until(at("stop"))
	if p.Target.ID != "h1" || len(p.Guards[0]) != 1 || p.Guards[0][0].ID != engine.WrongHost+"h1" {
		t.Errorf("%s: guards %+v", p.Target, p.Guards[0])
	}
	g.answer(willing(p))
	if p = g.until(at("stop")); p.Target.ID != "h2" || len(p.Guards[0]) != 0 {
		t.Errorf("%s: guards %+v", p.Target, p.Guards[0])
	}
	e := g.end()
	if !noted(e, "fake/2: contained") || !noted(e, "no witness of this runner") {
		t.Errorf("ends %s: %q", e.Word, e.Notes)
	}
}

// TestNoHostIsNamedAndHoldsTheRestBack: the registration is not removed over the head of a
// host that nobody asked, and those that may be it are named. With several runners the
// host of one is none of another.
func TestNoHostIsNamedAndHoldsTheRestBack(t *testing.T) {
	like := func(o *engine.Options) {
		o.LikeHosts = func(r providers.Runner) []string { return []string{"gha-0" + r.Ref.ID} }
	}
	g := newRig(t, whole)
	g.cfg = func(o *engine.Options) { o.Hosts = nil; like(o) }
	p := g.open().until(at("remove"))
	if x := p.Guards[0]; !slices.ContainsFunc(x, func(x engine.Guard) bool {
		return x.ID == engine.HostUnknown && x.Class == engine.GuardBlock && strings.Contains(x.Text, "(--host gha-01)?")
	}) {
		t.Fatalf("guards %+v", x)
	}
	g.holds(p, providers.Deregister)

	g = several(t, 2, whole)
	was := g.cfg
	g.cfg = func(o *engine.Options) {
		was(o)
		o.Hosts, o.HostsOf = o.Hosts[:1], map[target.Ref][]target.Ref{o.Runners[0]: o.Hosts[:1], o.Runners[1]: nil}
		like(o)
	}
	p = g.open().until(at("remove"))
	if len(p.Guards[0]) != 0 {
		t.Errorf("the first has its host: %+v", p.Guards[0])
	}
	g.answer(willing(p))
	p = g.until(at("remove"))
	if x := p.Guards[0]; len(x) != 1 || x[0].ID != engine.HostUnknown+":"+p.Target.String() || !strings.Contains(x[0].Text, "--host 2=gha-02") {
		t.Errorf("%s: guards %+v", p.Target, x)
	}
}

// TestJobsOfAnotherRunnersHostAreNoDifference: the provider lists a job that the wrong host
// has no trace of, which says nothing.
func TestJobsOfAnotherRunnersHostAreNoDifference(t *testing.T) {
	for wrong, want := range map[bool]int{true: 0, false: 1} {
		g := newRig(t, whole)
		g.w.Ran("1", "77", g.w.Clock.Now().Add(-time.Hour))
		g.w.WithHost("h1", func(h *enginemodel.Host) {
			h.Jobs = []snapshot.Job{{Root: "/opt/a", Source: snapshot.JobRunnerLog, Name: "other", Repository: "acme/web", Started: g.w.Clock.Now().Add(-30 * time.Minute)}}
		})
		g.cfg = func(o *engine.Options) {
			if wrong {
				another(o, map[string]string{"h1 1": holdsAnother})
			}
		}
		g.open().until(at("stop"))
		n := 0
		for _, l := range g.lines("exposure") {
			if strings.Contains(string(l.Data), "that its provider does not list") {
				n = 1
			}
		}
		if n != want {
			t.Errorf("wrong host %v: a difference was found: %d, want %d", wrong, n, want)
		}
	}
}
