package engine

import (
	"time"

	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/providers"
)

// GoneFromHost is the ending of a case about hosts alone, in which no runner agent runs
// any more. It says nothing about a registration: nobody here could ask.
const GoneFromHost = "gone from this host"

// hostSilence is how long a host alone is watched: nothing is known of the service that
// its agents ask, so that it is what GitHub's need, the longest of those that are not
// told by the service (providers/github).
var hostSilence = providers.Silence{
	Needs: 15 * time.Minute,
	Why:   "the host alone is asked: an agent that is ended comes back within minutes where a loop, a timer or a second copy starts it",
}

// endingOfHost weighs one host of a case that has no runner of ours.
func (r *Run) endingOfHost(host target.Ref) (e Ending, bad int) {
	v := witness.Verdict{State: witness.CannotTell}
	if vs := r.st.verdicts[host]; len(vs) > 0 && r.st.final[host] {
		v = vs[0]
	}
	var notes []string
	if v.Why != "" {
		notes = []string{v.Why}
	}
	switch {
	case rank(v.State) >= rank(witness.Knocking):
		return Ending{Word: v.State, Exit: ExitPolls, Notes: notes}, 10 + rank(v.State)
	case len(r.st.doubts) > 0:
		return Ending{Word: "unknown", Exit: ExitCannotTell}, 7
	case v.State != witness.Silent:
		return Ending{Word: "cannot tell", Exit: ExitCannotTell, Notes: notes}, 6
	}
	return Ending{Word: GoneFromHost, Exit: ExitDone}, 0
}
