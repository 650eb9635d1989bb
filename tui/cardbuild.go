package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordon/internal/app"
	"cordon/internal/casefile"
	"cordon/internal/fleet"
	"cordon/internal/witness"
	"cordon/providers"
)

// build makes the lines of the card from what has been read so far.
func (p *runnerCard) build() []cardLine {
	var ls []cardLine
	ls = append(ls, p.identity()...)
	if p.runner.err != nil {
		return ls
	}
	ls = append(ls, p.jobLines()...)
	ls = append(ls, p.managerLines()...)
	ls = append(ls, p.hostLines()...)
	ls = append(ls, p.recordLines()...)
	ls = append(ls, head("baseline"), cardLine{id: "baseline", text: "no baseline kept yet: nothing says what this runner looked like when it was well", tone: "warn"})
	return append(ls, p.handLines()...)
}

func head(s string) cardLine { return cardLine{head: true, text: s} }

// unread is the line of a part that is not there: being read, or why it could not be.
func unread[T any](id string, x part[T]) []cardLine {
	switch {
	case !x.done:
		return []cardLine{{id: id + "?", text: "reading"}}
	case x.err != nil:
		return []cardLine{{id: id + "!", text: "could not be read: " + short(app.Hint(x.err)), tone: "bad"}}
	}
	return nil
}

// said is how a fact of the provider is known.
func (p *runnerCard) said() string {
	return "the provider said so " + age(p.now().Sub(p.runner.at)) + " ago"
}

func (p *runnerCard) identity() []cardLine {
	ls := []cardLine{head("runner")}
	if l := unread("runner", p.runner); l != nil {
		return append(ls, l...)
	}
	r := p.runner.v
	th := p.e.th
	name := short(string(r.Name))
	ls = append(ls, cardLine{
		id: "ref", text: r.Ref.String() + "  " + name, web: clean(r.Web), cmd: p.data.Command("contain", r.Ref.String()),
		more: []string{p.said()},
	})
	status := marked(th, or(short(r.Status), "?"))
	facts := []string{"paused " + triWord(r.Paused), "busy " + triWord(r.Busy)}
	if !r.LastContact.IsZero() {
		s := "last contact " + age(p.now().Sub(r.LastContact)) + " ago"
		if r.Clock == witness.ClockLagging {
			s += " (its service writes that down late)"
		}
		facts = append(facts, s)
	}
	ls = append(ls, cardLine{
		id: "status", tone: level[r.Status], text: "status " + status + ", " + strings.Join(facts, ", "),
		more: []string{"a status is what the service says, not what the machine does"},
	})
	owner := or(short(string(r.Owner)), "none")
	ls = append(ls, cardLine{id: "owner", text: "owner " + owner + ", scope " + short(scopeText(&r)) + shared(r)})
	ls = append(ls, cardLine{id: "labels", text: "labels " + or(short(labels(&r)), "none") + untagged(r)})
	if n := len(r.Projects); n > 0 {
		ls = append(ls, cardLine{id: "projects", text: fmt.Sprintf("projects that may use it (%d visible): %s", n, some(texts(r.Projects), 6))})
	}
	ls = append(ls, cardLine{id: "version", text: "version " + or(short(string(r.Version)), "?") + ", registered " + stamp(r.CreatedAt)})
	for i, w := range app.AgentWords(r, p.now()) {
		ls = append(ls, cardLine{id: fmt.Sprintf("agent/%d", i), tone: "warn", text: short(w)})
	}
	return ls
}

func shared(r providers.Runner) string {
	if r.Shared {
		return ", serves more than one project"
	}
	return ""
}

func untagged(r providers.Runner) string {
	switch r.Untagged {
	case witness.Yes:
		return "; takes untagged jobs"
	case witness.No:
		return "; takes no untagged jobs"
	}
	return ""
}

func (p *runnerCard) jobLines() []cardLine {
	ls := []cardLine{head("jobs")}
	if l := unread("jobs", p.jobs); l != nil {
		return append(ls, l...)
	}
	var running, ran []cardLine
	for _, j := range p.jobs.v.list {
		l := cardLine{
			id: "job/" + j.Ref.String(), web: clean(j.Web),
			text: fmt.Sprintf("%s  %s  %s@%s by %s", or(short(j.Status), "?"), short(string(j.Name)), short(string(j.Project)), short(string(j.Branch)), or(short(string(j.Actor)), "?")),
		}
		if live(j.Status) {
			l.tone, l.text = "warn", "now  "+l.text
			running = append(running, l)
			continue
		}
		if !j.StartedAt.IsZero() {
			l.text = stamp(j.StartedAt) + "  " + l.text
		}
		ran = append(ran, l)
	}
	if len(running) == 0 {
		ls = append(ls, cardLine{id: "job/none", text: "none that can be seen runs now"})
	}
	ls = append(ls, running...)
	since := "since " + stamp(p.jobs.v.since)
	if len(ran) == 0 {
		ls = append(ls, cardLine{id: "ran/none", text: "no other job seen " + since})
	} else {
		ls = append(ls, cardLine{id: "ran", text: fmt.Sprintf("%d others %s, the newest first", len(ran), since)})
	}
	ls = append(ls, ran...)
	if p.jobs.v.partial != "" {
		ls = append(ls, cardLine{id: "jobs/partial", tone: "warn", text: "not all of them: " + short(p.jobs.v.partial)})
	}
	return ls
}

// live reports whether a job of that status uses the runner now.
func live(status string) bool {
	return status == "running" || status == "canceling" || status == "in_progress"
}

func (p *runnerCard) managerLines() []cardLine {
	ls := []cardLine{head("managers: the processes that use the registration")}
	if l := unread("managers", p.managers); l != nil {
		return append(ls, l...)
	}
	for _, m := range p.managers.v {
		ls = append(ls, cardLine{
			id: "manager/" + m.Ref.String(), tone: level[m.Status],
			text: fmt.Sprintf("%s from %s  %s  version %s, last contact %s", or(short(string(m.SystemID)), "?"), or(short(string(m.Address)), "?"),
				marked(p.e.th, or(short(m.Status), "?")), or(short(string(m.Version)), "?"), stamp(m.LastContact)),
		})
	}
	if len(p.managers.v) == 0 {
		ls = append(ls, cardLine{id: "manager/none", text: "the provider knows of none"})
	}
	return ls
}

func (p *runnerCard) hostLines() []cardLine {
	ls := []cardLine{head("hosts and installations")}
	if p.managers.err != nil {
		return append(ls, cardLine{id: "hosts!", tone: "bad", text: "not known: the managers could not be read"})
	}
	if l := unread("hosts", p.hosts); l != nil {
		return append(ls, l...)
	}
	h := p.hosts.v
	if h.known && h.row.State != fleet.Agreed {
		ls = append(ls, cardLine{id: "state", tone: level[h.row.State], text: marked(p.e.th, h.row.State) + ": " + short(h.row.Why)})
	}
	for _, rec := range h.hosts {
		ls = append(ls, p.hostLine(rec))
		for _, in := range rec.Report.Installations {
			if string(in.RunnerID) == p.runner.v.Ref.ID || in.RunnerID == "" {
				ls = append(ls, installationLine(rec.Name, in))
			}
		}
		ls = append(ls, findingLines(p.e.th, rec, 5)...)
	}
	if len(h.hosts) == 0 {
		ls = append(ls, cardLine{id: "hosts/none", tone: "warn", text: "no configured host is known to be its host", more: nonEmpty(short(h.how))})
	} else if h.how != "" {
		ls = append(ls, cardLine{id: "hosts/how", text: "how that is known: " + short(h.how)})
	}
	return ls
}

func (p *runnerCard) hostLine(rec app.HostRecord) cardLine {
	name := rec.Name
	l := cardLine{
		id: "host/" + name, text: "host " + short(name) + ": " + lastCheck(rec, p.now()),
		cmd:  p.data.Command("host", "check", name),
		open: func() tea.Cmd { return push(newHostCardOf(p.e, p.data, p.now, name)) },
	}
	l.tone = "warn"
	if rec.Failed != nil {
		l.more = nonEmpty(failedRead(rec, p.now())+":", short(rec.Failed.Why))
	} else if rec.Read && rec.Report.Complete {
		l.tone = ""
	}
	return l
}

func (p *runnerCard) recordLines() []cardLine {
	ls := []cardLine{head("cases, and what it could reach")}
	if l := unread("record", p.record); l != nil {
		return append(ls, l...)
	}
	r := p.record.v
	if n := len(openOf(r.Cases)); n > 1 {
		ls = append(ls, cardLine{id: "cases", tone: "warn", text: fmt.Sprintf("%d cases are open about this runner, and each has half of the record: c asks which", n)})
	}
	for _, c := range r.Cases {
		state, open := "open, enter goes on with it", func() tea.Cmd { return resumeCase(p.e, c.ID) }
		if c.Closed {
			state, open = "closed", nil
		}
		ls = append(ls, cardLine{
			id: "case/" + c.ID, open: open, text: fmt.Sprintf("case %s, %s, last line %s ago", short(c.ID), state, age(p.now().Sub(c.Last))),
			cmd: p.data.Command("case", "show", c.ID),
		})
	}
	if r.Exposed == nil {
		return append(ls, cardLine{id: "exposed/none", tone: "warn", text: "what it could reach is not known: a case opens that list"})
	}
	ls = append(ls, cardLine{
		id: "exposed", text: fmt.Sprintf("%s (list of case %s, %s ago)", short(r.Exposed.Summary()), short(r.ExposedIn), age(p.now().Sub(r.ExposedAt))),
		cmd: p.data.Command("case", "show", r.ExposedIn),
	})
	for i, x := range r.Exposed.Entries {
		if i == 20 {
			ls = append(ls, cardLine{id: "exposed/more", text: fmt.Sprintf("and %d more", len(r.Exposed.Entries)-i)})
			break
		}
		state := "not replaced as far as known"
		tone := "warn"
		if !x.Replaced.IsZero() {
			state, tone = "replaced "+stamp(x.Replaced), ""
		}
		ls = append(ls, cardLine{id: fmt.Sprintf("exposed/%d", i), tone: tone, web: clean(x.Web), text: short(x.Kind + " " + x.Name + " (" + x.Where + "), " + state + ownedBy(x.Owner))})
	}
	for i, g := range r.Exposed.Gaps {
		ls = append(ls, cardLine{id: fmt.Sprintf("exposed/gap/%d", i), tone: "warn", text: "not known: " + short(g.Name) + ": " + short(g.Why)})
	}
	return append(ls, aroundLines(r.Exposed)...)
}

// openOf are the cases that are open.
func openOf(all []casefile.Summary) []casefile.Summary {
	return slices.DeleteFunc(slices.Clone(all), func(c casefile.Summary) bool { return c.Closed })
}

func (p *runnerCard) handLines() []cardLine {
	ls := []cardLine{head("by hand, without cordon")}
	if p.managers.err != nil && !p.hand.done {
		return append(ls, cardLine{id: "hand!", tone: "bad", text: "not planned: the managers could not be read"})
	}
	if l := unread("hand", p.hand); l != nil {
		ls = append(ls, l...)
	}
	for i, x := range p.hand.v {
		ls = append(ls, cardLine{
			id: fmt.Sprintf("hand/%d", i), text: short(strings.TrimSuffix(strings.TrimSpace(x.Title), ":")), web: clean(x.URL), cmd: clean(x.Command),
			more: nonEmpty(short(x.URL), short(x.Command)),
		})
	}
	return ls
}
