package report

import (
	"encoding/json"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/check"
	"cordon/internal/target"
	"cordon/playbooks"
)

// What the engine writes into its lines, as far as a brief needs it. The names are part
// of the case format; a line that does not fit is counted as not understood.
type (
	intentData struct {
		Change struct {
			ID string `json:"id"`
		} `json:"change"`
	}
	resultData struct {
		Outcome struct {
			Change string `json:"change"`
			State  string `json:"state"`
		} `json:"outcome"`
	}
	verdictData struct {
		Final    bool `json:"final"`
		Verdicts []struct {
			Question string `json:"question"`
			State    string `json:"state"`
		} `json:"verdicts"`
	}
	findingData struct {
		Host    string         `json:"host"`
		Results []check.Result `json:"results"`
	}
	exposureData struct {
		Entries []struct {
			Replaced time.Time `json:"replaced"`
			Dead     time.Time `json:"dead"`
			Deploys  bool      `json:"deploys"`
		} `json:"entries"`
		Gaps []json.RawMessage `json:"gaps"`
	}
	stepData struct {
		Task string `json:"task"`
		End  string `json:"end"`
	}
)

// fold is a journal for a brief.
type fold struct {
	runner  string
	hosts   []string
	effects map[string]string // change id to its state, "" while there is no result
	verdict verdictData
	blind   int // checks that could not say
	serious int // findings of medium or worse
	hostsIn map[string]findingData
	exposed *exposureData
	ended   map[string]map[string]bool // step to its tasks that ended
	now     string                     // step of the last line that names one
	closed  string                     // word of the ending
	writer  casefile.Line              // of the last take
	strange int                        // lines that were not understood
}

func read(v *casefile.View) *fold {
	f := &fold{effects: map[string]string{}, hostsIn: map[string]findingData{}, ended: map[string]map[string]bool{}}
	for _, t := range v.Opening.Targets {
		switch t.Kind {
		case target.Runner:
			f.runner = t.String()
		case target.Host:
			f.hosts = append(f.hosts, t.ID)
		}
	}
	for _, l := range v.Lines {
		if err := f.line(l); err != nil {
			f.strange++
		}
	}
	for _, d := range f.hostsIn {
		f.blind += len(check.Unknown(d.Results))
		f.serious += len(check.AtLeast(d.Results, check.Medium))
	}
	return f
}

func (f *fold) line(l casefile.Line) error {
	if l.Step != "" {
		f.now = l.Step
	}
	switch l.Kind {
	case "take":
		f.writer = l
	case "intent":
		f.closed = ""
		return with(l, func(d intentData) { f.effects[d.Change.ID] = "" })
	case "result", "settle":
		return with(l, func(d resultData) { f.effects[d.Outcome.Change] = d.Outcome.State })
	case "verdict":
		return with(l, func(d verdictData) { f.verdict = d })
	case "finding":
		return with(l, func(d findingData) { f.hostsIn[d.Host] = d })
	case "exposure":
		return with(l, func(d exposureData) { f.exposed = &d })
	case "step":
		return with(l, func(d stepData) {
			if f.ended[l.Step] == nil {
				f.ended[l.Step] = map[string]bool{}
			}
			f.ended[l.Step][d.Task] = true
		})
	case "close":
		f.closed = l.Msg
	}
	return nil
}

func with[T any](l casefile.Line, use func(T)) error {
	var d T
	if err := json.Unmarshal(l.Data, &d); err != nil {
		return err
	}
	use(d)
	return nil
}

// stand is the number and title of the first step that is not over, 0 where all are.
func (f *fold) stand(p *playbooks.Playbook) (n int, title string) {
	for i, s := range p.Steps {
		tasks := 0
		for _, a := range s.Acts {
			if a.On == "hosts" {
				tasks += len(f.hosts)
			} else {
				tasks++
			}
		}
		if len(f.ended[s.ID]) < tasks {
			return i + 1, s.Title
		}
	}
	return 0, ""
}
