package bundle

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/check"
	"cordon/internal/evidence"
	"cordon/internal/target"
)

// What the engine writes into its journal lines, as far as the report needs it. The
// names are part of the case format. A line that does not fit is told as unknown.
type (
	intentData struct {
		Change struct {
			ID    string `json:"id"`
			Title string `json:"title"`
			Call  struct {
				Method string `json:"method"`
				URL    string `json:"url"`
				Body   string `json:"body"`
			} `json:"call"`
		} `json:"change"`
	}
	resultData struct {
		Outcome struct {
			Change string `json:"change"`
			State  string `json:"state"`
			Why    string `json:"why"`
			Status int    `json:"status"`
		} `json:"outcome"`
	}
	verdictData struct {
		Final    bool      `json:"final"`
		Verdicts []verdict `json:"verdicts"`
	}
	verdict struct {
		Question string        `json:"question"`
		State    string        `json:"state"`
		Why      string        `json:"why"`
		From     time.Time     `json:"from"`
		Until    time.Time     `json:"until"`
		Needs    time.Duration `json:"needs_ns"`
		For      []observation `json:"for"`
		Against  []observation `json:"against"`
		Missing  []string      `json:"missing"`
	}
	observation struct {
		Source   string    `json:"source"`
		At       time.Time `json:"at"`
		Says     string    `json:"says"`
		CouldNot string    `json:"could_not"`
	}
	findingData struct {
		Host    string         `json:"host"`
		Results []check.Result `json:"results"`
	}
	exposureData struct {
		Entries []credential   `json:"entries"`
		Gaps    []evidence.Gap `json:"gaps"`

		Jobs        []ranJob       `json:"jobs"`
		Outputs     []output       `json:"outputs"`
		OutputGaps  []evidence.Gap `json:"output_gaps"`
		Differences []difference   `json:"differences"`
	}
	ranJob struct {
		Ref       target.Ref `json:"ref"`
		Name      string     `json:"name"`
		Project   string     `json:"project"`
		Actor     string     `json:"actor"`
		StartedAt time.Time  `json:"started_at"`
		Flags     []string   `json:"flags"`
	}
	output struct {
		Kind  string    `json:"kind"`
		Name  string    `json:"name"`
		Where string    `json:"where"`
		By    string    `json:"by"`
		At    time.Time `json:"at"`
		Why   string    `json:"why"`
	}
	difference struct {
		Host     string `json:"host"`
		Severity string `json:"severity"`
		Title    string `json:"title"`
		Detail   string `json:"detail"`
	}
	credential struct {
		Name     string    `json:"name"`
		Kind     string    `json:"kind"`
		Where    string    `json:"where"`
		Why      string    `json:"why"`
		Replaced time.Time `json:"replaced"`
		Dead     time.Time `json:"dead"`
		DeadSays string    `json:"dead_says"`
		Owner    string    `json:"owner"`
	}
	stepData struct {
		Task string `json:"task"`
		End  string `json:"end"`
		Why  string `json:"why"`
	}
)

const (
	unknownState = "unknown"
	silentState  = "silent"
)

// act is one intent and what became of it.
type act struct {
	line                  int
	at                    time.Time
	step, id, title, call string
	state, why            string
	status                int
	settled               bool // the outcome was found out later
}

type judged struct {
	on    target.Ref
	final bool
	list  []verdict
}

// story is the fold of a journal for a reader.
type story struct {
	v        *casefile.View
	acts     []act
	verdicts []judged      // the last of each target
	findings []findingData // the last of each host
	exposed  *exposureData // the last list
	steps    []stepData
	said     []casefile.Line // waive, skip, leave, note: what people decided and wrote
	glass    []glass         // what went on without the second person
	end      *casefile.Line
	unknown  []string // quoted for Markdown already
	lost     []Lost
}

func tell(v *casefile.View, lost []Lost) *story {
	s := &story{v: v, lost: lost}
	for _, l := range v.Lines {
		if err := s.line(l); err != nil {
			s.unknown = append(s.unknown, fmt.Sprintf("journal line %d (%s) is not understood by this version; read it in journal.jsonl", l.Seq, quote(l.Kind)))
		}
	}
	for _, g := range s.glass {
		if !g.countersigned {
			s.unknown = append(s.unknown, fmt.Sprintf("GLASS BROKEN: %s went on without the second person that its playbook wants, says %s: %s; nobody has countersigned it", quote(g.task), quote(g.by), quote(g.why)))
		}
	}
	for _, a := range s.acts {
		switch a.state {
		case "":
			s.unknown = append(s.unknown, fmt.Sprintf("%s was sent or about to be sent (line %d) and has no result", quote(a.title), a.line))
		case unknownState:
			s.unknown = append(s.unknown, fmt.Sprintf("%s: nobody knows whether it took effect: %s", quote(a.title), quote(a.why)))
		}
	}
	for _, j := range s.verdicts {
		for _, d := range j.list {
			if d.State != silentState {
				s.unknown = append(s.unknown, fmt.Sprintf("%s for %s: %s", quote(d.Question), quote(j.on.String()), quote(d.State)))
			}
		}
	}
	for _, f := range s.findings {
		for _, r := range check.Unknown(f.Results) {
			s.unknown = append(s.unknown, fmt.Sprintf("host %s, %s: %s: %s", quote(f.Host), quote(r.Title), quote(r.State), quote(r.Why)))
		}
	}
	if s.exposed != nil {
		for _, g := range s.exposed.Gaps {
			s.unknown = append(s.unknown, fmt.Sprintf("the exposure list may be too short: %s: %s", quote(g.Name), quote(g.Why)))
		}
		for _, g := range s.exposed.OutputGaps {
			s.unknown = append(s.unknown, fmt.Sprintf("more may have come out of it: %s: %s", quote(g.Name), quote(g.Why)))
		}
	}
	if len(s.verdicts) == 0 {
		s.unknown = append(s.unknown, "no verdict is in the journal: whether anything still polls was not judged")
	}
	if len(v.Torn) > 0 {
		s.unknown = append(s.unknown, fmt.Sprintf("the journal ended in %d bytes of a line that was never finished; they are in journal.torn", len(v.Torn)))
	}
	return s
}

func (s *story) line(l casefile.Line) error {
	switch l.Kind {
	case "intent":
		var d intentData
		if err := json.Unmarshal(l.Data, &d); err != nil {
			return err
		}
		c := d.Change
		call := c.Call.Method + " " + c.Call.URL
		if c.Call.Body != "" {
			call += " " + c.Call.Body
		}
		s.acts = append(s.acts, act{line: l.Seq, at: l.T, step: l.Step, id: c.ID, title: either(c.Title, c.ID), call: call})
	case "result", "settle":
		var d resultData
		if err := json.Unmarshal(l.Data, &d); err != nil {
			return err
		}
		for i := len(s.acts) - 1; i >= 0; i-- {
			if a := &s.acts[i]; a.id == d.Outcome.Change {
				a.state, a.why, a.settled = d.Outcome.State, d.Outcome.Why, l.Kind == "settle"
				a.status = max(a.status, d.Outcome.Status)
				return nil
			}
		}
		return fmt.Errorf("a result without its intent")
	case "verdict":
		var d verdictData
		if err := json.Unmarshal(l.Data, &d); err != nil {
			return err
		}
		s.verdicts = slices.DeleteFunc(s.verdicts, func(j judged) bool { return j.on == l.Target })
		s.verdicts = append(s.verdicts, judged{l.Target, d.Final, d.Verdicts})
	case "finding":
		var d findingData
		if err := json.Unmarshal(l.Data, &d); err != nil {
			return err
		}
		d.Host = either(d.Host, l.Target.ID)
		s.findings = slices.DeleteFunc(s.findings, func(f findingData) bool { return f.Host == d.Host })
		s.findings = append(s.findings, d)
	case "exposure":
		var d exposureData
		if err := json.Unmarshal(l.Data, &d); err != nil {
			return err
		}
		s.exposed = &d
	case "step":
		var d stepData
		if err := json.Unmarshal(l.Data, &d); err != nil {
			return err
		}
		s.steps = append(s.steps, d)
	case "break-glass", "approve":
		if err := s.agreement(l); err != nil {
			return err
		}
		s.said = append(s.said, l)
	case "drift", "late-job":
		s.unknown = append(s.unknown, "ALARM: "+quote(l.Msg))
		s.said = append(s.said, l)
	case "waive", "skip", "leave", "note", "window", "again", "renew", "stand-down":
		s.said = append(s.said, l)
	case "close":
		s.end = &l
	}
	return nil
}

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
