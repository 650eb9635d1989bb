package tui

import (
	"fmt"
	"strings"
	"time"

	"cordon/internal/app"
	"cordon/internal/check"
	"cordon/internal/untrusted"
)

// build makes the lines of the card.
func (p *hostCard) build() []cardLine {
	ls := []cardLine{head("host")}
	if l := unread("host", p.rec); l != nil {
		return append(ls, l...)
	}
	r := p.rec.v
	cmd := p.data.Command("host", "check", p.name)
	if r.Configured {
		ls = append(ls, cardLine{id: "host", text: fmt.Sprintf("%s at %s, as %s, unit %s", short(r.Name), short(r.Address), or(short(r.User), "whoever runs cordon"), or(short(r.Unit), "gitlab-runner.service")), cmd: cmd})
	} else {
		ls = append(ls, cardLine{id: "host", tone: "warn", text: short(r.Name) + " is not in the configuration: cordon cannot reach it"})
	}
	if p.look.Transport != "" {
		ls = append(ls, cardLine{id: "reach", text: "a read " + app.ReachOf(p.look).Does, more: lookFacts(p.look, true)})
	}
	switch {
	case p.running:
		far := "it has not answered yet"
		if p.reads != nil {
			far = howFar(p.reads)
		}
		ls = append(ls, cardLine{id: "running", tone: "warn", text: "being read since " + p.since.UTC().Format("15:04:05Z") + ": " + far})
	case p.failed != nil:
		ls = append(ls, cardLine{id: "failed", tone: "bad", text: "the last check failed: " + short(app.Hint(p.failed)), cmd: cmd})
	}
	ls = append(ls, head("last check"))
	ls = append(ls, cardLine{id: "check", tone: checkTone(r), text: lastCheck(r, p.now()), cmd: cmd})
	if f := r.Failed; f != nil {
		ls = append(ls, cardLine{
			id: "newer", tone: "bad", text: failedRead(r, p.now()), cmd: p.data.Command("case", "show", f.Case),
			more: nonEmpty(short(f.Why), "kept in case "+short(f.Case)),
		})
	}
	if !r.Read {
		return append(ls, head("baseline"), noBaseline())
	}
	id := r.Report.Ident
	ls = append(ls,
		cardLine{id: "case", text: "kept in case " + short(r.Report.Case), cmd: p.data.Command("case", "show", r.Report.Case)},
		cardLine{
			id: "ident", text: fmt.Sprintf("it calls itself %s, %s, kernel %s, up since %s", or(short(string(id.Hostname)), "?"), or(short(string(id.OS)), "?"), or(short(string(id.Kernel)), "?"), stamp(id.BootTime)),
			more: []string{"all of this is as told by the host: whoever has root there can make it say anything"},
		},
		head("installations"),
	)
	for _, in := range r.Report.Installations {
		ls = append(ls, installationLine(r.Name, in))
	}
	if len(r.Report.Installations) == 0 {
		ls = append(ls, cardLine{id: "install/none", text: "none found"})
	}
	ls = append(ls, head("findings"))
	ls = append(ls, findingLines(p.e.th, r, 0)...)
	ls = append(ls, gapLines(r)...)
	return append(ls, head("baseline"), noBaseline())
}

func noBaseline() cardLine {
	return cardLine{id: "baseline", tone: "warn", text: "no baseline kept yet: what is new on this host cannot be told from what was always there"}
}

// lastCheck says how old the last read is and what it is worth.
func lastCheck(r app.HostRecord, now time.Time) string {
	switch {
	case !r.Read && !r.Configured:
		return "never checked, and not configured"
	case !r.Read && r.Failed != nil:
		return "never read: it was tried from here"
	case !r.Read:
		return "never checked from here"
	}
	s := "checked " + age(now.Sub(r.Taken)) + " ago"
	if !r.Report.Complete {
		s += ", not read to the end: what is absent means nothing"
	}
	if w := check.Worst(r.Report.Results); w != "" {
		s += ", worst finding " + string(w)
	} else if len(check.Unknown(r.Report.Results)) == 0 {
		s += ", nothing found"
	}
	return s
}

// failedRead says that a read failed which is newer than what is shown.
func failedRead(r app.HostRecord, now time.Time) string {
	when := fmt.Sprintf("%s ago, at %s", age(now.Sub(r.Failed.At)), stamp(r.Failed.At))
	if !r.Read {
		return "a read failed " + when
	}
	return "a NEWER READ FAILED " + when + "; what follows is older than that"
}

func checkTone(r app.HostRecord) string {
	switch w := check.Worst(r.Report.Results); {
	case !r.Read || !r.Report.Complete:
		return "warn"
	case w.AtLeast(check.High):
		return "bad"
	case w.AtLeast(check.Medium), r.Failed != nil:
		return "warn"
	}
	return ""
}

func installationLine(host string, in check.Installation) cardLine {
	l := cardLine{
		id:   "install/" + host + "/" + string(in.Root) + "/" + string(in.RunnerID),
		text: short(fmt.Sprintf("%s at %s for %s, runner %s", in.Kind, in.Root, or(string(in.URL), "?"), or(string(in.RunnerID), "?"))),
	}
	var facts []string
	add := func(name, v string) {
		if v != "" {
			facts = append(facts, name+" "+short(v))
		}
	}
	add("name", string(in.Name))
	add("system id", in.SystemID)
	add("executor", string(in.Executor))
	add("unit", in.Unit)
	if len(in.PIDs) > 0 {
		facts = append(facts, fmt.Sprintf("processes %v", in.PIDs))
	} else {
		facts = append(facts, "no process of it ran")
	}
	l.more = []string{strings.Join(facts, ", ")}
	if in.Unexpected != "" {
		l.tone = "warn"
		l.more = append(l.more, "unexpected: "+short(in.Unexpected))
	}
	for _, x := range in.Problems {
		l.more = append(l.more, "could not be read: "+short(x))
	}
	return l
}

// findingLines are the findings, the worst first; most 0: all. What a check could not
// look at comes after them and is never left out.
func findingLines(th Theme, r app.HostRecord, most int) []cardLine {
	if !r.Read {
		return nil
	}
	var ls []cardLine
	all := check.AtLeast(r.Report.Results, check.Info)
	for i, f := range all {
		if most > 0 && i == most {
			ls = append(ls, cardLine{id: "finding/" + r.Name + "/more", text: fmt.Sprintf("%d more findings: enter on the host", len(all)-i)})
			break
		}
		word := string(f.Severity)
		lv := level[word]
		l := cardLine{
			id: fmt.Sprintf("finding/%s/%d", r.Name, i), tone: lv,
			text: marked(th, word) + "  " + short(f.Title),
			more: nonEmpty(short(string(f.Where)), short(string(f.Detail))),
		}
		l.evidence = append(l.evidence, "check "+f.Check+" of "+r.Name+", read "+stamp(r.Taken), "kept as host/"+r.Name+"/snapshot.json in case "+short(r.Report.Case))
		for _, x := range f.Evidence {
			l.evidence = append(l.evidence, short(x))
		}
		l.evidence = append(l.evidence, l.more...)
		if len(f.Attack) > 0 {
			l.evidence = append(l.evidence, "ATT&CK "+short(strings.Join(f.Attack, ", ")))
		}
		if len(f.NIST) > 0 {
			l.evidence = append(l.evidence, "NIST SP 800-53 "+short(strings.Join(f.NIST, ", ")))
		}
		ls = append(ls, l)
	}
	for _, x := range check.Unknown(r.Report.Results) {
		ls = append(ls, cardLine{id: "blind/" + r.Name + "/" + x.Check, tone: "warn", text: fmt.Sprintf("%s %s  %s: %s", th.Glyph("warn"), x.State, x.Check, short(x.Why))})
	}
	if len(ls) == 0 {
		ls = append(ls, cardLine{id: "finding/" + r.Name + "/none", text: "nothing found, and every check could look"})
	}
	return ls
}

func gapLines(r app.HostRecord) []cardLine {
	var ls []cardLine
	for i, g := range r.Report.Gaps {
		ls = append(ls, cardLine{id: fmt.Sprintf("gap/%d", i), tone: "warn", text: "could not have " + short(g.Name) + ": " + short(g.Why)})
	}
	return ls
}

// stamp is a time in UTC, "?" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return "?"
	}
	return t.UTC().Format("2006-01-02 15:04Z")
}

// some joins the first n of a list and says how many more there are.
func some(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:n], ", "), len(list)-n)
}

func texts(in []untrusted.Text) []string {
	out := make([]string, len(in))
	for i, x := range in {
		out[i] = short(string(x))
	}
	return out
}

func nonEmpty(in ...string) []string {
	var out []string
	for _, s := range in {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}
