// Package operator runs the commands that the owner of cordon configured for what
// other systems have to do: isolate a machine in the EDR, snapshot a disk, protect it
// from scale-in, suspend a user, push a new token.
//
// An action is a program and its arguments, never a shell. What comes from a case
// (runner, host, case id) is put into single arguments as data. Planning starts no
// process; doing starts one, once, under the permit for exactly its arguments; looking
// again (verify) is free of effects by the contract with the owner. The package may
// import levels 0–2 and no provider.
package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"cordon/internal/change"
	"cordon/internal/clock"
	"cordon/internal/evidence"
	"cordon/internal/redact"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
	"cordon/providers"
)

// Name is the system under which actions are planned and applied.
const Name = "operator"

// Operations of this package.
const (
	OpDo   = "operator.do@1"
	OpUndo = "operator.undo@1"
)

// Action is one configured action. Verify and Undo may be empty. OnHosts says that it
// is done for each host and not for the runner.
type Action struct {
	Title, Verb      string
	OnHosts          bool
	Do, Verify, Undo []string
	Timeout          time.Duration // of each command
	Env              []string      // names passed through
	TipsOff          string
	Destroys         []string
}

// Args are the arguments of a plan and of both operations.
type Args struct {
	Name   string `json:"name"`
	Case   string `json:"case"`
	Runner string `json:"runner"` // target.Ref in its command-line form
	Host   string `json:"host,omitempty"`
}

// Options are the parts of a System. Getenv is nil for the real environment. Without
// Processes no process is ever started: that is a read-only run, in which not even
// verify is asked.
type Options struct {
	Actions   map[string]Action
	Clock     clock.Clock
	Marker    redact.Marker
	Processes bool
	Getenv    func(string) (string, bool)
}

// System plans actions. Safe for concurrent use.
type System struct{ o Options }

// New returns the system. It starts and reads nothing.
func New(o Options) *System {
	if o.Getenv == nil {
		o.Getenv = os.LookupEnv
	}
	return &System{o}
}

// Name implements providers.System.
func (s *System) Name() string { return Name }

// Plan implements providers.System for the verb operator; args is Args. An action that
// is not configured is a plan with what has to be done by hand. It starts no process.
func (s *System) Plan(_ context.Context, verb string, t target.Ref, args json.RawMessage) ([]change.Plan, error) {
	if verb != providers.Operator {
		return nil, fmt.Errorf("plan %s of %s: %w: operator actions are planned with %s", verb, t, providers.ErrNoVerb, providers.Operator)
	}
	var a Args
	if err := change.Strict(args, &a); err != nil {
		return nil, fmt.Errorf("plan an operator action on %s: %w", t, err)
	}
	if t.Kind == target.Host {
		a.Host = t.ID
	}
	p := change.Plan{Verb: providers.Operator, Option: untrusted.Clean(a.Name, 63), Made: s.o.Clock.Now()}
	x, ok := s.o.Actions[a.Name]
	byHand := func(title string, what ...string) ([]change.Plan, error) {
		p.Title, p.Manual = title, append(what, "do it by hand, and skip this with what was done as the reason")
		return []change.Plan{p}, nil
	}
	switch {
	case !ok:
		return byHand("operator action "+p.Option+" is not configured here",
			"the playbook names an action that this configuration does not have: operator: {"+p.Option+": {title: …, on: …, do: [program, argument]}}")
	case x.OnHosts != (t.Kind == target.Host):
		return byHand(x.Title, "the configuration says on: "+place(x.OnHosts)+", and the playbook asks for "+t.Short())
	}
	p.Verb, p.Title = x.Verb, fmt.Sprintf("%s: %s", x.Title, t.Short())
	c, err := s.change(OpDo, x, t, a)
	if err != nil {
		return byHand(x.Title, untrusted.Clean(err.Error(), 300))
	}
	if len(x.Undo) > 0 {
		u, err := s.change(OpUndo, x, t, a)
		if err != nil {
			return byHand(x.Title, "its undo: "+untrusted.Clean(err.Error(), 300))
		}
		c.Undo = &u
	}
	p.Changes, p.TipsOff = []change.Change{c}, x.TipsOff
	p.Covers = "what the command does; cordon sees how it ended and what it printed"
	p.Limits = []string{fmt.Sprintf("runs on this machine as whoever runs cordon, for at most %s", x.Timeout)}
	if len(x.Verify) == 0 {
		p.Limits = append(p.Limits, "it has no verify: whether it worked is what the command says, and a command that fails half-way stays unknown")
	}
	if x.OnHosts {
		p.Limits = append(p.Limits, "for "+a.Host+" alone")
	}
	return []change.Plan{p}, nil
}

func place(hosts bool) string {
	if hosts {
		return "hosts"
	}
	return "runner"
}

// before is what must still be so when the action is done.
type before struct {
	SHA256 string `json:"sha256"` // of the program
}

// change is the one process that Apply starts, as the plan shows it.
func (s *System) change(op string, x Action, t target.Ref, a Args) (change.Change, error) {
	argv, word, title := x.Do, "do", x.Title
	if op == OpUndo {
		argv, word, title = x.Undo, "undo", "undo: "+x.Title
	}
	argv, err := s.argv(argv, a)
	if err != nil {
		return change.Change{}, err
	}
	for _, name := range x.Env {
		if _, ok := s.o.Getenv(name); !ok {
			return change.Change{}, fmt.Errorf("%s is not set in the environment of cordon, and the action wants it", name)
		}
	}
	c := change.Change{
		System: Name, Op: op, Title: untrusted.Clean(title+": "+t.Short(), 200), Target: t,
		Args: encode(a), Call: call(a.Name, word, argv),
	}
	if op == OpUndo { // may be wanted weeks later, with a newer program
		return c, nil
	}
	sum, err := programSum(argv[0])
	if err != nil {
		return change.Change{}, err
	}
	c.Before, c.TipsOff, c.Destroys = encode(before{sum}), x.TipsOff, x.Destroys
	return c, nil
}

func call(name, word string, argv []string) change.Call {
	return change.Call{Method: "RUN", URL: "operator://" + name + "/" + word, Body: string(untrusted.EscapeJSON(encode(argv)))}
}

// Observe implements providers.System. An action is about targets of other systems,
// and says of itself nothing between two runs.
func (s *System) Observe(_ context.Context, t target.Ref) ([]witness.Observation, error) {
	why := "operator actions see nothing by themselves"
	return []witness.Observation{{Subject: t, At: s.o.Clock.Now(), CouldNot: why, Says: why}}, nil
}

// Gather implements providers.System: there is nothing to keep.
func (s *System) Gather(_ context.Context, t target.Ref, _ string, _ evidence.Sink) ([]evidence.Gap, error) {
	return nil, fmt.Errorf("gather %s: %w", t, providers.ErrNotYours)
}

// encode marshals a closed value without escaping what HTML would need.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("operator: a closed struct did not marshal: " + err.Error())
	}
	return json.RawMessage(strings.TrimSpace(b.String()))
}
