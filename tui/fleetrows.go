package tui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"cordon/internal/app"
	"cordon/internal/fleet"
	"cordon/internal/witness"
	"cordon/providers"
	"cordon/tui/filter"
	"cordon/tui/table"
)

// The columns of the fleet, by their place.
const (
	colRunner = iota
	colName
	colStatus
	colPaused
	colHost
	colState
	colCase
	colSeen
	colOwner
	colLabels
	colScope
)

// fleetColumns fill 80 cells with what decides whether a runner is the one that is
// meant; what is wider comes with more room. A reference is shown whole, at the expense of
// the name: two runners may be called the same, and must not look the same.
func fleetColumns() []table.Column {
	return []table.Column{
		colRunner: {Title: "RUNNER", Min: 14, Max: 44, Whole: true},
		colName:   {Title: "NAME", Min: 12, Max: 26, Least: 6},
		colStatus: {Title: "STATUS", Min: 13},
		colPaused: {Title: "PAUSED", Min: 6, Drop: 1},
		colHost:   {Title: "HOST", Min: 8, Max: 14, Drop: 3},
		colState:  {Title: "STATE", Min: 14, Drop: 2},
		colCase:   {Title: "CASE", Min: 6, Drop: 4},
		colSeen:   {Title: "SEEN", Min: 4, Drop: 5},
		colOwner:  {Title: "OWNER", Min: 10, Max: 24, Drop: 6},
		colLabels: {Title: "LABELS", Min: 10, Max: 24, Drop: 7},
		colScope:  {Title: "SCOPE", Min: 12, Max: 20, Drop: 8},
	}
}

// fleetItem is one row: what was joined, and whether this listing has seen it.
type fleetItem struct {
	fleet.Row
	id       string
	read     time.Time // when its provider listed it
	fresh    bool      // in this listing
	detailed bool      // its details were read: what is not there is not there
	open     []string  // cases that are open about it
}

// fleetList is one immutable snapshot of the fleet, for the table and the filter.
type fleetList struct {
	items []fleetItem
	wide  int // cells of the longest reference
	old   int // rows that this listing has not brought
	th    Theme
	now   func() time.Time
}

// detail is one runner that was read alone.
type detail struct {
	runner providers.Runner
	at     time.Time
}

// newFleetList makes the rows. began is when this listing began: what was read earlier
// is old and says so. details are laid over what the lists do not have.
func newFleetList(f fleet.Fleet, details map[string]detail, open []app.OpenCase, began time.Time, th Theme, now func() time.Time) *fleetList {
	l := &fleetList{items: make([]fleetItem, 0, len(f.Rows)), th: th, now: now}
	for _, r := range f.Rows {
		it := fleetItem{Row: r, read: r.SeenAt["provider"], detailed: !r.SeenAt["details"].IsZero()}
		if r.Runner.Ref.IsZero() {
			in := r.Installations[0]
			it.id = "host/" + in.Host + ":" + string(in.Root) + "#" + string(in.RunnerID)
			it.read = r.SeenAt["host/"+in.Host]
			it.fresh, it.detailed = true, true // a read of a host is as old as it says, not stale
		} else {
			it.id = r.Runner.Ref.String()
			l.wide = max(l.wide, ansi.StringWidth(r.Runner.Ref.Short()))
			it.fresh = !it.read.Before(began)
			if d, ok := details[it.id]; ok {
				it.Runner, it.detailed = d.runner, true
				it.read, it.fresh = d.at, true
			}
			for _, c := range open {
				if c.About(r.Runner.Ref) {
					it.open = append(it.open, c.ID)
				}
			}
		}
		if !it.fresh {
			l.old++
		}
		l.items = append(l.items, it)
	}
	return l
}

// Widest implements table.Wider.
func (l *fleetList) Widest(col int) int {
	if col == colRunner {
		return l.wide
	}
	return 0
}

// Len implements table.Source.
func (l *fleetList) Len() int { return len(l.items) }

// ID implements table.Source.
func (l *fleetList) ID(i int) string { return l.items[i].id }

// Cell implements table.Source.
func (l *fleetList) Cell(i, col int) string {
	it := &l.items[i]
	r := &it.Runner
	switch col {
	case colRunner:
		if r.Ref.IsZero() {
			return "none"
		}
		return r.Ref.Short()
	case colName:
		if r.Ref.IsZero() {
			return string(it.Installations[0].Name)
		}
		return string(r.Name)
	case colStatus:
		return l.status(it)
	case colPaused:
		return triWord(r.Paused)
	case colHost:
		return strings.Join(it.Hosts, ",")
	case colState:
		return marked(l.th, it.stateWord())
	case colCase:
		switch len(it.open) {
		case 0:
			return ""
		case 1:
			return "open"
		}
		return strconv.Itoa(len(it.open)) + " open"
	case colSeen:
		if r.LastContact.IsZero() {
			return "?"
		}
		return age(l.now().Sub(r.LastContact))
	case colOwner:
		return unknownUnless(it.detailed, string(r.Owner))
	case colLabels:
		return strings.TrimPrefix(strings.Join(append([]string{unknownUnless(it.detailed, labels(r))}, app.AgentWords(*r, l.now())...), "; "), "; ")
	case colScope:
		return scopeText(r)
	}
	return ""
}

// status is the provider's word; one that was not heard now has its age in front.
func (l *fleetList) status(it *fleetItem) string {
	word := it.Runner.Status
	switch {
	case it.Runner.Ref.IsZero():
		return "no runner"
	case word == "":
		word = "?"
	}
	if !it.fresh {
		return l.th.Glyph("warn") + " " + age(l.now().Sub(it.read)) + ": " + word
	}
	return marked(l.th, word)
}

// Tone implements table.Toner.
func (l *fleetList) Tone(i, col int) string {
	it := &l.items[i]
	switch {
	case col == colStatus && !it.fresh:
		return "warn"
	case col == colStatus:
		return level[it.Runner.Status]
	case col == colPaused && it.Runner.Paused == witness.Yes:
		return "warn"
	case col == colState:
		return level[it.stateWord()]
	case col == colCase && len(it.open) > 0:
		return "warn"
	}
	return ""
}

// stateWord is what holding provider and hosts together says, or how far anybody looked.
func (it *fleetItem) stateWord() string {
	switch {
	case it.State != fleet.Agreed:
		return it.State
	case it.Looked == fleet.Looked:
		return "agreed"
	}
	return it.Looked
}

// Each implements filter.Row.
func (it *fleetItem) Each(k filter.Key, yield func(string) bool) bool {
	r := &it.Runner
	one := func(s string, known bool) bool {
		if s != "" {
			yield(s)
		}
		return known || s != ""
	}
	switch k {
	case filter.Status:
		return one(r.Status, false)
	case filter.Label:
		for _, x := range r.Labels {
			if !yield(string(x)) {
				return true
			}
		}
		return it.detailed || len(r.Labels) > 0
	case filter.Host:
		for _, h := range it.Hosts {
			if !yield(h) {
				return true
			}
		}
		return len(it.Hosts) > 0
	case filter.Owner:
		return one(string(r.Owner), it.detailed)
	case filter.Name:
		if r.Ref.IsZero() {
			return one(string(it.Installations[0].Name), true)
		}
		return one(string(r.Name), true)
	case filter.Provider:
		return one(r.Ref.System, true)
	case filter.State:
		return one(strings.ReplaceAll(it.stateWord(), " ", "-"), true)
	case filter.Paused:
		return one(string(r.Paused), false)
	case filter.Busy:
		return one(string(r.Busy), false)
	case filter.Scope:
		return one(scopeText(r), true)
	case filter.ID:
		return one(it.id, true)
	}
	return false
}

// Last implements table.Comparer: what is not known comes last either way.
func (l *fleetList) Last(i, col int) bool {
	it := &l.items[i]
	switch col {
	case colStatus:
		return it.Runner.Status == ""
	case colPaused:
		return it.Runner.Paused == witness.Unknown
	case colHost:
		return len(it.Hosts) == 0
	case colCase:
		return len(it.open) == 0
	case colSeen:
		return it.Runner.LastContact.IsZero()
	case colOwner:
		return it.Runner.Owner == ""
	case colLabels:
		return len(it.Runner.Labels) == 0
	}
	return it.Runner.Ref.IsZero()
}

// Compare implements table.Comparer. Seen and status put first what needs a look.
func (l *fleetList) Compare(i, j, col int) int {
	a, b := &l.items[i], &l.items[j]
	switch col {
	case colRunner:
		x, y := a.Runner.Ref, b.Runner.Ref
		return cmp.Or(cmp.Compare(x.System, y.System), cmp.Compare(len(x.ID), len(y.ID)), cmp.Compare(x.ID, y.ID))
	case colName:
		return compareFold(string(a.Runner.Name), string(b.Runner.Name))
	case colStatus:
		return cmp.Or(cmp.Compare(a.Runner.Status, b.Runner.Status), a.read.Compare(b.read))
	case colPaused:
		return -cmp.Compare(a.Runner.Paused, b.Runner.Paused) // yes before no
	case colHost:
		return slices.Compare(a.Hosts, b.Hosts)
	case colState:
		return cmp.Or(cmp.Compare(badness(a.stateWord()), badness(b.stateWord())), cmp.Compare(a.stateWord(), b.stateWord()))
	case colCase:
		return cmp.Compare(len(b.open), len(a.open)) // the most first
	case colSeen:
		return b.Runner.LastContact.Compare(a.Runner.LastContact) // the least age first
	case colOwner:
		return compareFold(string(a.Runner.Owner), string(b.Runner.Owner))
	case colLabels:
		return slices.Compare(a.Runner.Labels, b.Runner.Labels)
	case colScope:
		return cmp.Compare(scopeText(&a.Runner), scopeText(&b.Runner))
	}
	return 0
}
