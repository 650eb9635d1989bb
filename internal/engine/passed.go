package engine

import (
	"encoding/json"
	"fmt"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/target"
	"cordon/internal/witness"
)

// passed is how much time of a watch is proven to have passed, whatever the clock of this
// machine was set to meanwhile: the time that processes ran, and what the services' own
// clocks say. Folded from the journal.
type passed struct {
	before time.Duration // that earlier processes ran
	from   int64         // milliseconds on the writer's steady time, where this process began to count
	last   int64         // of the last line
	taken  int           // how often the case was taken since: 0: it is one process
	fresh  bool          // it was taken, and nobody has looked since
	looked time.Duration // ran, at the last look
	spans  map[string]span
}

// span is what the clock of one service showed in a watch.
type span struct {
	first, last time.Time
	at          time.Duration // ran, at the last
}

// dateGrain is what a service's Date may be short by: it has whole seconds.
const dateGrain = 2 * time.Second

func (p *passed) ran() time.Duration {
	return p.before + time.Duration(max(p.last-p.from, 0))*time.Millisecond
}

// line counts one line of the journal.
func (p *passed) line(l casefile.Line) error {
	if l.Kind == "take" {
		*p = passed{before: p.ran(), from: l.MonoMS, last: l.MonoMS, taken: p.taken + 1, fresh: true, looked: p.looked, spans: p.spans}
		return nil
	}
	p.last = max(p.last, l.MonoMS)
	switch l.Kind {
	case "observe":
		p.looked, p.fresh = p.ran(), false
	case "exchange":
		var d struct {
			System string    `json:"system"`
			Date   time.Time `json:"date"`
			Reused bool      `json:"reused"`
		}
		if err := json.Unmarshal(l.Data, &d); err != nil {
			return fmt.Errorf("exchange line is not understood: %w", err)
		}
		if d.Date.IsZero() || d.Reused {
			return nil
		}
		s := p.spans[d.System]
		if s.first.IsZero() {
			s.first = d.Date
		}
		s.last, s.at = d.Date, p.ran()
		p.spans[d.System] = s
	}
	return nil
}

// quiet is how long it is proven to be that the watch began, for one runner, ran being
// how long cordon has. In one process cordon's own count and the service's clock have both
// to say so. Where it was started anew nobody counted in between, and what the service
// says of that counts.
func (p *passed) quiet(on target.Ref, ran time.Duration) time.Duration {
	s, told := p.spans[on.System]
	if !told {
		return ran
	}
	by := s.last.Sub(s.first) + dateGrain + max(ran-s.at, 0)
	if p.taken == 0 {
		return min(ran, by)
	}
	return max(ran, by)
}

// ran is how long the processes of this watch have run by now.
func (r *Run) ran() time.Duration { return r.st.passed.ran() + r.sinceLine() }

// quiet is what is proven for every runner that is watched.
func (r *Run) quiet(watched []task) time.Duration {
	ran := r.ran()
	least := ran
	for i, t := range watched {
		if q := r.st.passed.quiet(t.on, ran); i == 0 || q < least {
			least = q
		}
	}
	return least
}

// disagree ends a watch in which a service's clock does not go on: twice the time has
// passed here, and it would never end.
func (r *Run) disagree(t task, w *watchData, v witness.Verdict) witness.Verdict {
	ran := r.ran()
	if v.State != witness.Waiting || ran < 2*w.Needs {
		return v
	}
	s := r.st.passed.spans[t.on.System]
	v.State = witness.CannotTell
	v.Why = fmt.Sprintf("the clocks do not agree: %s passed here, and %s by the clock of %s", ran.Round(time.Minute), s.last.Sub(s.first).Round(time.Minute), t.on.System)
	return v
}
