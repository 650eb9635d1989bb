package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"cordon/internal/casefile"
)

// States of a manual task; part of the case format.
const (
	stateOpen    = "open"    // answers were written down, and it is not done
	stateWaiting = "waiting" // for Owner, until Due
	stateWorked  = "worked"  // done, as whoever wrote it says; a signature is missing
	stateDone    = "done"
	stateSigned  = "signed"
)

// manualRecord is the data of a line of kind manual: the whole of a task each time.
type manualRecord struct {
	Task   string            `json:"task"`
	State  string            `json:"state"`
	Fields map[string]string `json:"fields,omitempty"`
	Owner  string            `json:"owner,omitempty"`
	Due    time.Time         `json:"due,omitzero"`
	Why    string            `json:"why,omitempty"`   // it waits
	Files  []casefile.Ref    `json:"files,omitempty"` // kept with it

	by, key, seat string // who wrote the line, with which key and from where; for worked: who says that it was done
}

// idleData is the data of a line of kind idle-wait: from when on cordon looks by itself.
type idleData struct {
	Task string    `json:"task"`
	From time.Time `json:"from"`
}

// people is the fold of what persons wrote down.
type people struct {
	me     string // who wrote the last line: in a run, whoever holds the case
	myKey  string
	seat   string // account and machine that he sits at, by the take line; empty: not on record
	tasks  map[string]manualRecord
	idle   map[string]time.Time // task key → since when cordon looks
	looked map[string]time.Time // task key → the last look
}

func newPeople() people {
	return people{tasks: map[string]manualRecord{}, idle: map[string]time.Time{}, looked: map[string]time.Time{}}
}

func (p *people) apply(l casefile.Line) error {
	p.me, p.myKey = l.Actor, l.Key
	switch l.Kind {
	case "take":
		p.seat = ""
		if t, ok := casefile.TakenBy(l); ok && t.Identity != nil {
			p.seat = fmt.Sprintf("%d %s@%s", t.Identity.UID, t.Identity.User, t.Host)
		}
	case Manual:
		return with(l, func(d manualRecord) {
			d.by, d.key, d.seat = l.Actor, l.Key, p.seat
			if old := p.tasks[d.Task]; old.State == stateWorked && d.State == stateWorked {
				d.by, d.key, d.seat = old.by, old.key, old.seat // somebody let the signature wait: the work stays whose it was
			}
			p.tasks[d.Task] = d
		})
	case "idle-wait":
		return with(l, func(d idleData) { p.idle[d.Task] = d.From })
	case "observe":
		return with(l, func(d observeData) { p.looked[d.Task] = l.T })
	}
	return nil
}

// of is a copy of what is on record of a task.
func (p *people) of(key string) manualRecord {
	rec := p.tasks[key]
	rec.Fields, rec.Files = maps.Clone(rec.Fields), slices.Clone(rec.Files)
	return rec
}

// parked reports whether a task waits for somebody else at now: for its owner until it
// is due, or for the signature of another person than the one who is here. With a zero
// now every date lies ahead.
func (p *people) parked(key string, now time.Time) bool {
	rec, ok := p.tasks[key]
	if !ok {
		return false
	}
	ahead := !rec.Due.IsZero() && (now.IsZero() || now.Before(rec.Due))
	return rec.State == stateWaiting && ahead || rec.State == stateWorked && (p.mine(rec) || rec.Why != "" && ahead)
}

// samePerson compares names of people as people do.
func samePerson(a, b string) bool {
	return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b))
}

// mine reports whether a record is of whoever is here: another name under the same key
// is nobody else.
func (p *people) mine(rec manualRecord) bool {
	return samePerson(rec.by, p.me) || rec.key != "" && rec.key == p.myKey
}

// waits says for whom and until when a task waits, "" where it does not.
func (rec manualRecord) waits() string {
	switch {
	case rec.State == stateWorked:
		return "another person's signature; the work is " + rec.by + "'s"
	case rec.State == stateWaiting:
		return rec.Owner + " until " + rec.Due.UTC().Format("2006-01-02 15:04Z")
	}
	return ""
}

// waits is the first task of a step that waits, in words.
func (r *Run) waits(step string) string {
	for _, t := range r.book {
		if t.step.ID != step || r.st.end[t.key()] != "" {
			continue
		}
		if w := r.st.people.tasks[t.key()].waits(); w != "" {
			return w
		}
	}
	return ""
}
