package engine

import (
	"fmt"
	"slices"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/change"
	"cordon/internal/signing"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/playbooks"
)

// Request is what a second person is asked to sign. It follows from the journal alone,
// so that it needs no lock and says the same on every machine.
type Request struct {
	Case, Step, Title, Task string
	Target                  target.Ref
	Plan, Option, What      string // hash, and the plan in words
	Simulated               bool
	By, Key                 string // who asks
	Until                   time.Time
	Current                 bool // it waits: the task was planned so last and has not ended, or the glass was broken for it
}

// Binds is what is approved: this step of this task, this plan, this target, and nothing else.
func (q Request) Binds() string { return binds(q.Step, q.Task, q.Plan, q.Target) }

func binds(step, task, plan string, on target.Ref) string {
	return signing.Bind(step, task, plan, on.String())
}

// Text is what is signed, in exactly eight lines.
func (q Request) Text() string {
	line := func(s string) string { return untrusted.Clean(s, 300) + "\n" }
	return line(NamespaceApproval) +
		line("case "+q.Case+simulated(q.Simulated)) +
		line("step "+q.Step+": "+q.Title) +
		line("task "+q.Task) +
		line("target "+q.Target.String()) +
		line("plan "+q.Plan+" "+q.What) +
		line(fmt.Sprintf("asked by %s (key %s), counts until %s", q.By, orNone(q.Key), q.Until.UTC().Format(time.RFC3339))) +
		line("binds sha256:"+q.Binds())
}

func simulated(is bool) string {
	if is {
		return " SIMULATED"
	}
	return ""
}

// ParseRequest reports whether text is a request: eight lines that begin as one does. A
// person reads the rest.
func ParseRequest(text []byte) error {
	_, err := signing.ParseApproval(string(text))
	return err
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// Requests lists what a case asks a second person for, newest first. by says who may be
// one: an approval on record that does not count answers no request.
func Requests(v *casefile.View, p *playbooks.Playbook, by Approvals) ([]Request, error) {
	w := wanted{v: v, p: p, by: by, latest: map[string]map[string]bool{}, glass: map[string]bool{}}
	for _, l := range slices.Backward(v.Lines) {
		if err := w.line(l); err != nil {
			return nil, err
		}
	}
	return w.all, nil
}

// wanted reads a journal from its end.
type wanted struct {
	v      *casefile.View
	p      *playbooks.Playbook
	by     Approvals
	all    []Request
	latest map[string]map[string]bool // task → hashes it was planned with last; empty: it has ended, or is open anew
	glass  map[string]bool            // binding → the glass was broken for it and nobody has countersigned
}

func (w *wanted) line(l casefile.Line) error {
	over := func(tasks ...string) {
		for _, k := range tasks {
			if w.latest[k] == nil {
				w.latest[k] = map[string]bool{}
			}
		}
	}
	switch l.Kind {
	case "step":
		return with(l, func(d stepData) { over(d.Task) })
	case "drift", "anew":
		return with(l, func(d anewData) { over(d.Task) })
	case "again":
		return with(l, func(d againData) { over(d.Tasks...) })
	case "approve":
		return with(l, func(d approveData) {
			if x := (approval{d, l.Step, l.Target, l.T}); w.by.sound(x, w.v.ID, w.v.Simulated) == nil {
				w.glass[d.Binds] = false
			}
		})
	case "break-glass":
		return with(l, func(d glassData) {
			if _, later := w.glass[d.Binds]; !later {
				w.glass[d.Binds] = true
			}
		})
	case "plan":
		return with(l, func(d planData) { w.plans(l, d) })
	}
	return nil
}

func (w *wanted) plans(l casefile.Line, d planData) {
	version := max(d.Hash, change.HashWhole)
	if w.latest[d.Task] == nil {
		w.latest[d.Task] = map[string]bool{}
		for _, pl := range d.Plans {
			w.latest[d.Task][pl.HashOf(version)] = true
		}
	}
	title := standDownTitle
	if i := slices.IndexFunc(w.p.Steps, func(s playbooks.Step) bool { return s.ID == l.Step }); i >= 0 {
		title = w.p.Steps[i].Title
	} else if l.Step != standDownStep {
		return
	}
	if d.Until.IsZero() {
		return
	}
	for _, pl := range d.Plans {
		if !pl.Appliable() {
			continue
		}
		q := Request{
			Case: w.v.ID, Step: l.Step, Title: title, Task: d.Task, Target: l.Target, Plan: pl.HashOf(version), Option: pl.Option,
			Simulated: w.v.Simulated, What: pl.Verb + "/" + pl.Option + ": " + pl.Title, By: l.Actor, Key: l.Key, Until: d.Until,
		}
		q.Current = w.latest[d.Task][q.Plan] || w.glass[q.Binds()]
		w.all = append(w.all, q)
	}
}
