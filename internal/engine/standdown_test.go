package engine_test

import (
	"errors"
	"strings"
	"testing"

	"cordon/internal/engine"
	"cordon/internal/engine/enginemodel"
	"cordon/internal/target"
	"cordon/providers"
)

func TestStandingDownTakesBackLastFirstWhatCanBe(t *testing.T) {
	g := newRig(t, whole).open()
	g.answer(willing(g.until(at("stop"))))
	g.until(at("remove")) // everything but the removal has happened
	if err := g.r.StandDown(" "); !errors.Is(err, engine.ErrReason) {
		t.Fatalf("without a reason: %v", err)
	}
	if err := g.r.StandDown("our own benchmark"); err != nil {
		t.Fatal(err)
	}
	g.die()
	e := g.end()
	var ops []string
	for _, x := range g.w.Ledger() {
		ops = append(ops, x.Op)
	}
	if n := len(ops); n < 2 || ops[n-2] != "start" || ops[n-1] != providers.Resume {
		t.Errorf("what happened: %v", ops)
	}
	if e.Word != engine.StoodDown || e.Exit != engine.ExitDone || !remarked(e, "cannot be undone: rotate/1") || !remarked(e, "our own benchmark") {
		t.Errorf("ends %s (exit %d) %q", e.Word, e.Exit, e.Notes)
	}
}

func TestOnlyWhatIsOursAndStillInForceIsUndone(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*rig)
	}{
		{"somebody has resumed it already", func(g *rig) {
			g.until(at("rotate"))
			g.w.With("1", func(r *enginemodel.Runner) { r.Paused = false })
		}},
		{"it was paused before us", func(g *rig) {
			p := g.until(at("pause"))
			g.w.With("1", func(r *enginemodel.Runner) { r.Paused = true })
			g.answer(willing(p))
			g.until(at("rotate"))
		}},
		{"nobody knows whether it was", func(g *rig) {
			p := g.until(at("pause"))
			g.fault(providers.Pause, enginemodel.LostCall)
			g.w.Blind = nil
			g.answer(willing(p))
		}},
		{"the registration is gone", func(g *rig) {
			g.answer(willing(g.until(at("remove"))))
			g.until(func(p engine.Prompt) bool { return p.Kind == engine.Watch })
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, whole).open()
			c.do(g)
			if err := g.r.StandDown("false alarm"); err != nil {
				t.Fatal(err)
			}
			g.end()
			if n := g.happened(providers.Resume); n != 0 {
				t.Errorf("resumed %d times", n)
			}
		})
	}
}

func TestAReadOnlyRunStandsNothingDown(t *testing.T) {
	g := newRig(t, whole)
	g.ro = true
	if err := g.open().r.StandDown("false alarm"); !errors.Is(err, engine.ErrReadOnly) {
		t.Errorf("%v", err)
	}
}

// inTwoScopes is a case about runners with one number in an organization and a repository.
func inTwoScopes(t *testing.T, steps string) (g *rig, org, repo target.Ref) {
	g = newRig(t, steps)
	org, repo = runner, runner
	org.Scope = target.Scope{Level: "organization", Path: "acme"}
	repo.Scope = target.Scope{Level: "repository", Path: "acme/shop"}
	g.w.Add(org)
	g.w.Add(repo)
	g.cfg = func(o *engine.Options) { o.Runner, o.Runners, o.Hosts = org, []target.Ref{org, repo}, nil }
	return g.open(), org, repo
}

func TestOneNumberInTwoScopesIsPausedAndUndoneTwice(t *testing.T) {
	g, org, repo := inTwoScopes(t, stepSnapshot+stepPause+stepConfirm)
	ids := map[string]target.Ref{}
	for range 2 {
		p := g.until(at("pause"))
		for _, c := range p.Plans[0].Changes {
			ids[c.ID] = c.Target
		}
		g.answer(willing(p))
	}
	if len(ids) != 2 {
		t.Errorf("two pauses have the ids %v", ids)
	}
	g.until(kind(engine.Watch))
	if err := g.r.StandDown("false alarm"); err != nil {
		t.Fatal(err)
	}
	g.die()
	e := g.end()
	if n := g.happened(providers.Resume); n != 2 {
		t.Errorf("%d undos were sent for two pauses", n)
	}
	if !remarked(e, "acme%2Fshop") || !remarked(e, "organization:acme:1") {
		t.Errorf("it is not said whose undo is done: %q", e.Notes)
	}
	if org.Short() == repo.Short() || strings.Contains(org.Short(), "shop") {
		t.Errorf("both are called %s", org.Short())
	}
}

// A step about hosts has nothing to do where none is known, and that is not done.
func TestAStepWithoutHostsIsNotDone(t *testing.T) {
	g := newRig(t, whole)
	for _, c := range []struct {
		hosts []target.Ref
		want  string
	}{{nil, engine.NoHost}, {[]target.Ref{h1}, ""}} {
		g.cfg = func(o *engine.Options) { o.Hosts = c.hosts }
		for _, s := range g.open().r.Steps() {
			if s.ID == "collect" && s.End != c.want || s.ID == "pause" && s.End != "" {
				t.Errorf("hosts %v: step %s is %q", c.hosts, s.ID, s.End)
			}
		}
	}
}
