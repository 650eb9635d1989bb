package engine

import (
	"fmt"
	"strings"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/providers"
)

// Ending is how a run ended, in one word for people and one code for scripts.
type Ending struct {
	Word  string   // contained, knocking, polling, resurrected, refused, unknown, "cannot tell", open, "dry run"
	Exit  int      // by the design's table
	Notes []string // what a reader must know beside the word
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
	return Prompt{Kind: Finished, Text: e.Word, Ending: &e, Verdicts: r.st.verdicts, Exposed: r.st.exposed, Target: r.o.Runner}, nil
}

// ending weighs the run: what still polls first, then what failed, then what is not
// known. "contained" is what is left.
func (r *Run) ending() Ending {
	e := Ending{Word: Contained, Exit: ExitDone, Notes: r.notes()}
	poll := witness.Verdict{State: witness.CannotTell}
	if len(r.st.verdicts) > 0 && r.st.final {
		poll = r.st.verdicts[0]
	}
	dereg := r.endOf(providers.Deregister)
	has := func(end string) bool {
		for _, d := range dereg {
			if d == end {
				return true
			}
		}
		return false
	}
	switch {
	case r.o.Issuer == nil && r.unplanned == 0:
		e.Word = DryRun
	case r.o.Issuer == nil:
		e.Word, e.Exit = "cannot tell", ExitCannotTell
		e.Notes = append(e.Notes, fmt.Sprintf("%d plans could not be made", r.unplanned))
	case poll.State == witness.Resurrected || poll.State == witness.Polling || poll.State == witness.Knocking:
		e.Word, e.Exit = poll.State, ExitPolls
	case has(RefusedBy):
		e.Word, e.Exit = "refused", ExitFailed
	case has(Skipped):
		e.Word, e.Exit = "open", ExitFailed
		e.Notes = append(e.Notes, "the registration was left in place")
	case len(r.st.doubts) > 0:
		e.Word, e.Exit = "unknown", ExitCannotTell
	case poll.State != witness.Silent:
		e.Word, e.Exit = "cannot tell", ExitCannotTell
		if poll.Why != "" {
			e.Notes = append(e.Notes, poll.Why)
		}
	}
	return e
}

func (r *Run) notes() []string {
	var n []string
	for _, s := range r.st.settled {
		n = append(n, "was unknown, settled: "+s)
	}
	for _, d := range r.st.doubts {
		n = append(n, "unknown: "+d.change.ID+": "+d.why)
	}
	for _, t := range r.tasks {
		end := r.st.end[t.key()]
		if end == InDoubt && r.st.cleared[t.key()] || end == Skipped && r.o.Issuer == nil {
			continue // settled later, and said above; or nothing could be but skipped
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
	for _, o := range r.others() {
		n = append(n, "open: "+o)
	}
	if x := r.st.exposed; x != nil {
		n = append(n, x.Summary())
	}
	return n
}

// others are the agents of other kinds that a host of the case still ran when it was
// looked at last: not this runner, and not gone.
func (r *Run) others() []string {
	last := map[string]time.Time{}
	for _, o := range r.st.seen {
		if o.Subject.Kind == target.Host && o.At.After(last[o.Subject.ID]) {
			last[o.Subject.ID] = o.At
		}
	}
	var out []string
	for _, o := range r.st.seen {
		if o.Subject.Kind == target.Installation && o.At.Equal(last[o.Subject.Scope.Path]) {
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
	deploy := func(c providers.Credential) bool { return c.Kind == "deploy-key" || c.Deploys }
	return []witness.Verdict{
		mk("can it fetch secrets", func(c providers.Credential) bool { return !deploy(c) && c.Kind != "job-token" }),
		mk("can it deploy", deploy),
	}
}
