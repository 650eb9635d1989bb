package watch

import (
	"fmt"
	"slices"

	"cordon/internal/target"
	"cordon/internal/witness"
)

// DoesOneRun is the question JudgeHost answers.
const DoesOneRun = "does a runner agent run there"

// JudgeHost weighs what was seen of the one host of w, in a case that has no runner of
// ours: there is no provider to ask, so that all of it is the host's own word. Any agent
// counts, also one that is not the configured unit's.
func JudgeHost(w Window, seen []witness.Observation) witness.Verdict {
	seen = slices.Clone(seen)
	slices.SortStableFunc(seen, func(a, b witness.Observation) int { return a.At.Compare(b.At) })
	v := witness.Verdict{Question: DoesOneRun, From: w.From, Until: w.Now, Needs: w.Needs}
	j := judged{w: w, v: &v}
	for _, h := range w.Hosts {
		j.host(h, seen)
		j.egress(h, seen)
		j.beside(h, seen)
	}
	v.Missing = append(j.lacks, j.aside...)
	v.State, v.Why = j.state()
	switch {
	case v.State == witness.CannotTell && j.runs && len(j.lacks) == 0:
		v.State, v.Why = witness.Polling, "a runner agent still runs there: whether it is answered is not known here"
	case v.State == witness.Silent:
		v.Why = fmt.Sprintf("no runner agent runs there, by the host's own word alone, over %s", w.Needs)
	}
	return v
}

// beside counts the agents of the last look that are not the configured unit's.
func (j *judged) beside(h target.Ref, seen []witness.Observation) {
	for _, o := range j.others(h, seen) {
		j.runs = true
		j.against(o)
	}
}

// strays counts those of them that no list of ours has: the runner itself may be silent,
// and the machine is in somebody else's hands still.
func (j *judged) strays(h target.Ref, seen []witness.Observation) {
	if j.w.Stray == nil {
		return
	}
	for _, o := range j.others(h, seen) {
		if j.w.Stray(o) {
			j.stray = o.Says
			j.against(o)
		}
	}
}

// others are the agents of the last look at a host that are not the configured unit's.
func (j *judged) others(h target.Ref, seen []witness.Observation) (out []witness.Observation) {
	var last witness.Observation
	for _, o := range seen {
		if o.Subject == h && o.Source == witness.HostProcess && !o.At.Before(last.At) {
			last = o
		}
	}
	for _, o := range seen {
		if o.Subject.Kind == target.Installation && o.Subject.Scope.Path == h.ID && o.Exists == witness.Yes && o.At.Equal(last.At) && !o.At.Before(j.w.From) {
			out = append(out, o)
		}
	}
	return out
}
