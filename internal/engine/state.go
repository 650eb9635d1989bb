package engine

import (
	"encoding/json"
	"fmt"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/change"
	"cordon/internal/check"
	"cordon/internal/exposure"
	"cordon/internal/witness"
	"cordon/providers"
)

// What the engine writes into the data of its journal lines. Field names are part of
// the case format: add, never rename.
type (
	stepData struct {
		Task string `json:"task"`
		End  string `json:"end"`
		Why  string `json:"why,omitempty"`
	}
	planData struct {
		Task  string        `json:"task"`
		Plans []change.Plan `json:"plans"`
	}
	confirmData struct {
		Task   string   `json:"task"`
		Plan   string   `json:"plan"` // hash
		Option string   `json:"option"`
		Digest []string `json:"changes"` // digests, in order
		Waived []string `json:"waived,omitempty"`
		Reason string   `json:"reason,omitempty"`
	}
	intentData struct {
		Task   string        `json:"task"`
		Digest string        `json:"digest"`
		Change change.Change `json:"change"`
	}
	resultData struct {
		Task    string         `json:"task"`
		Verb    string         `json:"verb"`
		Outcome change.Outcome `json:"outcome"`
	}
	observeData struct {
		Task string                `json:"task"`
		Seen []witness.Observation `json:"seen"`
	}
	traitsData struct {
		Runner   *providers.Runner   `json:"runner,omitempty"`
		Managers []providers.Manager `json:"managers,omitempty"`
	}
	findingData struct {
		Host    string         `json:"host"`
		Results []check.Result `json:"results"`
	}
	watchData struct {
		From  time.Time     `json:"from"`
		Needs time.Duration `json:"needs_ns"`
		Why   string        `json:"why"`
	}
	verdictData struct {
		Final    bool              `json:"final"`
		Verdicts []witness.Verdict `json:"verdicts"`
	}
)

// pending is an effect whose outcome is not settled.
type pending struct {
	task     string
	verb     string
	change   change.Change
	why      string
	answered bool // a result is on record and says unknown; false: the process ended before one
}

// try is a confirmed plan and what became of its changes so far.
type try struct {
	changes  int
	outcomes []change.Outcome
}

// over reports whether every change has an outcome, or one was refused.
func (t *try) over() bool {
	n := len(t.outcomes)
	return n > 0 && (n >= t.changes || t.outcomes[n-1].State == change.Refused)
}

// state is the fold of a journal.
type state struct {
	end      map[string]string // task key → how it ended
	why      map[string]string
	outcomes map[string]change.Outcome // change id → last known outcome
	tries    map[string]int            // task key → confirmed plans
	tried    map[string]*try           // task key → the last confirmed plan
	doubts   []pending                 // unknown, in order
	settled  []string                  // one line for each doubt that later evidence settled
	cleared  map[string]bool           // task key → its doubt was settled
	items    map[string]bool           // evidence names that are kept
	gaps     map[string]string         // evidence names that could not be had
	traits   traitsData
	exposed  *exposure.List
	findings map[string][]check.Result
	watch    *watchData
	seen     []witness.Observation // since the watch began
	verdicts []witness.Verdict
	final    bool
	window   casefile.Window
	opened   time.Time
	closed   bool
	rotated  time.Time // when the runner's own credential was replaced; zero: it was not
}

func newState() *state {
	return &state{
		end: map[string]string{}, why: map[string]string{}, outcomes: map[string]change.Outcome{}, tries: map[string]int{}, tried: map[string]*try{},
		items: map[string]bool{}, gaps: map[string]string{}, findings: map[string][]check.Result{},
		cleared: map[string]bool{},
	}
}

// apply folds one line. Lines of kinds that the run does not need are passed over.
func (s *state) apply(l casefile.Line) error {
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
		return with(l, func(d confirmData) {
			s.tries[d.Task]++
			s.tried[d.Task] = &try{changes: len(d.Digest)}
		})
	case "intent":
		return with(l, func(d intentData) {
			s.doubts = append(s.doubts, pending{task: d.Task, verb: l.Msg, change: d.Change, why: "sent or about to be sent; no result is on record"})
		})
	case "result":
		return with(l, func(d resultData) { s.result(d) })
	case "settle":
		return with(l, func(d resultData) {
			s.settle(d)
			s.settled = append(s.settled, fmt.Sprintf("%s: %s (%s)", d.Outcome.Change, d.Outcome.State, d.Outcome.Why))
		})
	case "evidence":
		return with(l, func(d struct {
			Name string `json:"name"`
		},
		) {
			s.items[d.Name] = true
			delete(s.gaps, d.Name)
		})
	case "gap":
		return with(l, func(d struct {
			Name string `json:"name"`
			Why  string `json:"why"`
		},
		) {
			if !s.items[d.Name] {
				s.gaps[d.Name] = d.Why
			}
		})
	case "traits":
		return with(l, func(d traitsData) { s.traits = d })
	case "exposure":
		return with(l, func(d exposure.List) { s.exposed = &d })
	case "finding":
		return with(l, func(d findingData) { s.findings[d.Host] = d.Results })
	case "watch":
		return with(l, func(d watchData) { s.watch, s.seen = &d, nil })
	case "observe":
		return with(l, func(d observeData) { s.seen = append(s.seen, d.Seen...) })
	case "verdict":
		return with(l, func(d verdictData) { s.verdicts, s.final = d.Verdicts, d.Final })
	}
	return nil
}

// result takes an outcome: anything but unknown ends the doubt about its change.
func (s *state) result(d resultData) {
	s.outcomes[d.Outcome.Change] = d.Outcome
	if d.Verb == providers.Rotate && d.Outcome.State == change.Applied {
		s.rotated = d.Outcome.At
	}
	if t := s.tried[d.Task]; t != nil && d.Outcome.State != change.Unknown {
		t.outcomes = append(t.outcomes, d.Outcome)
	}
	for i, p := range s.doubts {
		if p.change.ID != d.Outcome.Change {
			continue
		}
		if d.Outcome.State == change.Unknown {
			s.doubts[i].why, s.doubts[i].answered = d.Outcome.Why, true
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
		if s.doubts[i].task == task {
			return &s.doubts[i]
		}
	}
	return nil
}

func with[T any](l casefile.Line, f func(T)) error {
	var d T
	if err := json.Unmarshal(l.Data, &d); err != nil {
		return fmt.Errorf("%s line is not understood: %w", l.Kind, err)
	}
	f(d)
	return nil
}

func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("engine: a closed struct did not marshal: " + err.Error())
	}
	return b
}
