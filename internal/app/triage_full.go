package app

import (
	"context"
	"errors"
	"sync"

	"cordon/internal/fleet"
	"cordon/internal/target"
	"cordon/providers"
)

// questions in the order in which a responder needs them.
var questions = map[string]string{
	"identity": "what it is", "whose": "whose it is", "machines": "which machines use it", "hosts": "on which hosts",
	"running": "what runs now", "ran": "what ran before", "reach": "what it could reach",
	"pause": "what a pause would stop", "notice": "would the host notice", "case": "is there a case",
	"checked": "what its last check found", "installed": "which runners are on it",
}

func answer(id string, f Fact) Answer { return Answer{ID: id, Question: questions[id], Fact: f} }

// facts are the three reads about one runner, or what stands in for them.
type facts struct {
	runner   providers.Runner
	managers []providers.Manager
	jobs     []providers.Job
	partial  string

	read, asked, looked Fact // how runner, managers and jobs are known
}

// full reads one runner (three calls at the same time) and answers every question.
func (t *triage) full(ctx context.Context, c *Candidate) error {
	row, _ := t.row(c.Ref)
	f := t.read(ctx, c.Ref, row)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if f.runner.Ref.ID != "" {
		c.Ref = f.runner.Ref
	}
	c.Name = f.runner.Name
	joined := fleet.Build(fleet.Input{
		At: t.card.At, Runners: []providers.Runner{f.runner}, Managers: map[target.Ref][]providers.Manager{f.runner.Ref: f.managers},
		Services: t.services(), Hosts: t.a.hostAddresses(), Snapshots: snapshots(t.cases),
	}).Rows[0]
	c.Hosts = joined.Hosts
	c.With = t.with(joined, f)
	c.Answers = nil
	add := func(id string, f Fact) { c.Answers = append(c.Answers, answer(id, f)) }
	if f.read.Known == couldNot {
		add("identity", f.read)
	} else {
		add("identity", f.read.says("%s", describe(f.runner, t.card.At)))
	}
	add("whose", t.whose(f))
	add("machines", t.machines(f))
	add("hosts", t.hosts(joined, f))
	add("running", t.running(f))
	add("ran", Fact{Known: "not asked"})
	add("reach", t.reach(f, c.Ref))
	add("pause", t.pause(f))
	add("notice", t.notice(c.Ref))
	if k := t.openCase(c.Ref); k != nil {
		add("case", Fact{Known: "kept here", At: k.sum.Last}.says("case %s is open, last written %s ago", k.sum.ID, ago(t.card.At.Sub(k.sum.Last))))
	}
	return nil
}

const couldNot = "could not look"

func (t *triage) services() map[string]string {
	out := map[string]string{}
	for name, p := range t.a.cfg.Providers {
		out[name] = p.URL
	}
	return out
}

// read asks the provider; what it does not answer is answered from memory, labelled.
func (t *triage) read(ctx context.Context, ref target.Ref, row fleet.Row) facts {
	f := facts{runner: row.Runner, managers: row.Managers}
	f.runner.Ref = ref
	if row.Runner.Ref.ID != "" {
		f.runner.Ref = row.Runner.Ref
	}
	f.read, f.asked, f.looked = t.known(row, "provider"), t.known(row, "managers"), Fact{Known: couldNot}
	prov, ok := t.a.fleet.all[ref.System].(providers.Provider)
	if !ok {
		t.unknown("no provider called %q is configured", ref.System)
		return f
	}
	at := t.a.clock.Now()
	var rn providers.Runner
	var ms []providers.Manager
	var js []providers.Job
	var partial string
	var rerr, merr, jerr error
	var wg sync.WaitGroup
	wg.Go(func() { rn, rerr = prov.Runner(ctx, ref) })
	wg.Go(func() { ms, merr = prov.Managers(ctx, ref) })
	if l, ok := prov.(providers.Running); ok {
		wg.Go(func() { js, partial, jerr = l.RunningJobs(ctx, ref) })
	} else {
		jerr = errors.New("this provider cannot list them")
	}
	wg.Wait()
	now := Fact{Known: "provider now", At: at}
	if rerr == nil {
		f.runner, f.read = rn, now
	} else {
		t.unknown("the runner could not be read: %v", rerr)
		if row.Runner.Ref.IsZero() || f.read.Known == "not asked" { // nothing to answer from
			f.read = Fact{Known: couldNot}
		}
	}
	if merr == nil {
		f.managers, f.asked = ms, now
	} else {
		t.unknown("its machines could not be read: %v", merr)
	}
	switch {
	case jerr == nil:
		f.jobs, f.partial, f.looked = js, partial, now
	case errors.Is(jerr, providers.ErrNotSearched):
		f.looked = now.says("%v", jerr)
	default:
		t.unknown("its running jobs could not be read: %v", jerr)
	}
	if rerr == nil || merr == nil {
		err := t.a.remember(ref.System, func(k *lastKnown) {
			k.put(f.runner.Ref, func(x *knownRunner) {
				if rerr == nil {
					x.Detail, x.DetailAt = &rn, at
					if x.Listed.IsZero() {
						x.Runner, x.Listed = rn, at
					}
				}
				if merr == nil {
					x.Managers, x.ManagersAt = ms, at
				}
			})
		})
		if err != nil {
			t.unknown("%v", err)
		}
	}
	return f
}

// brief is what the list says of one runner among several.
func (t *triage) brief(c *Candidate) {
	row, ok := t.row(c.Ref)
	if !ok {
		return
	}
	c.Name, c.Hosts = row.Runner.Name, row.Hosts
	c.Ref = row.Runner.Ref
	c.Answers = []Answer{answer("identity", t.known(row, "provider").says("%s", describe(row.Runner, t.card.At)))}
}
