package engine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"cordon/internal/casefile"
	"cordon/internal/casefile/faultfs"
	"cordon/internal/change"
	"cordon/internal/engine"
	"cordon/internal/engine/enginemodel"
	"cordon/internal/target"
	"cordon/playbooks"
)

// rig is one case on runner 1 and its host h1, in a world in memory.
type rig struct {
	t   testing.TB
	w   *enginemodel.World
	f   *faultfs.FS
	s   *casefile.Store
	c   *casefile.Case
	r   *engine.Run
	pb  *playbooks.Playbook
	ro  bool                  // read-only: neither Issuer nor Appliers
	cfg func(*engine.Options) // further options; nil: none
}

const rigCase = "R"

var (
	runner = enginemodel.RunnerRef("1")
	h1     = enginemodel.HostRef("h1")
)

// steps of the playbook of a rig.
const (
	stepSnapshot = "  - {id: snapshot, title: Keep, why: w, acts: [{do: gather, on: runner, profile: express}]}\n"
	stepPause    = "  - {id: pause, title: Pause, why: w, needs: [snapshot], acts: [{do: plan, verb: pause, on: runner, verify: paused}]}\n"
	stepRotate   = "  - {id: rotate, title: Rotate, why: w, acts: [{do: plan, verb: rotate, on: runner}, {do: exposure}]}\n"
	stepCollect  = "  - {id: collect, title: Collect, why: w, acts: [{do: plan, verb: collect, on: hosts, profile: triage}]}\n"
	stepStop     = "  - {id: stop, title: Stop, why: w, acts: [{do: plan, verb: stop, on: hosts, optional: true, verify: stopped}]}\n"
	stepRemove   = "  - {id: remove, title: Remove, why: w, needs: [snapshot, collect], acts: [{do: plan, verb: deregister, on: runner, verify: gone, destroys: [host/*/snapshot.json]}]}\n"
	stepConfirm  = "  - {id: confirm, title: Watch, why: w, acts: [{do: confirm}]}\n"
	whole        = stepSnapshot + stepPause + stepRotate + stepCollect + stepStop + stepRemove + stepConfirm
)

func newRig(t testing.TB, steps string) *rig {
	t.Helper()
	g := &rig{t: t, w: enginemodel.New(1), f: faultfs.New(1)}
	var err error
	g.pb, err = playbooks.Parse("rig", []byte("cordon: playbook/1\nid: rig\ntitle: T\nwhy: w\nsteps:\n"+steps))
	if err != nil {
		t.Fatal(err)
	}
	if g.s, err = casefile.OpenStore(casefile.Opener{Dir: "/state", Clock: g.w.Clock, FS: g.f}); err != nil {
		t.Fatal(err)
	}
	g.c, err = g.s.Create(t.Context(), casefile.Opening{
		ID: rigCase, Kind: "incident", Targets: []target.Ref{runner, h1}, Playbook: g.pb.Source, PlaybookName: g.pb.ID,
	}, casefile.Actor{Name: "alice", Host: "a", BootID: "b", PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// open makes a run that stands where the journal ends.
func (g *rig) open() *rig {
	g.t.Helper()
	o := engine.Options{
		Journal: g.c, Playbook: g.pb, Runner: runner, Hosts: []target.Ref{h1}, Systems: g.w.Systems(), Clock: g.w.Clock,
	}
	if !g.ro {
		o.Appliers, o.Issuer = g.w.Appliers(), change.NewIssuer()
	}
	if g.cfg != nil {
		g.cfg(&o)
	}
	var err error
	if g.r, err = engine.Open(o); err != nil {
		g.t.Fatal(err)
	}
	return g
}

// die ends the process that writes, and opens the case in another.
func (g *rig) die() {
	g.t.Helper()
	g.f.Stop()
	g.f.Reboot(false)
	_ = g.c.Close() // of a process that is gone
	var err error
	if g.c, err = g.s.Take(g.t.Context(), rigCase, casefile.Actor{Name: "alice", Host: "a", BootID: "b", PID: 2}); err != nil {
		g.t.Fatal(err)
	}
	g.open()
}

func (g *rig) next() engine.Prompt {
	g.t.Helper()
	p, err := g.r.Next(g.t.Context())
	if err != nil {
		g.t.Fatal(err)
	}
	return p
}

// willing is the answer of somebody who goes on whatever it takes.
func willing(p engine.Prompt) engine.Decision {
	d := engine.Decision{N: p.N, Reason: "because"}
	switch p.Kind {
	case engine.Watch:
		d.Verb = engine.Begin
	case engine.Doubt:
		d.Verb = engine.Leave
	case engine.Choose:
		if len(p.Plans) == 0 || p.CannotDo != "" {
			d.Verb = engine.Skip
			break
		}
		d.Verb, d.Plan = engine.Apply, p.Plans[0].Hash()
		for _, x := range p.Guards[0] {
			d.Waive = append(d.Waive, x.ID)
		}
	}
	return d
}

// until goes on, willing, to the first prompt that is wanted.
func (g *rig) until(wanted func(engine.Prompt) bool) engine.Prompt {
	g.t.Helper()
	for range 100 {
		p := g.next()
		if wanted(p) {
			return p
		}
		if p.Kind == engine.Finished {
			g.t.Fatalf("it ended (%s) before the prompt that is wanted", p.Ending.Word)
		}
		if p.N > 0 {
			g.answer(willing(p))
		}
	}
	g.t.Fatal("a hundred prompts and not the one that is wanted")
	return engine.Prompt{}
}

func (g *rig) answer(d engine.Decision) {
	g.t.Helper()
	if err := g.r.Answer(g.t.Context(), d); err != nil {
		g.t.Fatal(err)
	}
}

// end goes on to the ending.
func (g *rig) end() engine.Ending {
	g.t.Helper()
	return *g.until(func(p engine.Prompt) bool { return p.Kind == engine.Finished }).Ending
}

// at wants the plans of a step.
func at(step string) func(engine.Prompt) bool {
	return func(p engine.Prompt) bool { return p.Kind == engine.Choose && p.Step == step }
}

func kind(k string) func(engine.Prompt) bool {
	return func(p engine.Prompt) bool { return p.Kind == k }
}

// happened counts the effects of an operation in the world's own ledger.
func (g *rig) happened(op string) int {
	n := 0
	for _, e := range g.w.Ledger() {
		if e.Op == op {
			n++
		}
	}
	return n
}

// lines are those of a kind in the journal.
func (g *rig) lines(kind string) []casefile.Line {
	g.t.Helper()
	v, err := g.s.Read(rigCase)
	if err != nil {
		g.t.Fatal(err)
	}
	var all []casefile.Line
	for _, l := range v.Lines {
		if kind == "" || l.Kind == kind {
			all = append(all, l)
		}
	}
	return all
}

// says is a prompt as somebody sees it, without what is new each time: numbers of
// prompts and lines, and times.
func says(p engine.Prompt) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	for _, v := range []any{p.Kind, p.Step, p.Target, p.Choices, p.Guards, p.CannotDo} {
		if err := enc.Encode(v); err != nil {
			panic(err) // closed structs
		}
	}
	for _, pl := range p.Plans {
		b.WriteString(pl.Hash())
	}
	return b.String()
}

// fault makes the next change of an operation go wrong once.
func (g *rig) fault(op string, f enginemodel.Fault) {
	done := false
	g.w.Next = func(o string) enginemodel.Fault {
		if o != op || done {
			return enginemodel.None
		}
		done = true
		return f
	}
}
