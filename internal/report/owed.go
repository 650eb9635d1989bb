package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/untrusted"
	"cordon/playbooks"
)

// manualData is what a person let wait, or did and another has to sign for.
type manualData struct {
	Task  string    `json:"task"`
	State string    `json:"state"`
	Owner string    `json:"owner"`
	Due   time.Time `json:"due"`

	step, by string
}

// waits reports whether it is somebody's to do: from now on, or long since.
func (m manualData) waits() bool { return m.State == "waiting" || m.State == "worked" }

// overdue reports whether the day is over on which it was to be done.
func (m manualData) overdue(now time.Time) bool { return !m.Due.IsZero() && !now.Before(m.Due) }

func (m manualData) says(now time.Time) string {
	who := untrusted.Clean(either(m.Owner, "somebody"), 60)
	what := untrusted.Clean(m.step, 40)
	if m.State == "worked" {
		what = "the signature under " + what
		if m.Owner == "" {
			who = "somebody else than " + untrusted.Clean(m.by, 60)
		}
	}
	switch day := m.Due.UTC().Format("2006-01-02 15:04Z"); {
	case m.Due.IsZero():
		return fmt.Sprintf("%s owes %s, no day was said", who, what)
	case m.overdue(now):
		return fmt.Sprintf("OVERDUE since %s: %s owes %s", day, who, what)
	default:
		return fmt.Sprintf("%s owes %s by %s", who, what, day)
	}
}

// owed is what people owe the case, what is overdue first, then by day.
func (f *fold) owed() []manualData {
	var all []manualData
	for _, m := range f.manual {
		if m.waits() && !f.ended[m.step][m.Task] {
			all = append(all, m)
		}
	}
	all = append(all, f.late(all)...)
	slices.SortFunc(all, func(a, b manualData) int {
		if a.Due.IsZero() != b.Due.IsZero() {
			return cmp.Compare(b.Due.Unix(), a.Due.Unix()) // without a day: last
		}
		return cmp.Or(a.Due.Compare(b.Due), strings.Compare(a.Task, b.Task))
	})
	return all
}

// late are the steps for people whose own time, by the playbook, is over, and that nobody
// is named for yet.
func (f *fold) late(named []manualData) []manualData {
	var out []manualData
	for _, s := range f.steps {
		tasks := 0
		m := manualData{State: "waiting", step: s.ID}
		for _, a := range s.Acts {
			tasks += f.tasks(a)
			if w := a.Within(); a.Do == playbooks.Manual && w > 0 && m.Due.IsZero() {
				m.Due, m.Owner = f.opened.Add(w), a.Owner
			}
		}
		known := slices.ContainsFunc(named, func(x manualData) bool { return x.step == s.ID })
		if f.closed == "" && !known && len(f.ended[s.ID]) < tasks && m.overdue(f.asOf) {
			out = append(out, m)
		}
	}
	return out
}

// debts says in a few words how much is owed, "" where nothing is.
func (f *fold) debts() string {
	all := f.owed()
	if len(all) == 0 {
		return ""
	}
	s := fmt.Sprintf("%d owed by people", len(all))
	late := 0
	for _, m := range all {
		if m.overdue(f.asOf) {
			late++
		}
	}
	if late > 0 {
		s += fmt.Sprintf(", %d OVERDUE", late)
	}
	return s
}

// Remarks are what a list of cases says of one beside its state: the glass that was
// broken and nobody agreed to since, and who owes what by when. now is the time at which
// a day counts as over.
func Remarks(v *casefile.View, now time.Time) []string {
	f := read(v, now)
	var out []string
	if s := f.glassSays(); s != "" {
		out = append(out, untrusted.Clean(s, maxLine))
	}
	for _, m := range f.owed() {
		out = append(out, untrusted.Clean(m.says(now), maxLine))
	}
	return out
}
