// Package report retells a case in a few lines for people who were not there.
//
// It is a pure fold of a journal: no clock but the time that it is given, no disk beyond
// the View, and nothing that the journal does not say. All text that it returns is safe to show; unknown is never
// told as clean. It may import level 0, internal/casefile, internal/signing,
// internal/host/snapshot, internal/check and playbooks (to say how many steps there are).
package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/untrusted"
	"cordon/playbooks"
)

// Words that a state of the journal has in a brief.
const (
	contained = "contained"
	silent    = "silent"
	openWord  = "open"
	unknown   = "unknown"

	offboarding = "offboarding" // the kind of a case that retires a runner
	offboarded  = "offboarded"
)

// Lines is how many lines a brief has.
const Lines = 8

// oneRuns is the question of a verdict on a host alone (internal/watch).
const oneRuns = "does a runner agent run there"

// maxLine is the longest line in characters.
const maxLine = 200

// Brief tells a case in eight lines: what, contained or not, where it stands, what is
// unknown, what is open, what is next, who, and the head of the journal. The last line
// is what has to leave the machine: with it nobody can rewrite the journal unnoticed.
// What is owed by people is overdue as of now.
func Brief(v *casefile.View, now time.Time) []string {
	f := read(v, now)
	f.look(v)
	p, perr := playbooks.Parse(v.Opening.PlaybookName, v.Opening.Playbook)
	if len(v.Opening.Playbook) == 0 {
		p, perr = &playbooks.Playbook{}, nil
	}
	var at standing
	if perr == nil {
		at = f.stand(p)
	}
	out := []string{
		"WHAT      " + f.what(v),
		"STATE     " + f.state(),
		"STANDS    " + f.stands(p, perr, at),
		"UNKNOWN   " + f.unknowns(v),
		"OPEN      " + f.open(),
		"NEXT      " + f.next(v, perr, at),
		"WHO       " + f.who(),
		"HEAD      " + head(v),
	}
	for i := range out {
		out[i] = untrusted.Clean(out[i], maxLine)
	}
	return out
}

func (f *fold) what(v *casefile.View) string {
	about := f.about()
	if f.alone() {
		about = "no runner of ours"
	}
	hosts := "no host known"
	if len(f.hosts) > 0 {
		hosts = "on " + strings.Join(f.hosts, ", ")
	}
	s := fmt.Sprintf("case %s: %s, %s", v.ID, about, hosts)
	if v.Simulated {
		s = "SIMULATED " + s
	}
	return s
}

// about names the runners: all of them where they fit, and always how many they are.
func (f *fold) about() string {
	switch len(f.runners) {
	case 0:
		return "no runner"
	case 1:
		return f.runners[0].String()
	}
	var parts []string
	last, room := "", 120
	for i, r := range f.runners {
		where := strings.TrimSuffix(r.String(), r.ID)
		part := untrusted.Clean(r.ID, 60)
		if where != last {
			part = untrusted.Clean(where, 60) + part
			last = where
		}
		if room -= len(part) + 2; room < 0 {
			parts = append(parts, fmt.Sprintf("and %d more", len(f.runners)-i))
			break
		}
		parts = append(parts, part)
	}
	return fmt.Sprintf("%d runners: %s", len(f.runners), strings.Join(parts, ", "))
}

// goal is what the case is for: nobody contains a runner that is retired.
func (f *fold) goal() string {
	if f.retires {
		return "RETIRED"
	}
	return "CONTAINED"
}

// state is the word of the ending, or what the last verdict said so far. Everything
// that is not a final silence is told as not contained.
func (f *fold) state() string {
	var says []string
	for _, d := range f.verdict.Verdicts {
		says = append(says, d.Question+": "+d.State)
		if d.Question == oneRuns {
			says[len(says)-1] = d.Question + ": " + runs(d.State, d.Why)
		}
	}
	verdicts := strings.Join(says, "; ")
	switch {
	case (f.closed == contained || f.closed == offboarded) && !f.silentAtTheEnd():
		return "NOT SHOWN: closed as " + f.closed + ", and no final verdict of silence is in the journal"
	case f.stillRuns():
		return "NOT " + f.goal() + ": " + verdicts
	case !f.book && len(f.runners) == 0:
		return "READ ONLY, contains nothing: " + either(f.closed, "not ended")
	case f.falsely && f.closed == "":
		return fit(append([]string{"BEING STOOD DOWN, a false alarm"}, f.aftermath()...), maxLine-10)
	case f.falsely:
		return fit(append([]string{strings.ToUpper(f.closed) + ", a false alarm"}, f.aftermath()...), maxLine-10)
	case (f.closed == contained || f.closed == offboarded) && f.worse > 0:
		says[0] = "the runner alone is " + strings.ToUpper(f.closed) + ": " + says[0] // a silence, or it would not be here
		return fit(append([]string{"HOST NOT CLEAN: " + strings.Join(f.onHosts(), ", ")}, says...), maxLine-10)
	case f.closed != "":
		return strings.TrimSuffix(strings.ToUpper(f.closed)+": "+verdicts, ": ")
	case len(says) == 0 && f.alone():
		return "NOT " + f.goal() + " YET: whether a runner agent still runs there was not judged"
	case len(says) == 0:
		return "NOT " + f.goal() + " YET: whether it still polls was not judged"
	case f.verdict.Final:
		return "NOT CLOSED: " + verdicts
	}
	return "NOT " + f.goal() + " YET, so far: " + verdicts
}

// aftermath is what of a case that was stood down is as it was not before.
func (f *fold) aftermath() []string {
	var out []string
	for _, s := range []string{f.lasting(), f.inForce()} {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// stillRuns reports that a case about hosts alone ended with an agent that runs there.
func (f *fold) stillRuns() bool {
	return f.alone() && slices.Contains([]string{"polling", "knocking", "resurrected"}, f.closed)
}

// runs is the answer to oneRuns in words that say no more than the host did: a process
// that runs may be answered by nobody.
func runs(state, why string) string {
	word := map[string]string{silent: "no", "polling": "yes", "knocking": "yes", "resurrected": "yes, again"}[state]
	switch {
	case word == "":
		return state
	case why == "":
		return word
	}
	return word + ", " + why
}

func (f *fold) silentAtTheEnd() bool {
	return f.verdict.Final && len(f.verdict.Verdicts) > 0 && f.verdict.Verdicts[0].State == silent
}

func (f *fold) stands(p *playbooks.Playbook, perr error, at standing) string {
	switch {
	case perr != nil:
		return "its playbook is not understood by this version; the last step on record is " + either(f.now, "none")
	case len(p.Steps) == 0:
		return "no playbook: a read of a host"
	case at.n == 0:
		return fmt.Sprintf("all %d steps are over", len(p.Steps))
	case at.waits:
		return fmt.Sprintf("step %d/%d, %s: it waits for somebody, and so does the rest", at.n, len(p.Steps), at.title)
	case len(at.done) > 0:
		return fmt.Sprintf("step %d/%d, %s: %s took effect, the rest of the step is open", at.n, len(p.Steps), at.title, strings.Join(at.done, ", "))
	}
	return fmt.Sprintf("step %d/%d, %s", at.n, len(p.Steps), at.title)
}

func (f *fold) unknowns(v *casefile.View) string {
	var out []string
	add := func(n int, what string) {
		if n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, what))
		}
	}
	doubts := 0
	for _, state := range f.effects {
		if state == "" || state == unknown {
			doubts++
		}
	}
	judged := 0
	for _, d := range f.verdict.Verdicts {
		if d.State != silent && d.State != openWord && d.State != "polling" && d.State != "knocking" && d.State != "resurrected" {
			judged++
		}
	}
	add(doubts, "changes that may or may not have taken effect")
	add(judged, "questions without an answer")
	switch {
	case f.alone():
		if len(f.verdict.Verdicts) == 0 {
			out = append(out, "whether a runner agent runs there")
		}
		out = append(out, "whether the service of its runner still answers it: no account of ours asked")
	case len(f.verdict.Verdicts) == 0 && (f.book || len(f.runners) > 0):
		out = append(out, "whether it polls")
	}
	add(len(v.Gaps), "things could not be had")
	add(f.blind, "checks could not say")
	if len(f.hostsIn) == 0 {
		out = append(out, "no host was read")
	}
	if f.exposed != nil {
		add(len(f.exposed.Gaps), "gaps in the list of what it could reach")
	}
	add(f.strange, "lines not understood by this version")
	if len(v.Torn) > 0 {
		out = append(out, "a torn last line")
	}
	if len(out) == 0 {
		return "the journal records nothing as unknown"
	}
	return strings.Join(out, "; ")
}

func (f *fold) who() string {
	if f.writer.Actor == "" {
		return "nobody took it"
	}
	s := fmt.Sprintf("%s on %s since %s", f.writer.Actor, either(f.writer.Host, "an unnamed machine"), when(f.writer.T))
	if f.handed != "" {
		s = f.handed + "; before, " + s
	}
	for _, m := range f.owed() {
		s += "; " + m.says(f.asOf)
	}
	return s
}

// head is the sequence number and the first 16 hex digits of the head's digest.
func head(v *casefile.View) string {
	last := v.Lines[len(v.Lines)-1]
	digest := strings.TrimPrefix(v.Head, "sha256:")
	return fmt.Sprintf("line %d, %s, %s", last.Seq, digest[:min(16, len(digest))], when(last.T))
}

func when(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
