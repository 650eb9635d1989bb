// Package change describes effects before they happen and lets each through once.
//
// A Change carries the one call it will make, captured from the typed client that
// will make it. Capture runs that client with nothing sent; a Permit lets exactly
// the captured call leave, exactly once. Admit is asked wherever bytes leave: the
// HTTP transport and the host acts. Without an Issuer no Permit can exist, and
// that is what read-only means. The package may import level 0.
package change

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"cordon/internal/target"
)

// Call is one mutating request as the wire will carry it, never with headers. For
// host acts Method is "SSH", URL names host and act, Body the digest of the fixed
// script and its arguments.
type Call struct {
	Method string `json:"method"`
	URL    string `json:"url"`
	Body   string `json:"body,omitempty"`
}

// IsZero reports whether nothing was captured.
func (c Call) IsZero() bool { return c == Call{} }

// String is what a person is shown: method, URL and body on one line.
func (c Call) String() string {
	if c.Body == "" {
		return c.Method + " " + c.URL
	}
	return c.Method + " " + c.URL + " " + strings.TrimRight(c.Body, "\n") // encoding/json ends a body with a line feed
}

// Change is one effect on one system. Args and Before are closed structs of the
// operation: they hold no secret and nothing volatile, because they are hashed.
type Change struct {
	ID     string          `json:"id"`     // "pause/1", unique in its case
	System string          `json:"system"` // configured name
	Op     string          `json:"op"`     // "gitlab.runner.pause@1"
	Title  string          `json:"title"`  // one line for a person, cleaned
	Target target.Ref      `json:"target"`
	Args   json.RawMessage `json:"args,omitempty"`
	Before json.RawMessage `json:"before,omitempty"` // compared again just before applying
	Call   Call            `json:"call"`

	Hits     []target.Ref  `json:"hits,omitempty"`     // who else is affected
	Capacity string        `json:"capacity,omitempty"` // what the queue loses
	Ends     string        `json:"ends,omitempty"`     // what the call ends whole, where that is more than its target: "run 5512"
	Destroys []string      `json:"destroys,omitempty"` // evidence names that are gone afterwards
	TipsOff  string        `json:"tips_off,omitempty"` // how the other side would notice; empty: it would not
	Undo     *Change       `json:"undo,omitempty"`     // nil: cannot be undone
	Leaves   string        `json:"leaves,omitempty"`   // what stays behind when it is undone or its runner is gone, and how that is removed
	Outlives bool          `json:"outlives,omitempty"` // what it sets is not its target's own, and stays so when the target is gone
	Lease    time.Duration `json:"lease_ns,omitempty"` // it ends by itself after this long; 0: it does not
	Issues   bool          `json:"issues,omitempty"`   // the answer carries a new secret
}

// Digest is the lower-case hex SHA-256 over the change's JSON. What is approved is
// this digest; any edit makes it another change.
func (c Change) Digest() string { return digest(c) }

// Blast says what else c hits, by kind and name: "managers 901, 902, project acme/shop".
// A project is named by its path where that is known.
func (c Change) Blast() string {
	var kinds []string
	names := map[string][]string{}
	for _, h := range c.Hits {
		name := h.ID
		if h.Kind == target.Project && h.Scope.Path != "" {
			name = h.Scope.Path
		}
		if names[h.Kind] == nil {
			kinds = append(kinds, h.Kind)
		}
		names[h.Kind] = append(names[h.Kind], name)
	}
	var out []string
	for _, k := range kinds {
		plural := ""
		if len(names[k]) > 1 {
			plural = "s"
		}
		out = append(out, k+plural+" "+strings.Join(names[k], ", "))
	}
	return strings.Join(out, ", ")
}

// Plan is one honest option for a verb. A plan without Changes either only reads
// (Contacts names the hosts it logs in to), or is done by hand (Manual), or says that
// there is Nothing to do.
type Plan struct {
	Verb     string       `json:"verb"`
	Option   string       `json:"option"` // unique among the plans of one verb and target
	Title    string       `json:"title"`
	Covers   string       `json:"covers,omitempty"` // what it achieves, in the field's words
	Limits   []string     `json:"limits,omitempty"` // what it does not achieve
	Manual   []string     `json:"manual,omitempty"` // what a person has to do
	Changes  []Change     `json:"changes,omitempty"`
	Contacts []target.Ref `json:"contacts,omitempty"` // hosts that are logged in to
	TipsOff  string       `json:"tips_off,omitempty"`
	ByHand   []Link       `json:"by_hand,omitempty"`
	Partial  bool         `json:"partial,omitempty"` // it reads back as Observation.Partly at most, never as paused
	Nothing  bool         `json:"nothing,omitempty"` // looked for and not there: there is nothing to do
	Made     time.Time    `json:"made"`
}

// Link is a place where a person does or checks the same by hand.
type Link struct {
	Title   string `json:"title"`
	URL     string `json:"url,omitempty"`
	Command string `json:"command,omitempty"`
}

// Versions of a plan's hash. A journal line that names none has hashes of HashWhole.
const (
	HashWhole = 1 // over all of the plan but the time it was made: prose in it, as how long a queue is, made it another plan
	HashDone  = 2 // over what is done
)

// Hash is the plan's hash of the version HashDone: planning the same again gives the same.
func (p Plan) Hash() string { return p.HashOf(HashDone) }

// HashOf is the lower-case hex SHA-256 over the plan, of a version.
func (p Plan) HashOf(version int) string {
	p.Made = time.Time{}
	if version == HashWhole {
		return digest(p)
	}
	p.Title, p.Covers, p.Limits, p.Manual, p.ByHand = "", "", nil, nil, nil
	p.Changes = append([]Change(nil), p.Changes...)
	for i := range p.Changes {
		p.Changes[i] = p.Changes[i].done()
	}
	return digest(struct {
		Hash int  `json:"hash"`
		Plan Plan `json:"plan"`
	}{version, p})
}

// done is a change without the prose about it: what is sent where, on what it was planned,
// what else it hits and destroys, who would notice, and its way back.
func (c Change) done() Change {
	c.Title, c.Capacity, c.Leaves = "", "", ""
	if c.Undo != nil {
		undo := c.Undo.done()
		c.Undo = &undo
	}
	return c
}

// Appliable reports whether the plan does anything from here: it changes something, or
// logs in somewhere to read.
func (p Plan) Appliable() bool { return len(p.Changes)+len(p.Contacts) > 0 }

// Reversible reports whether every change of the plan can be undone. A plan without
// changes has nothing that could be.
func (p Plan) Reversible() bool {
	for _, c := range p.Changes {
		if c.Undo == nil {
			return false
		}
	}
	return len(p.Changes) > 0
}

// States of an outcome.
const (
	Applied = "applied" // done, and read back where that is possible
	Already = "already" // it was so before; nothing was sent, or the target is gone already
	Refused = "refused" // the other side said no, or nothing was sent
	Unknown = "unknown" // sent, and no trustworthy answer: observe before anything else
)

// Outcome is what became of a change.
type Outcome struct {
	Change    string            `json:"change"` // Change.ID
	State     string            `json:"state"`
	Why       string            `json:"why,omitempty"`
	Status    int               `json:"status,omitempty"` // HTTP status or exit code; 0: none
	RequestID string            `json:"request_id,omitempty"`
	At        time.Time         `json:"at"`
	Date      time.Time         `json:"date,omitzero"`       // the service's own clock
	NotBefore time.Time         `json:"not_before,omitzero"` // refused for now alone: the service asks to be left alone until then, by our clock
	Made      map[string]string `json:"made,omitempty"`      // identifiers and facts, never a secret
	Undo      *Change           `json:"undo,omitempty"`      // where the undo is known only afterwards
}

func digest(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("change: a closed struct did not marshal: %v", err)) // only a malformed RawMessage can
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
