package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"cordon/internal/fleet"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
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
	c.Answers = nil
	add := func(id string, f Fact) { c.Answers = append(c.Answers, answer(id, f)) }
	if f.read.Known == couldNot {
		add("identity", f.read)
	} else {
		add("identity", f.read.says("%s", describe(f.runner)))
	}
	add("whose", t.whose(f))
	add("machines", t.machines(f))
	add("hosts", t.hosts(joined, f))
	add("running", t.running(f))
	add("ran", Fact{Known: "not asked"})
	add("reach", t.reach(f, c.Ref))
	add("pause", t.pause(f))
	add("notice", Fact{
		Text:  "a pause: no, the agent is told nothing. A new token: yes, the agent is refused and logs it. A login on the host: yes",
		Known: "how GitLab and gitlab-runner work",
	})
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
		if row.Runner.Ref.IsZero() {
			f.read = Fact{Known: couldNot}
		}
	}
	if merr == nil {
		f.managers, f.asked = ms, now
	} else {
		t.unknown("its machines could not be read: %v", merr)
	}
	if jerr == nil {
		f.jobs, f.partial, f.looked = js, partial, now
	} else {
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

func (t *triage) whose(f facts) Fact {
	r := f.runner
	level := map[string]string{"instance": "registered to the whole instance", "group": "registered to a group", "project": "registered to projects"}[r.Ref.Scope.Level]
	switch {
	case r.Owner != "":
		return f.read.says("%s, %s", r.Owner, level)
	case level != "":
		return f.read.says("%s; who owns it is not said", level)
	}
	return Fact{Known: f.read.Known, At: f.read.At}
}

func (t *triage) machines(f facts) Fact {
	out := f.asked
	if f.asked.Known == "not asked" {
		out.Known = couldNot
		return out
	}
	out = out.says("%d use this registration", len(f.managers))
	for _, m := range f.managers {
		s := fmt.Sprintf("%s from %s, %s, gitlab-runner %s", m.SystemID, dashed(string(m.Address)), m.Status, dashed(string(m.Version)))
		if !m.LastContact.IsZero() {
			s += ", last contact " + m.LastContact.UTC().Format("2006-01-02 15:04Z")
		}
		out.Items = append(out.Items, untrusted.Clean(s, 200))
	}
	return out
}

func (t *triage) hosts(row fleet.Row, f facts) Fact {
	if len(row.Hosts) == 0 {
		out := f.asked
		out.Text = "none that is configured here"
		return out
	}
	out := Fact{Known: "by address, " + f.asked.Known, At: f.asked.At}
	for _, in := range row.Installations {
		at := row.SeenAt["host/"+in.Host]
		out = t.checked(in.Host, at)
		out.Items = append(out.Items, untrusted.Clean(fmt.Sprintf("%s: installed at %s", in.Host, in.Root), 200))
	}
	out = out.says("%s", row.Known)
	if row.State != fleet.Agreed {
		out.Items = append(out.Items, untrusted.Clean(row.State+": "+row.Why, 300))
	}
	return out
}

func (t *triage) running(f facts) Fact {
	out := f.looked
	if out.Known == couldNot {
		return out
	}
	out = out.says("%d jobs%s", len(f.jobs), dash(f.partial))
	for _, j := range f.jobs {
		out.Items = append(out.Items, jobLine(j))
	}
	return out
}

func jobLine(j providers.Job) string {
	started := "not started"
	if !j.StartedAt.IsZero() {
		started = j.StartedAt.UTC().Format("2006-01-02 15:04Z")
	}
	return untrusted.Clean(fmt.Sprintf("job %s %q of %s, branch %s, by %s, %s, %s", j.Ref.ID, j.Name, j.Project, j.Branch, j.Actor, j.Status, started), 240)
}

// reach is what may run on it, and the names of credentials only where a case asked
// for them before.
func (t *triage) reach(f facts, ref target.Ref) Fact {
	r := f.runner
	out := f.read
	switch {
	case len(r.Projects) > 0:
		out = out.says("%d projects may run jobs on it", len(r.Projects))
		for _, p := range r.Projects {
			if len(out.Items) == 20 {
				out.Items = append(out.Items, fmt.Sprintf("and %d more", len(r.Projects)-20))
				break
			}
			out.Items = append(out.Items, p.String())
		}
	case r.Ref.Scope.Level == "instance":
		out = out.says("any project of the instance that allows its runners")
	case r.Ref.Scope.Level == "group":
		out = out.says("any project of its group and below")
	default:
		out = Fact{Known: out.Known, At: out.At}
	}
	for _, k := range t.cases {
		if k.exposed != nil && k.runner.System == ref.System && k.runner.ID == ref.ID {
			out.Items = append(out.Items, fmt.Sprintf("case %s, %s ago: %s", k.sum.ID, ago(t.card.At.Sub(k.exposedAt)), k.exposed.Summary()))
			return out
		}
	}
	if out.Text != "" {
		out.Text += "; the names of their secrets were not asked for (a case lists them)"
	}
	return out
}

// pause says what stops and what does not, with the capacity that the list shows.
func (t *triage) pause(f facts) Fact {
	out := f.looked
	if yes := f.runner.Paused == witness.Yes; yes {
		out = f.read
		return out.says("it is paused already")
	}
	switch n := len(f.managers); {
	case f.asked.Known == "not asked":
		out.Text = "new jobs on every machine that uses it, how many is not known"
	case n == 1:
		out.Text = "new jobs on its one machine"
	default:
		out.Text = fmt.Sprintf("new jobs on all %d machines at once", n)
	}
	if f.looked.Known == couldNot {
		out.Text += "; what runs goes on to its end, and what runs is not known"
	} else {
		out.Text += fmt.Sprintf("; the %d jobs that run go on to their end", len(f.jobs))
	}
	if s := t.capacity(f.runner.Ref); s != "" {
		out.Items = append(out.Items, s)
	}
	return out
}

func (t *triage) capacity(ref target.Ref) string {
	if t.rows == nil {
		return ""
	}
	n := 0
	var at time.Time
	for _, row := range t.rows.Rows {
		r := row.Runner
		if r.Ref.System != ref.System || r.Ref.IsZero() {
			continue
		}
		if seen := row.SeenAt["provider"]; at.IsZero() || seen.Before(at) {
			at = seen
		}
		if r.Ref.ID != ref.ID && r.Online == witness.Yes && r.Paused == witness.No {
			n++
		}
	}
	if at.IsZero() {
		return ""
	}
	s := fmt.Sprintf("%d other runners were online and not paused on the list", n)
	if at.Before(t.card.At) {
		s += " of " + ago(t.card.At.Sub(at)) + " ago"
	}
	return s + "; tags were not compared"
}

func (t *triage) openCase(ref target.Ref) *keptCase {
	i := slices.IndexFunc(t.cases, func(k keptCase) bool {
		return !k.sum.Closed && k.runner.System == ref.System && k.runner.ID == ref.ID && k.runner.ID != ""
	})
	if i < 0 {
		return nil
	}
	return &t.cases[i]
}

// brief is what the list says of one runner among several.
func (t *triage) brief(c *Candidate) {
	row, ok := t.row(c.Ref)
	if !ok {
		return
	}
	c.Name, c.Hosts = row.Runner.Name, row.Hosts
	c.Ref = row.Runner.Ref
	c.Answers = []Answer{answer("identity", t.known(row, "provider").says("%s", describe(row.Runner)))}
}
