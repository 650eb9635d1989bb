package report

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/check"
	"cordon/internal/host/snapshot"
	"cordon/internal/signing"
	"cordon/internal/target"
	"cordon/playbooks"
)

// What the engine writes into its lines, as far as a brief needs it. The names are part
// of the case format; a line that does not fit is counted as not understood.
type (
	intentData struct {
		Change changeData `json:"change"`
	}
	changeData struct {
		ID    string          `json:"id"`
		Title string          `json:"title"`
		Undo  json.RawMessage `json:"undo"` // absent: it cannot be undone
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
			Why      string `json:"why"`
		} `json:"verdicts"`
	}
	findingData struct {
		Host    string         `json:"host"`
		Results []check.Result `json:"results"`
		Strays  []strayData    `json:"strays"`
	}
	strayData struct { // a runner on it that no list of ours has
		What string `json:"what"`
		Runs bool   `json:"runs"`
	}
	exposureData struct {
		Entries []struct {
			Replaced time.Time `json:"replaced"`
			Dead     time.Time `json:"dead"`
			Deploys  bool      `json:"deploys"`
		} `json:"entries"`
		Gaps        []json.RawMessage `json:"gaps"`
		Differences []struct {
			Host string `json:"host"`
			check.Finding
		} `json:"differences"`
	}
	stepData struct {
		Task string `json:"task"`
		End  string `json:"end"`
	}
)

// fold is a journal for a brief.
type fold struct {
	runners []target.Ref
	retires bool      // it retires a runner
	asOf    time.Time // when a day counts as over
	opened  time.Time
	steps   []playbooks.Step // none where the playbook is not understood
	book    bool             // it has a playbook
	hosts   []string
	effects map[string]string          // change id to its state, "" while there is no result
	made    []*madeData                // what was sent or about to be, in order
	falsely bool                       // it was stood down: a false alarm
	handed  string                     // to whom it was handed over last, by whom and when; empty: it is here
	verdict verdictData                // the worst of those below
	judged  map[target.Ref]verdictData // the last one on each target
	strays  []strayData
	blind   int      // checks that could not say
	serious int      // findings of medium or worse
	grave   []string // hosts with findings that are high or worse, in order
	worse   int      // how many such findings
	still   []string // processes behind them that ran when their host was looked at last
	hostsIn map[string]findingData
	exposed *exposureData
	ended   map[string]map[string]bool // step to its tasks that ended
	manual  map[string]manualData      // task to what is on record last
	glass   []*glassData               // in the order of the journal
	now     string                     // step of the last line that names one
	closed  string                     // word of the ending
	writer  casefile.Line              // of the last take
	strange int                        // lines that were not understood
}

func read(v *casefile.View, now time.Time) *fold {
	f := &fold{
		effects: map[string]string{}, hostsIn: map[string]findingData{}, judged: map[target.Ref]verdictData{}, ended: map[string]map[string]bool{},
		manual: map[string]manualData{}, retires: v.Opening.Kind == offboarding, asOf: now,
	}
	if len(v.Lines) > 0 {
		f.opened = v.Lines[0].T
	}
	if p, err := playbooks.Parse(v.Opening.PlaybookName, v.Opening.Playbook); err == nil {
		f.steps = p.Steps
	}
	for _, t := range v.Opening.Targets {
		switch t.Kind {
		case target.Runner:
			f.runners = append(f.runners, t)
		case target.Host:
			f.hosts = append(f.hosts, t.ID)
		}
	}
	f.book = len(v.Opening.Playbook) > 0
	for _, l := range v.Lines {
		if err := f.line(v, l); err != nil {
			f.strange++
		}
	}
	if !f.book {
		f.judge(v)
	}
	f.verdict = worst(f.judged)
	for _, host := range slices.Sorted(maps.Keys(f.hostsIn)) {
		d := f.hostsIn[host]
		if f.exposed != nil { // shown with what the checks found
			d.Results = append(slices.Clone(d.Results), f.exposed.on(host))
		}
		f.strays = append(f.strays, d.Strays...)
		f.blind += len(check.Unknown(d.Results))
		f.serious += len(check.AtLeast(d.Results, check.Medium))
		if n := len(check.AtLeast(d.Results, check.High)); n > 0 {
			f.worse += n
			f.grave = append(f.grave, host)
		}
	}
	return f
}

// on is what the provider and a host tell differently, as the result of a check.
func (x *exposureData) on(host string) check.Result {
	res := check.Result{State: check.Found}
	for _, d := range x.Differences {
		if d.Host == host {
			res.Findings = append(res.Findings, d.Finding)
		}
	}
	return res
}

// judge runs the checks over what a read of hosts kept: such a case has no engine that
// writes its findings down.
func (f *fold) judge(v *casefile.View) {
	for _, host := range f.hosts {
		for _, item := range slices.Backward(v.Items) {
			if item.Name != "host/"+host+"/snapshot.json" {
				continue
			}
			if s, err := snapshotOf(v, item.Digest); err == nil {
				f.hostsIn[host] = findingData{Host: host, Results: check.Run(s)}
			}
			break
		}
	}
}

func snapshotOf(v *casefile.View, digest string) (*snapshot.Snapshot, error) {
	b, err := v.Blob(digest)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	return snapshot.Decode(b)
}

func (f *fold) line(v *casefile.View, l casefile.Line) error {
	if l.Step != "" {
		f.now = l.Step
	}
	switch l.Kind {
	case "take":
		f.writer = l
		if t, ok := casefile.TakenBy(l); ok && t.Over != "" {
			f.handed = ""
		}
	case "import":
		f.handed = "" // it goes on here
	case "handover":
		return with(l, func(d handoverData) { f.handOver(l, d) })
	case "stand-down":
		f.falsely, f.closed = true, ""
	case "intent":
		f.closed = ""
		return with(l, func(d intentData) {
			f.effects[d.Change.ID] = ""
			f.made = append(f.made, &madeData{changeData: d.Change, step: l.Step, verb: l.Msg})
		})
	case "result", "settle":
		return with(l, func(d resultData) { f.effects[d.Outcome.Change] = d.Outcome.State })
	case "verdict":
		return with(l, func(d verdictData) { f.judged[l.Target] = d })
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
	case "manual":
		return with(l, func(d manualData) {
			d.step, d.by = l.Step, l.Actor
			f.manual[d.Task] = d
		})
	case "break-glass":
		return with(l, func(d glassData) { f.broke(l, d) })
	case "approve":
		return with(l, func(d signing.Agreed) { f.approved(v, l, d) })
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

// alone reports whether the case contains hosts and no runner; one that only read a host
// contains nothing.
func (f *fold) alone() bool { return f.book && len(f.runners) == 0 && len(f.hosts) > 0 }

// standing is a step of the playbook that is not over; the zero value: all are.
type standing struct {
	n     int // from 1
	title string
	waits bool     // whatever is left waits for people
	done  []string // changes of it that took effect already
}

// stand is the first step that can be gone on with. One that waits for somebody until a
// day holds only those that need it; where nothing but such steps is left, it is the first
// of them.
func (f *fold) stand(p *playbooks.Playbook) standing {
	var first standing
	left := map[string]bool{} // steps that are not over
	for i, s := range p.Steps {
		tasks, parked := 0, 0
		for _, a := range s.Acts {
			tasks += f.tasks(a)
		}
		if len(f.ended[s.ID]) >= tasks {
			continue
		}
		left[s.ID] = true
		for _, m := range f.manual {
			if m.step == s.ID && m.waits() && !m.overdue(f.asOf) && !f.ended[s.ID][m.Task] {
				parked++
			}
		}
		held := slices.ContainsFunc(s.Needs, func(id string) bool { return left[id] })
		if !held && len(f.ended[s.ID])+parked < tasks {
			return standing{n: i + 1, title: s.Title, done: f.doneIn(s.ID)}
		}
		if first.n == 0 {
			first = standing{n: i + 1, title: s.Title, waits: true}
		}
	}
	return first
}

// tasks is how often an act is done in this case: what is about a runner is not done in a
// case about hosts alone, except that those are watched.
func (f *fold) tasks(a playbooks.Act) int {
	switch {
	case a.On == playbooks.OnHosts, f.alone() && a.Do == playbooks.Confirm:
		return len(f.hosts)
	case a.Do == playbooks.Manual && a.On == "":
		return 1
	case f.alone():
		return 0
	}
	return max(1, len(f.runners))
}

// worst is the verdict that a brief tells of several targets: the one that is least of a
// silence at the end.
func worst(all map[target.Ref]verdictData) verdictData {
	order := []string{silent, "", "waiting", "cannot tell", "knocking", "polling", "resurrected"}
	rank := func(d verdictData) int {
		switch {
		case len(d.Verdicts) == 0:
			return 1
		case !d.Final && d.Verdicts[0].State == silent:
			return 1
		}
		if n := slices.Index(order, d.Verdicts[0].State); n >= 0 {
			return n
		}
		return slices.Index(order, "cannot tell") // a word of another version
	}
	var out verdictData
	most := -1
	for _, t := range slices.SortedFunc(maps.Keys(all), func(a, b target.Ref) int { return strings.Compare(a.String(), b.String()) }) {
		if n := rank(all[t]); n > most {
			out, most = all[t], n
		}
	}
	return out
}
