package app

import (
	"time"

	"cordon/internal/target"
	"cordon/internal/untrusted"
)

// Fact is one answer with how it is known. An empty Text means that there is none:
// Known then says "not asked" or "could not look".
type Fact struct {
	Text  string    `json:"text,omitempty"`
	Known string    `json:"known"` // "provider now", "last known 3h ago", "last check of build-07 2d ago", "by name only", …
	At    time.Time `json:"at,omitzero"`
	Items []string  `json:"items,omitempty"` // one line each
}

// Answer is a fact under its question.
type Answer struct {
	ID       string `json:"id"` // identity, whose, machines, hosts, running, ran, reach, pause, notice
	Question string `json:"question"`
	Fact
}

// Candidate is one runner that what was asked about may be.
type Candidate struct {
	Ref     target.Ref     `json:"ref"`
	Name    untrusted.Text `json:"name,omitempty"`
	Hosts   []string       `json:"hosts,omitempty"` // configured ones
	With    []string       `json:"with,omitempty"`  // hosts that a case has to be told of: its provider does not say where it is
	Found   []Fact         `json:"found"`           // why it is here
	Answers []Answer       `json:"answers,omitempty"`
}

// KnownHost is what is known of a host without contacting it.
type KnownHost struct {
	Name    string   `json:"name"`
	Found   Fact     `json:"found"`
	Answers []Answer `json:"answers"`
}

// NextStep is a command that follows, and whether anybody on the host would notice.
type NextStep struct {
	Command string `json:"command"`
	Does    string `json:"does"`
	Notice  string `json:"notice"`
}

// Card is what triage found. No host was contacted for it. With several Runners none is
// chosen, and only what the lists say of them is in it.
type Card struct {
	Schema    string      `json:"schema"`
	Simulated bool        `json:"simulated,omitempty"`
	Asked     string      `json:"asked"` // never a token
	Kind      string      `json:"kind"`
	At        time.Time   `json:"at"`
	Runners   []Candidate `json:"runners"`
	Hosts     []KnownHost `json:"hosts,omitempty"`
	Notes     []string    `json:"notes,omitempty"`   // what is known beside runners and hosts
	Unknown   []string    `json:"unknown,omitempty"` // what could not be had or is not known here
	Next      []NextStep  `json:"next"`
}

// Exit is 0 where one or more runners were found and asked for, 4 where something could
// not be told.
func (c Card) Exit() int {
	if len(c.Runners) == 0 || len(c.Unknown) > 0 {
		return ExitCannotTell
	}
	return ExitDone
}

// Only is the one runner that was found, or nil.
func (c Card) Only() *Candidate {
	if len(c.Runners) != 1 {
		return nil
	}
	return &c.Runners[0]
}
