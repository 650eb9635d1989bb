package app

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cordon/internal/fleet"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
	"cordon/providers"
)

func (t *triage) whose(f facts) Fact {
	r := f.runner
	level := map[string]string{
		"instance": "registered to the whole instance", "group": "registered to a group", "project": "registered to projects",
		"enterprise": "registered to an enterprise", "organization": "registered to an organization", "repository": "registered to one repository",
	}[r.Ref.Scope.Level]
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
	if len(f.managers) == 0 && t.github(f.runner.Ref) {
		return Fact{Text: "one, which GitHub does not name: only a host can say that it is it", Known: "how GitHub works"}
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
		if name := t.namesake(f.runner); name != "" {
			return Fact{Known: byName}.says("%s is configured under the runner's name: whether it is its host is yours to confirm", name)
		}
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

// namesake is the one configured host that is called as a runner of a GitHub, which names
// no machine; "" where there is none.
func (t *triage) namesake(r providers.Runner) string {
	if name := string(r.Name); t.github(r.Ref) && t.a.hasHost(name) {
		return name
	}
	return ""
}

func (t *triage) running(f facts) Fact {
	out := f.looked
	busy := ""
	if f.runner.Busy == witness.Yes && len(f.jobs) == 0 {
		busy = "the provider's word for it is busy; "
	}
	switch {
	case out.Known == couldNot:
		if busy != "" {
			out.Items = append(out.Items, busy+"which job it has is not known")
		}
		return out
	case out.Text != "": // not searched, and why
		return out
	case len(f.jobs) == 0:
		said := "no job was found"
		if f.partial != "" {
			said = "not known: no job was found, and not all was looked at (" + f.partial + ")"
		}
		return out.says("%s%s", busy, said)
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
	odd := ""
	if len(j.Flags) > 0 {
		odd = "; " + strings.Join(j.Flags, ", ")
	}
	return untrusted.Clean(fmt.Sprintf("job %s %q of %s, branch %s, by %s, %s, %s%s", j.Ref.ID, j.Name, j.Project, j.Branch, j.Actor, j.Status, started, odd), 400)
}

// github reports whether a runner's provider is a GitHub, where a few answers differ.
func (t *triage) github(ref target.Ref) bool { return t.a.cfg.Providers[ref.System].Type == "github" }

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
	case r.Ref.Scope.Level == "organization" || r.Ref.Scope.Level == "enterprise":
		out = out.says("the repositories that its runner group serves")
		if r.Group != "" {
			out.Items = append(out.Items, untrusted.Clean("its group: "+string(r.Group), 140))
		}
	default:
		out = Fact{Known: out.Known, At: out.At}
	}
	for _, k := range t.cases {
		if k.exposed != nil && k.about(ref) {
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
	out := Fact{Known: f.looked.Known, At: f.looked.At}
	if yes := f.runner.Paused == witness.Yes; yes {
		out = f.read
		return out.says("it is paused already")
	}
	switch n := len(f.managers); {
	case n == 0 && t.github(f.runner.Ref):
		out.Text = "GitHub has no pause: a group that serves nobody keeps new jobs from it, jobs that wait stay in the queue"
	case f.asked.Known == "not asked":
		out.Text = "new jobs on every machine that uses it, how many is not known"
	case n == 1:
		out.Text = "new jobs on its one machine"
	default:
		out.Text = fmt.Sprintf("new jobs on all %d machines at once", n)
	}
	switch {
	case f.looked.Known == couldNot:
		out.Text += "; what runs goes on to its end, and what runs is not known"
	case f.looked.Text != "":
		out.Text += "; what runs goes on to its end, and was not searched"
	case f.partial != "":
		out.Text += fmt.Sprintf("; what runs goes on to its end: %d jobs that were found, and there may be more", len(f.jobs))
	default:
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
	n, hub := 0, t.github(ref)
	var at time.Time
	for _, row := range t.rows.Rows {
		r := row.Runner
		if r.Ref.System != ref.System || r.Ref.IsZero() {
			continue
		}
		if seen := row.SeenAt["provider"]; at.IsZero() || seen.Before(at) {
			at = seen
		}
		if !r.Ref.Same(ref) && r.Online == witness.Yes && (r.Paused == witness.No || hub) {
			n++
		}
	}
	if at.IsZero() {
		return ""
	}
	s, left := fmt.Sprintf("%d other runners were online and not paused on the list", n), "; tags were not compared"
	if hub { // its list tells no pause: what a runner may take is its group's affair
		s, left = fmt.Sprintf("%d other runners were online on the list", n), "; whether they take the same jobs was not compared: that is their groups and labels"
	}
	if at.Before(t.card.At) {
		s += " of " + ago(t.card.At.Sub(at)) + " ago"
	}
	return s + left
}

func (t *triage) openCase(ref target.Ref) *keptCase {
	i := slices.IndexFunc(t.cases, func(k keptCase) bool { return k.open() && k.about(ref) })
	if i < 0 {
		return nil
	}
	return &t.cases[i]
}

// notice is what of the next steps the agent's host would see.
func (t *triage) notice(ref target.Ref) Fact {
	if t.github(ref) {
		return Fact{
			Text:  "another group or other labels: no, the agent is told nothing. Deleting it: yes, from version 2.336.0 the agent then wipes its own configuration, so collect first. A login on the host: yes",
			Known: "how GitHub and actions/runner work",
		}
	}
	return Fact{
		Text:  "a pause: no, the agent is told nothing. A new token: yes, the agent is refused and logs it. A login on the host: yes",
		Known: "how GitLab and gitlab-runner work",
	}
}
