// Package witness says what was seen, by whom, and how much it is worth.
//
// Observations come from providers, hosts and people; a Verdict weighs them over a
// window. The package is pure: it reads nothing and waits for nothing. It may
// import level 0.
package witness

import (
	"time"

	"cordon/internal/target"
)

// Tri is yes, no or unknown; the zero value is Unknown, so that what nobody looked
// at is never taken for an answer.
type Tri string

// The three answers.
const (
	Unknown Tri = ""
	Yes     Tri = "yes"
	No      Tri = "no"
)

// Of turns a known bool into a Tri.
func Of(b bool) Tri {
	if b {
		return Yes
	}
	return No
}

// Source names who says so.
type Source string

// Sources. All host sources together are one witness: the host's own.
const (
	ProviderAPI   Source = "provider-api"
	ProviderAudit Source = "provider-audit"
	HostProcess   Source = "host-process"
	HostSocket    Source = "host-socket"
	HostLog       Source = "host-log"
	Egress        Source = "egress"
	Person        Source = "person"
)

// Independent names the party behind a source; two sources of one party are one witness.
func (s Source) Independent() string {
	switch s {
	case ProviderAPI, ProviderAudit:
		return "provider"
	case HostProcess, HostSocket, HostLog:
		return "host"
	}
	return string(s)
}

// Clock says what LastContact is worth.
type Clock string

// Clocks.
const (
	ClockNone    Clock = ""        // no time known
	ClockEvent   Clock = "event"   // the time of the contact itself
	ClockLagging Clock = "lagging" // may be behind by up to Observation.Lag
	ClockProxy   Clock = "proxy"   // derived from something else
	ClockOurs    Clock = "ours"    // when cordon looked
)

// Observation is one thing read, at one time, from one source.
type Observation struct {
	Subject  target.Ref `json:"subject"`
	Source   Source     `json:"source"`
	At       time.Time  `json:"at"`
	Says     string     `json:"says"`                // one line for a person; foreign text already cleaned
	CouldNot string     `json:"could_not,omitempty"` // why nothing could be seen; then every Tri is Unknown

	Exists   Tri `json:"exists,omitempty"`   // the registration or process is there
	Paused   Tri `json:"paused,omitempty"`   // it is given no new jobs
	Busy     Tri `json:"busy,omitempty"`     // a job runs on it
	Polling  Tri `json:"polling,omitempty"`  // it asks for jobs and is answered
	Rejected Tri `json:"rejected,omitempty"` // it asks for jobs and is refused
	Returned Tri `json:"returned,omitempty"` // the same machine came back under another registration

	// Partly says what no longer comes to a runner that is not paused: a pause in part, with
	// what still comes. It contains nothing by itself; empty: nothing is held back.
	Partly string `json:"partly,omitempty"`

	// Brief says what a look between others left to the next whole one: what it saw counts,
	// and what it did not see counts for nothing. Empty: the look was whole.
	Brief string `json:"brief,omitempty"`
	// Except says what of the question it answers nothing about and never could here, such
	// as a level that is not configured; a verdict tells it beside.
	Except string `json:"except,omitempty"`
	// Place is which of several logs or lists of one service it is of; empty: there is one.
	Place string `json:"place,omitempty"`

	PausedUntil time.Time     `json:"paused_until,omitzero"` // zero: no expiry
	LastContact time.Time     `json:"last_contact,omitzero"`
	Clock       Clock         `json:"clock,omitempty"`
	Lag         time.Duration `json:"lag_ns,omitempty"`
	Evidence    []string      `json:"evidence,omitempty"` // digests of the raw answers
}

// Verdict answers one question over one window.
type Verdict struct {
	Question string        `json:"question"` // "can it poll", "can it fetch secrets", "can it deploy"
	State    string        `json:"state"`
	Why      string        `json:"why"`
	From     time.Time     `json:"from"`
	Until    time.Time     `json:"until"`
	Needs    time.Duration `json:"needs_ns"` // how long the window had to be
	For      []Observation `json:"for,omitempty"`
	Against  []Observation `json:"against,omitempty"`
	Missing  []string      `json:"missing,omitempty"`
}

// States of a verdict, from best to worst.
const (
	Silent      = "silent"      // no contact, by independent witnesses, over the whole window
	Waiting     = "waiting"     // the window is not over
	CannotTell  = "cannot tell" // a witness is missing
	Knocking    = "knocking"    // rejected, still knocking
	Polling     = "polling"     // still accepted
	Resurrected = "resurrected" // came back under another registration
	Open        = "open"        // silent itself, but what it could read is not known to be replaced
)
