package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cordon/internal/casefile"
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
	sum := sha256.Sum256([]byte(strings.Join([]string{step, task, plan, on.String()}, "\n")))
	return hex.EncodeToString(sum[:])
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
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(lines) != 8 || !strings.HasSuffix(string(text), "\n") || lines[0] != NamespaceApproval || untrusted.Clean(strings.Join(lines, " "), len(text)) != strings.Join(lines, " ") {
		return errors.New("not a request for an approval: it has eight lines, the first " + NamespaceApproval + "; cordon case request-approval prints one")
	}
	for i, begins := range []string{"case ", "step ", "task ", "target ", "plan ", "asked by ", "binds sha256:"} {
		if !strings.HasPrefix(lines[i+1], begins) {
			return fmt.Errorf("not a request for an approval: line %d begins with %q", i+2, begins)
		}
	}
	return nil
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// Requests lists what a case asks a second person for, newest first.
func Requests(v *casefile.View, p *playbooks.Playbook) ([]Request, error) {
	w := wanted{v: v, p: p, latest: map[string]map[string]bool{}, glass: map[string]bool{}}
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
		return with(l, func(d approveData) { w.glass[d.Binds] = false })
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
	if w.latest[d.Task] == nil {
		w.latest[d.Task] = map[string]bool{}
		for _, pl := range d.Plans {
			w.latest[d.Task][pl.Hash()] = true
		}
	}
	i := slices.IndexFunc(w.p.Steps, func(s playbooks.Step) bool { return s.ID == l.Step })
	if i < 0 || d.Until.IsZero() {
		return
	}
	for _, pl := range d.Plans {
		if !pl.Appliable() {
			continue
		}
		q := Request{
			Case: w.v.ID, Step: l.Step, Title: w.p.Steps[i].Title, Task: d.Task, Target: l.Target, Plan: pl.Hash(), Option: pl.Option,
			Simulated: w.v.Simulated, What: pl.Verb + "/" + pl.Option + ": " + pl.Title, By: l.Actor, Key: l.Key, Until: d.Until,
		}
		q.Current = w.latest[d.Task][q.Plan] || w.glass[q.Binds()]
		w.all = append(w.all, q)
	}
}
