package host

import (
	"fmt"
	"time"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
)

// logged finds the last contact in the log of the unit's agent, by the host's clock.
func logged(o witness.Observation, s *snapshot.Snapshot, b belonging) witness.Observation {
	o.Source = witness.HostLog
	if !s.Seen(snapshot.SectionLog) {
		o.CouldNot = unseen(s, snapshot.SectionLog)
		o.Says = "log: " + o.CouldNot
		return o
	}
	var last *snapshot.LogLine
	var said snapshot.Contact
	read := 0
	for i := range s.Log {
		l := &s.Log[i]
		if !b.writes(*l) {
			continue
		}
		read++
		// The logs of one host are of one clock; where none stands, the order of the lines counts.
		if c := l.Contact(); c.Is() && (last == nil || !l.At.Before(last.At)) {
			last, said = l, c
		}
	}
	if last == nil {
		o.Says = fmt.Sprintf("no contact in %d lines of the agent's log", read)
		return o
	}
	o.LastContact, o.Clock = last.At, witness.ClockEvent
	if o.LastContact.IsZero() {
		o.Clock = witness.ClockNone
	}
	text := untrusted.Clean(string(last.Text), 160)
	at := o.LastContact.UTC().Format(time.RFC3339)
	switch {
	case said.Refused && said.Ended:
		o.Rejected = witness.Yes
		o.Says = "refused, and it stopped by itself, by the agent's log, at " + at + ": " + text
	case said.Refused:
		o.Rejected = witness.Yes
		o.Says = "refused, by the agent's log, at " + at + ": " + text
	case said.Answered:
		o.Polling, o.Rejected = witness.Yes, witness.No
		o.Says = "no contact in the agent's log after " + at + ": " + text
	case said.Conflict:
		o.Says = "it asked, and another session has its identity, by the agent's log, at " + at + ": " + text
	default:
		o.Says = "it asked, and the log does not say that it was answered, at " + at + ": " + text
	}
	if o.LastContact.IsZero() {
		o.Says = "last contact in the agent's log, at a time that is not known: " + text
	}
	return o
}

// writes reports whether a line may be of the unit's agent: of its kind, and not of
// another root or another unit. With a unit of an unknown name every line counts.
func (b belonging) writes(l snapshot.LogLine) bool {
	if b.agent == "" {
		return true
	}
	if r := l.Root(); r != "" && b.root != "" {
		return r == b.root
	}
	if kind := snapshot.AgentOf(string(l.Unit)); kind != b.agent {
		return kind == "" && l.From != "" // a log of a name that says nothing
	}
	return l.From != "" || b.agent == "gitlab-runner" || string(l.Unit) == b.unit
}
