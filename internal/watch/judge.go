// Package watch decides whether a contained runner is silent.
//
// Judge is a pure function of observations over a window: independent witnesses
// for, against and missing. Provider and host are two witnesses; everything that a
// host says, by process table, socket or log, is one, and it is the attacker's.
// Silence before the window is over is "waiting", never "silent". The package may
// import levels 0–3 and no concrete provider.
package watch

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"cordon/internal/target"
	"cordon/internal/witness"
)

// CanItPoll is the question Judge answers; the other two lines of the final verdict
// are answered from the exposure list.
const CanItPoll = "can it poll"

// Window is what is watched, from when, and for how long it has to be quiet.
type Window struct {
	Runner target.Ref
	Hosts  []target.Ref // every host that is known to use the registration
	NotIts []string     // why a host that was named is another runner's and no witness, one each
	From   time.Time    // when the last containing change was read back
	Needs  time.Duration
	Now    time.Time
	Passed time.Duration // since From, by clocks that nobody can set; Now alone proves nothing

	// Stray reports whether an agent that was seen beside the runner's own is one that no
	// list of ours has: planted, by all that is known. nil: none is.
	Stray func(witness.Observation) bool
}

// Judge weighs what was seen in w. Observations may come in any order; those from
// before From only serve as the state to compare with.
func Judge(w Window, seen []witness.Observation) witness.Verdict {
	seen = slices.Clone(seen)
	slices.SortStableFunc(seen, func(a, b witness.Observation) int { return a.At.Compare(b.At) })
	v := witness.Verdict{Question: CanItPoll, From: w.From, Until: w.Now, Needs: w.Needs}

	j := judged{w: w, v: &v}
	j.provider(seen)
	for _, h := range w.Hosts {
		j.host(h, seen)
		j.egress(h, seen)
		j.strays(h, seen)
	}
	for _, why := range w.NotIts {
		if len(w.Hosts) == 0 {
			j.missing("%s: it is no witness of this runner", why)
		} else {
			j.beyond("%s: it is no witness of this runner", why)
		}
	}
	if len(w.Hosts)+len(w.NotIts) == 0 {
		j.missing("no host is known for this runner: only the provider can speak")
	}
	v.Missing = append(j.lacks, j.aside...)
	v.State, v.Why = j.state()
	return v
}

type judged struct {
	w    Window
	v    *witness.Verdict
	came struct{ back, accepted, knocking, called bool } // what was seen against silence
	runs bool                                            // an agent process still runs: quiet now is not silent

	stray string   // an agent that is in no list of ours runs there still, as it was seen last
	lacks []string // witnesses that silence needs
	aside []string // what nobody can be made to say here: told, and no verdict waits for it
}

func (j *judged) against(o witness.Observation) { j.v.Against = append(j.v.Against, o) }
func (j *judged) pro(o witness.Observation)     { j.v.For = append(j.v.For, o) }
func (j *judged) missing(format string, a ...any) {
	j.lacks = append(j.lacks, fmt.Sprintf(format, a...))
}

func (j *judged) beyond(format string, a ...any) {
	if s := fmt.Sprintf(format, a...); !slices.Contains(j.aside, s) {
		j.aside = append(j.aside, s)
	}
}

// provider weighs what the provider says: the last word on the registration, and
// every word on the machine having come back.
func (j *judged) provider(seen []witness.Observation) {
	var last, returned *witness.Observation
	logs := map[string]witness.Observation{} // the last word of each audit log
	brief := ""
	for i, o := range seen {
		if o.Source.Independent() != "provider" || o.At.Before(j.w.From) {
			continue
		}
		contact := o.Polling == witness.Yes && o.LastContact.After(j.w.From)
		j.came.accepted = j.came.accepted || contact
		j.came.back = j.came.back || o.Returned == witness.Yes
		if contact || o.Returned == witness.Yes {
			j.against(o)
		}
		switch {
		case o.Source == witness.ProviderAudit:
			// Its log speaks only of what it has: it is late, and most plans lack it. What it
			// does not say is no word on the registration.
			logs[o.Place] = o
		case o.Brief != "":
			brief = o.Brief
		case o.Returned != witness.Unknown || o.CouldNot != "" && o.Subject != j.w.Runner:
			returned = &seen[i]
		default:
			last = &seen[i]
		}
	}
	switch {
	case last == nil:
		j.missing("the provider was not asked in this window")
	case last.CouldNot != "":
		j.missing("provider: %s", last.CouldNot)
	case last.Exists == witness.No:
		j.pro(*last)
	case last.Exists == witness.Yes:
		j.against(*last)
	default:
		j.missing("provider: it could not be seen whether the registration is there")
	}
	if returned == nil && brief != "" {
		j.missing("another registration: looked for in part; %s", brief)
	} else if returned == nil {
		j.missing("it was not looked for under another registration")
	} else if returned.CouldNot != "" {
		j.missing("another registration: %s", returned.CouldNot)
	} else if returned.Returned == witness.No {
		j.pro(*returned)
	}
	if returned != nil && returned.Exists == witness.Yes && last != nil && last.Exists == witness.No {
		j.missing("provider: it is gone by its number and in the list of runners all the same")
	}
	if returned != nil && returned.Except != "" {
		j.beyond("another registration: not looked at: %s", returned.Except)
	}
	for _, at := range slices.Sorted(maps.Keys(logs)) {
		if o := logs[at]; o.CouldNot != "" {
			j.beyond("%s", o.CouldNot)
		} else if o.Except != "" {
			j.beyond("%s", o.Except)
		}
	}
}

// host weighs one host. Its log is compared between two looks by the host's own
// clock, so that a wrong clock there cannot hide or invent a knock.
func (j *judged) host(h target.Ref, seen []witness.Observation) {
	looks := map[witness.Source][]witness.Observation{}
	var lost string
	for _, o := range seen {
		if o.Subject != h || o.Source.Independent() != "host" || o.At.Before(j.w.From) {
			continue
		}
		if o.CouldNot != "" {
			lost = o.CouldNot
			continue
		}
		lost = ""
		looks[o.Source] = append(looks[o.Source], o)
	}
	if lost != "" || len(looks) == 0 {
		if lost == "" {
			lost = "not looked at in this window"
		}
		j.missing("host %s: %s", h.ID, lost)
		return
	}
	j.process(h, looks)
	j.log(h, looks[witness.HostLog])
}

func (j *judged) process(h target.Ref, looks map[witness.Source][]witness.Observation) {
	for _, src := range []witness.Source{witness.HostProcess, witness.HostSocket} {
		all := looks[src]
		if len(all) == 0 {
			j.missing("host %s: no %s seen", h.ID, src)
			continue
		}
		last := all[len(all)-1]
		present := last.Exists
		if src == witness.HostSocket {
			present = last.Polling
		}
		switch present {
		case witness.No:
			j.pro(last)
		case witness.Yes:
			j.runs = true
			j.against(last)
		default:
			j.missing("host %s: %s unclear", h.ID, src)
		}
	}
}

func (j *judged) log(h target.Ref, looks []witness.Observation) {
	if len(looks) == 0 {
		j.missing("host %s: the agent's log could not be read", h.ID)
		return
	}
	first, last := looks[0], looks[len(looks)-1]
	switch {
	case len(looks) == 1:
		j.missing("host %s: the agent's log was read once only, so nothing could be compared", h.ID)
	case last.LastContact.After(first.LastContact):
		j.against(last)
		switch {
		case last.Rejected == witness.Yes:
			j.came.knocking = true
		case last.Polling == witness.Yes:
			j.came.accepted = true
		default: // it asked: cut off from the network, or told that another session is there
			j.came.called = true
		}
	case last.LastContact.Before(first.LastContact):
		j.missing("host %s: the agent's log lost lines that were there before", h.ID)
	case last.LastContact.IsZero() && (last.Rejected != witness.Unknown || last.Polling != witness.Unknown):
		j.missing("host %s: the contacts in the agent's log carry no time", h.ID)
	default:
		j.pro(last)
	}
}

func (j *judged) state() (string, string) {
	quiet := j.w.Passed
	switch {
	case j.came.back:
		return witness.Resurrected, "the same machine polls under another registration"
	case j.came.accepted:
		return witness.Polling, "it was answered after the last containing change"
	case j.came.knocking:
		return witness.Knocking, "rejected, still knocking: the registration is dead, the agent is not"
	case j.came.called:
		return witness.Knocking, "it was seen to call the provider; whether it was answered is not known"
	case quiet < j.w.Needs:
		return witness.Waiting, fmt.Sprintf("quiet for %s of %s", quiet.Round(time.Minute), j.w.Needs)
	case j.stray != "":
		return witness.Polling, "quiet itself, but " + j.stray + ", which no list of ours has; whether that one is answered is not known here"
	case len(j.lacks) > 0:
		return witness.CannotTell, j.lacks[0]
	case j.runs:
		return witness.CannotTell, "quiet, but an agent process still runs there"
	case len(j.v.Against) > 0:
		return witness.CannotTell, "quiet, but the registration is still there"
	}
	why := fmt.Sprintf("no contact by independent witnesses in %s", quiet.Round(time.Minute))
	if by := j.w.Now.Sub(j.w.From); (by - quiet).Abs() > j.w.Needs/4 {
		why += fmt.Sprintf(" (%s by the clock of this machine: it was set, or it slept)", by.Round(time.Minute))
	}
	return witness.Silent, why
}
