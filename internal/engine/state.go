package engine

import (
	"fmt"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/change"
	"cordon/internal/check"
	"cordon/internal/exposure"
	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/providers"
)

// pending is an effect whose outcome is not settled.
type pending struct {
	task     string
	verb     string
	change   change.Change
	why      string
	answered bool // a result is on record and says unknown; false: the process ended before one
	status   int  // of that answer; 0: there was none
	aside    bool // a person had the task planned anew; it stays unknown until something settles it
}

// try is a confirmed plan and what became of its changes so far.
type try struct {
	changes  int
	partly   bool // it holds back in part, and reads back so
	outcomes []change.Outcome
	looks    int // how often it was read back
}

// worst is the outcome that decides how the task ended: a refusal, or the last.
func (t *try) worst() change.Outcome {
	for _, o := range t.outcomes {
		if o.State == change.Refused {
			return o
		}
	}
	return t.outcomes[len(t.outcomes)-1]
}

// over reports whether every change has an outcome, or one was refused.
func (t *try) over() bool {
	n := len(t.outcomes)
	return n > 0 && (n >= t.changes || t.outcomes[n-1].State == change.Refused)
}

// made is a change that was sent or was about to be, and what became of it.
type made struct {
	task    string
	verb    string
	change  change.Change
	outcome change.Outcome // State "": no result is on record
}

// state is the fold of a journal.
type state struct {
	end       map[string]string // task key → how it ended
	why       map[string]string
	outcomes  map[string]change.Outcome // change id → last known outcome
	tries     map[string]int            // task key → confirmed plans
	notBefore map[string]time.Time      // task key → when it may be planned again
	tried     map[string]*try           // task key → the last confirmed plan
	made      []made                    // in order
	doubts    []pending                 // unknown, in order
	settled   []string                  // one line for each doubt that later evidence settled
	cleared   map[string]bool           // task key → its doubt was settled
	items     map[string]string         // evidence names that are kept, and the digest of the last
	gaps      map[string]string         // evidence names that could not be had
	traits    map[target.Ref]traitsData
	exposed   *exposure.List
	listed    map[target.Ref]bool // runners that the list was opened for
	findings  map[string][]check.Result
	strays    map[string][]Stray   // of each host, when it was read last
	read      map[string]time.Time // and when that was
	notOf     map[string][]notOf   // of each host, the runners of the case that are not on it
	watch     *watchData
	passed    passed                           // since the watch began
	seen      map[string][]witness.Observation // task key → since the watch began
	verdicts  map[target.Ref][]witness.Verdict
	final     map[target.Ref]bool
	window    casefile.Window
	opened    time.Time
	closed    bool
	rotated   map[target.Ref]time.Time // when the runner's own credential was replaced

	alarms    []alarmData
	renewed   map[string]int  // change id that was confirmed → how often it was renewed
	broken    []broken        // glass
	approvals []approval      // as they are on record; whether one counts is judged when it is needed
	wanted    map[string]bool // what a second person was asked for, by what it binds
	standDown string          // why; empty: the case is not stood down
	people    people
}

// broken is one change that went on without the second person it wants.
type broken struct {
	glassData
	by, key, why string
}

func newState() *state {
	return &state{
		end: map[string]string{}, why: map[string]string{}, outcomes: map[string]change.Outcome{}, tries: map[string]int{}, tried: map[string]*try{},
		items: map[string]string{}, gaps: map[string]string{}, findings: map[string][]check.Result{}, strays: map[string][]Stray{}, read: map[string]time.Time{}, notOf: map[string][]notOf{}, cleared: map[string]bool{},
		people:    newPeople(),
		notBefore: map[string]time.Time{}, traits: map[target.Ref]traitsData{}, listed: map[target.Ref]bool{}, seen: map[string][]witness.Observation{},
		verdicts: map[target.Ref][]witness.Verdict{}, final: map[target.Ref]bool{}, rotated: map[target.Ref]time.Time{}, renewed: map[string]int{}, wanted: map[string]bool{},
	}
}

// apply folds one line. Lines of kinds that the run does not need are passed over.
func (s *state) apply(l casefile.Line) error {
	if err := s.people.apply(l); err != nil {
		return err
	}
	if s.watch != nil {
		if err := s.passed.line(l); err != nil {
			return err
		}
	}
	switch l.Kind {
	case "open":
		s.opened = l.T
	case "close":
		s.closed = true
	case "window":
		return with(l, func(w casefile.Window) { s.window = w })
	case "step":
		return with(l, func(d stepData) { s.end[d.Task], s.why[d.Task] = d.End, d.Why })
	case "confirm":
		return with(l, s.confirm)
	case "intent":
		return with(l, func(d intentData) {
			s.made = append(s.made, made{task: d.Task, verb: l.Msg, change: d.Change})
			s.doubts = append(s.doubts, pending{task: d.Task, verb: l.Msg, change: d.Change, why: "sent or about to be sent; no result is on record"})
		})
	case "result":
		return with(l, func(d resultData) { s.result(d) })
	case "settle":
		return with(l, func(d resultData) {
			s.settle(d)
			s.settled = append(s.settled, fmt.Sprintf("%s: %s (%s)", d.Outcome.Change, d.Outcome.State, d.Outcome.Why))
		})
	case "traits":
		return with(l, func(d traitsData) { s.traits[l.Target] = d })
	case "exposure":
		return with(l, func(d exposure.List) {
			s.exposed = &d
			if l.Target.Kind == target.Runner {
				s.listed[l.Target] = true
			}
		})
	case "finding":
		return with(l, func(d findingData) {
			s.findings[d.Host], s.strays[d.Host], s.read[d.Host], s.notOf[d.Host] = d.Results, d.Strays, l.T, d.NotOf
		})
	case "watch":
		return with(l, func(d watchData) {
			s.watch, s.seen = &d, map[string][]witness.Observation{}
			s.passed = passed{from: l.MonoMS, last: l.MonoMS, spans: map[string]span{}}
		})
	case "observe":
		return with(l, func(d observeData) {
			s.seen[d.Task] = append(s.seen[d.Task], d.Seen...)
			if t := s.tried[d.Task]; t != nil {
				t.looks++
			}
		})
	case "verdict":
		return with(l, func(d verdictData) { s.verdicts[l.Target], s.final[l.Target] = d.Verdicts, d.Final })
	}
	return s.applyMore(l)
}

// applyMore folds the kinds that say what became of evidence, people and time.
func (s *state) applyMore(l casefile.Line) error {
	switch l.Kind {
	case "evidence":
		return with(l, func(d evidenceName) { s.kept(d.Name, d.Digest) })
	case "gap":
		return with(l, func(d evidenceName) { s.missed(d.Name, d.Why) })
	case "anew":
		return with(l, func(d anewData) {
			for i := range s.doubts {
				if s.doubts[i].change.ID == d.Change {
					s.doubts[i].aside = true
				}
			}
			s.reopen(d.Task)
		})
	case "again":
		return with(l, func(d againData) {
			s.reopen(d.Tasks...)
			for _, k := range d.Tasks {
				s.notBefore[k] = d.At
			}
		})
	case "drift":
		return with(l, func(d alarmData) {
			s.alarms = append(s.alarms, d)
			s.reopen(d.Task)
		})
	case "late-job":
		return with(l, func(d alarmData) { s.alarms = append(s.alarms, d) })
	case "renew":
		return with(l, func(d renewData) { s.renewed[d.Of]++ })
	case "break-glass":
		return with(l, func(d glassData) {
			s.broken = append(s.broken, broken{glassData: d, by: l.Actor, key: l.Key, why: l.Msg})
		})
	case "approval-wanted":
		return with(l, func(d glassData) { s.wanted[d.Binds] = true })
	case "approve":
		return with(l, func(d approveData) {
			s.approvals = append(s.approvals, approval{d, l.Step, l.Target, l.T})
		})
	case "stand-down":
		s.standDown, s.closed = l.Msg, false
	}
	return nil
}

func (s *state) confirm(d confirmData) {
	s.tries[d.Task]++
	s.tried[d.Task] = &try{changes: len(d.Digest), partly: d.Partly}
	if len(d.Tasks) == 0 {
		return
	}
	n := map[string]int{}
	for _, k := range d.Tasks {
		n[k]++
	}
	for k, changes := range n {
		if k != d.Task {
			s.tries[k]++
		}
		s.tried[k] = &try{changes: changes, partly: d.Partly}
	}
}

func (s *state) kept(name, digest string) {
	s.items[name] = digest
	delete(s.gaps, name)
}

func (s *state) missed(name, why string) {
	if _, have := s.items[name]; !have {
		s.gaps[name] = why
	}
}

// reopen lets tasks be planned again, as if they had not been tried.
func (s *state) reopen(tasks ...string) {
	for _, k := range tasks {
		delete(s.end, k)
		delete(s.why, k)
		delete(s.tried, k)
	}
}

// result takes an outcome: anything but unknown ends the doubt about its change.
func (s *state) result(d resultData) {
	s.outcomes[d.Outcome.Change] = d.Outcome
	for i := range s.made {
		if s.made[i].change.ID == d.Outcome.Change {
			s.made[i].outcome = d.Outcome
			if d.Verb == providers.Rotate && d.Outcome.State == change.Applied {
				s.rotated[s.made[i].change.Target] = d.Outcome.At
			}
		}
	}
	if t := s.tried[d.Task]; t != nil && d.Outcome.State != change.Unknown {
		t.outcomes = append(t.outcomes, d.Outcome)
	}
	for i, p := range s.doubts {
		if p.change.ID != d.Outcome.Change {
			continue
		}
		if d.Outcome.State == change.Unknown {
			s.doubts[i].why, s.doubts[i].answered, s.doubts[i].status = d.Outcome.Why, true, d.Outcome.Status
			return
		}
		s.doubts = append(s.doubts[:i:i], s.doubts[i+1:]...)
		return
	}
}

// settle takes what reading said about a doubt. A change that was never answered and
// reads back as not done was not refused by anybody: the process ended before it was
// sent, so its task is planned and confirmed again. One that was answered is not
// tried again, or a service that says yes and does nothing would be asked for ever.
func (s *state) settle(d resultData) {
	p := s.doubtOf(d.Task)
	unsent := p != nil && p.change.ID == d.Outcome.Change && !p.answered && d.Outcome.State == change.Refused
	s.result(d)
	s.cleared[d.Task] = true
	if unsent {
		delete(s.tried, d.Task)
	}
}

func (s *state) doubtOf(task string) *pending {
	for i := range s.doubts {
		if s.doubts[i].task == task && !s.doubts[i].aside {
			return &s.doubts[i]
		}
	}
	return nil
}
