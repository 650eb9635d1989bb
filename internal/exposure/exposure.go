// Package exposure keeps the list of every credential that a runner could reach in
// the suspect window, by name and place, never by value.
//
// A credential is replaced when its store's clock says so after the runner could read it
// last: after the last job that ran on it, or after its pause. Apart from that it is dead when its issuer refused the old value and somebody says who
// checked. Both stay empty until evidence fills them: a list is never shorter because
// nobody looked. The package may import levels 0 to 3 and no concrete provider.
package exposure

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cordon/internal/check"
	"cordon/internal/evidence"
	"cordon/providers"
)

// Schema names the JSON form of a List.
const Schema = "cordon.exposure/1"

// Window is the suspect time. A zero From means: since the runner exists.
type Window struct {
	From  time.Time `json:"from,omitzero"`
	Until time.Time `json:"until"`
}

// List is what has to be counted as stolen.
type List struct {
	Schema  string                 `json:"schema"`
	Opened  time.Time              `json:"opened"`
	Window  Window                 `json:"window"`
	Entries []providers.Credential `json:"entries"` // what publishes, signs or deploys first
	Gaps    []evidence.Gap         `json:"gaps,omitempty"`

	Jobs        []providers.Job         `json:"jobs,omitempty"`         // what ran on it, and what is odd about each
	JobsPartial string                  `json:"jobs_partial,omitempty"` // why there may be more
	Outputs     []providers.Publication `json:"outputs,omitempty"`      // what came out where they ran
	OutputGaps  []evidence.Gap          `json:"output_gaps,omitempty"`  // what of that is not known
	Differences []Difference            `json:"differences,omitempty"`  // between its provider and its hosts
}

// Difference is a job that only one of a runner's provider and a host tells.
type Difference struct {
	Host string `json:"host"`
	check.Finding
}

// Input is what a list is made of. Everything but At may be empty.
type Input struct {
	At       time.Time // when the list is opened: the end of the window
	Since    time.Time // when the window begins
	Own      providers.Credential
	Jobs     []providers.Job        // what ran on it in the window
	Known    []providers.Credential // as its provider tells
	Findings map[string][]check.Result
	Gaps     []evidence.Gap
	Paused   time.Time // since when no new job comes to it; zero: not known

	JobsPartial string
	Outputs     []providers.Publication
	OutputGaps  []evidence.Gap
}

// Open makes the list. It is a pure function of its input.
func Open(in Input) List {
	l := List{Schema: Schema, Opened: in.At, Window: Window{From: in.Since, Until: in.At}, Gaps: slices.Clone(in.Gaps)}
	l.Jobs, l.JobsPartial, l.Outputs, l.OutputGaps = in.Jobs, in.JobsPartial, in.Outputs, in.OutputGaps
	b := builder{list: &l, at: map[key]int{}, from: lastRead(in)}
	if in.Own.Name != "" {
		b.add(in.Own)
	}
	for _, c := range in.Known {
		if c.Kind == "runner-token" && in.Own.Name != "" {
			b.mergeOwn(c) // the provider's name of the same credential
			continue
		}
		b.add(c)
	}
	for _, j := range in.Jobs {
		b.add(jobToken(j))
	}
	for _, host := range sortedHosts(in.Findings) {
		b.host(host, in.Findings[host])
	}
	b.order()
	return l
}

// With returns the list with what a later look at a host found. The old list is unchanged.
func (l List) With(host string, results []check.Result) List {
	n := l
	n.Entries, n.Gaps = slices.Clone(l.Entries), slices.Clone(l.Gaps)
	b := builder{list: &n, at: map[key]int{}}
	for i, c := range n.Entries {
		b.at[keyOf(c)] = i
	}
	b.host(host, results)
	b.order()
	return n
}

// Joined returns the list with all that an older one had: entries, proofs and gaps.
// Opening a list again must not lose what was on it.
func (l List) Joined(old List) List {
	n := l
	n.Entries, n.Gaps = slices.Clone(l.Entries), slices.Clone(l.Gaps)
	b := builder{list: &n, at: map[key]int{}}
	for i, c := range n.Entries {
		b.at[keyOf(c)] = i
	}
	for _, c := range old.Entries {
		if i, there := b.at[keyOf(c)]; there && (c.Replaced.IsZero() || n.Entries[i].Replaced.IsZero()) {
			c.Replaced, n.Entries[i].Replaced = time.Time{}, time.Time{} // one of the two could read the new value
		}
		b.add(c)
	}
	for _, g := range old.Gaps {
		if !slices.ContainsFunc(n.Gaps, func(x evidence.Gap) bool { return x.Name == g.Name && x.Why == g.Why }) {
			n.Gaps = append(n.Gaps, g)
		}
	}
	n.join(old)
	b.order()
	return n
}

// lastRead is the time until which the runner may have been given the value of a
// credential: its pause, or a job that came later all the same. Without a pause it is the
// end of its last job, and all the time where one runs or not all of them are known.
func lastRead(in Input) time.Time {
	last := in.Paused
	for _, j := range in.Jobs {
		began, end := j.StartedAt, j.FinishedAt
		switch {
		case in.Paused.IsZero() && end.IsZero() && !began.IsZero():
			return in.At
		case in.Paused.IsZero() && end.After(last):
			last = end
		case began.After(last):
			last = began
		}
	}
	if in.Paused.IsZero() && (in.JobsPartial != "" || len(in.Jobs) == 0) {
		return in.At
	}
	return last
}

// jobToken is the token that GitLab gives every job and that its runner has seen.
func jobToken(j providers.Job) providers.Credential {
	return providers.Credential{
		Name: "job token of job " + j.Ref.ID, Kind: "job-token", Where: j.Project.String(), Web: j.Web,
		Why: "the job ran here; its token is valid until the job ends",
	}
}

// Counts says how much of the list is dealt with. A credential may be both.
func (l List) Counts() (all, replaced, dead int) {
	for _, c := range l.Entries {
		if !c.Replaced.IsZero() {
			replaced++
		}
		if !c.Dead.IsZero() {
			dead++
		}
	}
	return len(l.Entries), replaced, dead
}

// Summary is one line: "12 credentials, 0 replaced, 0 dead", and what is not known.
func (l List) Summary() string {
	all, replaced, dead := l.Counts()
	s := fmt.Sprintf("%d %s, %d replaced, %d dead", all, plural(all, "credential"), replaced, dead)
	if n := len(l.Gaps); n > 0 {
		s += fmt.Sprintf("; the list has %d %s, so there may be more", n, plural(n, "gap"))
	}
	return s
}

// Lines is the summary and one line a kind, for a brief.
func (l List) Lines() []string {
	out := []string{l.Summary()}
	n, open := map[string]int{}, map[string]int{}
	var kinds []string
	for _, c := range l.Entries {
		if n[c.Kind] == 0 {
			kinds = append(kinds, c.Kind)
		}
		n[c.Kind]++
		if c.Replaced.IsZero() && c.Dead.IsZero() {
			open[c.Kind]++
		}
	}
	for _, k := range kinds {
		out = append(out, fmt.Sprintf("%s: %d, of these %d neither replaced nor dead", k, n[k], open[k]))
	}
	return out
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

func sortedHosts(m map[string][]check.Result) []string {
	out := make([]string, 0, len(m))
	for h := range m {
		out = append(out, h)
	}
	slices.SortFunc(out, strings.Compare)
	return out
}
