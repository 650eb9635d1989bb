package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/playbooks"
	"cordon/providers"
)

// Ending is how a run ended, in one word for people and one code for scripts.
type Ending struct {
	Word  string   // contained, knocking, polling, resurrected, refused, unknown, "cannot tell", open, "dry run"
	Exit  int      // by the design's table
	Notes []string // what a reader must know beside the word
	Open  []string // what the word does not cover: credentials, other agents, findings
}

// Line is the ending on one line.
func (e Ending) Line() string {
	s := fmt.Sprintf("%s (exit %d)", e.Word, e.Exit)
	if len(e.Open) > 0 {
		s += "; open: " + strings.Join(e.Open, ", ")
	}
	return s
}

// Exit codes of cordon (design, "Command line").
const (
	ExitDone       = 0
	ExitFailed     = 1
	ExitUsage      = 2
	ExitFindings   = 3
	ExitCannotTell = 4
	ExitPolls      = 5
	ExitNeeds      = 6
	ExitHeld       = 7
	ExitIntegrity  = 8
)

// Contained is the word of an ending with nothing against it, DryRun that of a run
// that could only show its plans and showed all of them.
const (
	Contained = "contained"
	DryRun    = "dry run"
)

// KindOffboarding is the kind of a case that retires a runner (casefile.Opening.Kind),
// Offboarded the word for Contained in it.
const (
	KindOffboarding = "offboarding"
	Offboarded      = "offboarded"
)

// finished is the prompt of a run that is over. The close line is written once.
func (r *Run) finished() (Prompt, error) {
	e := r.ending()
	if !r.st.closed {
		err := r.append(casefile.Event{Kind: "close", OK: e.Exit == ExitDone, Msg: e.Word, Data: encode(e)})
		if err != nil {
			return Prompt{}, err
		}
		if r.o.Signer != nil {
			if err := r.o.Journal.SignHead(r.o.Signer); err != nil {
				e.Notes = append(e.Notes, "head not signed: "+err.Error())
			}
		}
	}
	var vs []witness.Verdict
	for _, t := range slices.Concat(r.o.Runners, r.o.Hosts) {
		vs = append(vs, r.st.verdicts[t]...)
	}
	return Prompt{Kind: Finished, Text: e.Word, Ending: &e, Verdicts: vs, Exposed: r.st.exposed, Target: r.o.Runner}, nil
}

// ending weighs the run. Of several runners the worst decides.
func (r *Run) ending() Ending {
	if r.st.standDown != "" {
		return r.stoodDown()
	}
	e := Ending{Word: Contained, Exit: ExitDone}
	switch {
	case r.o.Issuer == nil && r.unplanned == 0:
		e.Word = DryRun
	case r.o.Issuer == nil:
		e = Ending{Word: "cannot tell", Exit: ExitCannotTell, Notes: []string{fmt.Sprintf("%d plans could not be made", r.unplanned)}}
	default:
		worst := -1
		var notes []string
		of, about := r.endingOf, r.o.Runners
		if len(about) == 0 {
			of, about = r.endingOfHost, r.o.Hosts
		}
		for _, t := range about {
			x, bad := of(t)
			if len(about) > 1 {
				notes = append(notes, t.Short()+": "+x.Word)
			}
			notes = append(notes, x.Notes...)
			if bad > worst {
				e, worst = x, bad
			}
		}
		e.Notes = notes
		e = r.straysEnd(e)
	}
	e.Notes = append(r.notes(), e.Notes...)
	if r.o.Issuer != nil {
		onHosts := r.onHosts()
		if len(onHosts) > 0 && e.Exit == ExitDone {
			e.Notes = append([]string{fmt.Sprintf("THE RUNNER ALONE is %s, its host is not clean: %s: isolate it, and rebuild it", e.Word, strings.Join(onHosts, ", "))}, e.Notes...)
		}
		e.Open = append(onHosts, r.uncovered()...)
		e.Notes = append(e.Notes, r.endable()...)
	}
	return e
}

// endable names the playbook that ends at the service what a runner could reach, where its
// service has that and something is open: it works on a runner that was removed, too.
func (r *Run) endable() []string {
	if r.st.exposed == nil || slices.ContainsFunc(r.o.Playbook.Steps, func(s playbooks.Step) bool {
		return slices.ContainsFunc(s.Acts, func(a playbooks.Act) bool { return a.Verb == providers.Revoke })
	}) {
		return nil
	}
	open := func(c providers.Credential) bool {
		return c.Kind != "job-token" && c.Replaced.IsZero() && c.Dead.IsZero()
	}
	if !slices.ContainsFunc(r.st.exposed.Entries, open) {
		return nil
	}
	var out []string
	for _, t := range r.o.Runners {
		if _, ok := r.provider(t).(providers.Rememberer); ok {
			out = append(out, fmt.Sprintf("what can be ended at %s of that it could reach: cordon contain %s --playbook credentials; also now that the runner may be gone", t.System, t))
		}
	}
	return out
}

// uncovered is what stays to be done elsewhere when the runner itself is silent.
func (r *Run) uncovered() []string {
	var out []string
	for _, t := range r.o.Runners {
		for _, v := range r.st.verdicts[t] {
			if v.State == witness.Open && !slices.Contains(out, v.Question) {
				out = append(out, v.Question)
			}
		}
	}
	if x := r.st.exposed; x != nil && len(out) > 0 && len(x.Gaps) > 0 {
		out = append(out, fmt.Sprintf("and %d gaps in the list of it", len(x.Gaps)))
	}
	return append(out, r.others()...)
}

// endingOf weighs one runner: what still polls first, then what failed, then what is
// not known. "contained" is what is left. bad orders endings.
func (r *Run) endingOf(runner target.Ref) (e Ending, bad int) {
	poll := witness.Verdict{State: witness.CannotTell}
	if vs := r.st.verdicts[runner]; len(vs) > 0 && r.st.final[runner] {
		poll = vs[0]
	}
	dereg := r.endOf(providers.Deregister, runner)
	for _, o := range poll.Against {
		if o.Source == witness.HostProcess && o.Exists == witness.Yes && slices.Contains(dereg, Done) && o.Subject.Kind == target.Host {
			e.Notes = append(e.Notes, "DEREGISTERED, STILL RUNNING on "+o.Subject.Short())
		}
	}
	end := func(word string, exit, bad int, notes ...string) (Ending, int) {
		return Ending{Word: word, Exit: exit, Notes: append(e.Notes, notes...)}, bad
	}
	switch {
	case rank(poll.State) >= rank(witness.Knocking):
		return end(poll.State, ExitPolls, 10+rank(poll.State))
	case slices.Contains(dereg, RefusedBy):
		return end("refused", ExitFailed, 9)
	case slices.Contains(dereg, Skipped) && poll.State != witness.Silent: // silent: somebody removed it by hand, the provider says so
		return end("open", ExitFailed, 8, "the registration was left in place")
	case len(r.st.doubts) > 0:
		return end("unknown", ExitCannotTell, 7)
	case poll.State != witness.Silent:
		if poll.Why != "" {
			return end("cannot tell", ExitCannotTell, 6, poll.Why)
		}
		return end("cannot tell", ExitCannotTell, 6)
	}
	if n := r.leftOut(runner); n > 0 {
		return end("open", ExitFailed, 5, fmt.Sprintf("%d things that people had to do were skipped", n))
	}
	if r.kind == KindOffboarding {
		return end(Offboarded, ExitDone, 0)
	}
	return end(Contained, ExitDone, 0)
}

func (r *Run) notes() []string {
	n := r.glassNotes()
	for _, a := range r.st.alarms {
		n = append(n, a.Word+": "+a.Says)
	}
	for _, s := range r.st.settled {
		n = append(n, "was unknown, settled: "+s)
	}
	for _, d := range r.st.doubts {
		n = append(n, "unknown: "+d.change.ID+": "+d.why)
	}
	for _, t := range r.book {
		end := r.st.end[t.key()]
		if end == InDoubt && r.st.cleared[t.key()] || end == Skipped && r.o.Issuer == nil {
			continue // settled later, and said above; or nothing could be but skipped
		}
		if end == Done && r.partly(t) {
			n = append(n, fmt.Sprintf("%s %s: %s", t.do().Verb, t.on.Short(), strings.TrimSpace(r.st.why[t.key()])))
		}
		switch end {
		case Skipped, RefusedBy, Unreached, InDoubt:
			what := t.do().Verb
			if what == "" {
				what = t.do().Do
			}
			n = append(n, fmt.Sprintf("%s %s: %s: %s", what, t.on.Short(), end, strings.TrimSpace(r.st.why[t.key()])))
		}
	}
	n = append(n, r.leftOver()...)
	for _, o := range r.others() {
		n = append(n, "open: "+o)
	}
	if x := r.st.exposed; x != nil {
		n = append(n, x.Summary())
	}
	return n
}

// others are the agents beside the case's that a host of it still ran when it was looked
// at last, and what was found there that no list of ours has: not this runner, and not
// done with.
func (r *Run) others() []string {
	last := map[string]time.Time{}
	var seen []witness.Observation
	for _, t := range r.book { // in an order that is the same each time
		seen = append(seen, r.st.seen[t.key()]...)
	}
	for _, o := range seen {
		if o.Subject.Kind == target.Host && o.At.After(last[o.Subject.ID]) {
			last[o.Subject.ID] = o.At
		}
	}
	out, told := r.openStrays()
	for _, o := range seen {
		_, tail, _ := strings.Cut(o.Says, ", from ")
		if o.Subject.Kind == target.Installation && o.At.Equal(last[o.Subject.Scope.Path]) && !slices.Contains(out, o.Says) && !told[from(tail)] {
			out = append(out, o.Says)
		}
	}
	return out
}

// reach answers the other two lines of the final verdict. Silence alone is not the
// end: what the runner could read keeps working until somebody replaced it.
func (r *Run) reach(poll witness.Verdict) []witness.Verdict {
	mk := func(q string, kinds func(providers.Credential) bool) witness.Verdict {
		v := witness.Verdict{Question: q, From: poll.From, Until: poll.Until, Needs: poll.Needs, State: witness.CannotTell}
		if poll.State != witness.Silent {
			v.Why = "first it has to be silent"
			return v
		}
		if r.st.exposed == nil {
			v.Why = "no exposure list was opened"
			return v
		}
		open := 0
		for _, c := range r.st.exposed.Entries {
			if kinds(c) && c.Dead.IsZero() && c.Replaced.IsZero() {
				open++
			}
		}
		if open > 0 {
			v.State, v.Why = witness.Open, fmt.Sprintf("%d credentials it could reach are not known to be replaced", open)
			return v
		}
		if len(r.st.exposed.Gaps) > 0 {
			v.Why = fmt.Sprintf("the exposure list has %d gaps", len(r.st.exposed.Gaps))
			return v
		}
		v.State, v.Why = witness.Silent, "every credential on the exposure list is replaced"
		return v
	}
	deploy := func(c providers.Credential) bool { return c.Deploys }
	return []witness.Verdict{
		mk("can it fetch secrets", func(c providers.Credential) bool { return !deploy(c) && c.Kind != "job-token" }),
		mk("can it deploy", deploy),
	}
}
