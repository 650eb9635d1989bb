// Package engine runs a playbook on a case.
//
// Next and Answer are its whole interface: Next says what is to be decided or what
// was done, Answer takes one decision. A screen, the plain prompts and --yes answer
// the same prompts. The state of a run is a fold over the journal, so a run that was
// killed goes on from its last synced line: an intent without a result is unknown,
// and is observed before anything else. Nothing is applied without a decision that
// carries the hash of the plan that was shown, and never in a run without an Issuer.
//
// The package may import levels 0–4 and no concrete provider.
package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/change"
	"cordon/internal/check"
	"cordon/internal/clock"
	"cordon/internal/evidence"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/internal/transport"
	"cordon/playbooks"
	"cordon/providers"
)

// Errors that callers test for.
var (
	ErrReadOnly = errors.New("this run may not write: no permit can exist in it")
	ErrOutdated = errors.New("that decision answers an older prompt: look again")
	ErrGuarded  = errors.New("a guard holds this plan back")
	ErrReason   = errors.New("a written reason is needed")
	ErrChoice   = errors.New("not a choice at this prompt")
)

// Journal is the case as the engine needs it; *casefile.Case is one. Append is
// durable when it returns.
type Journal interface {
	evidence.Sink
	Append(casefile.Event) (casefile.Line, error)
	SignHead(casefile.Signer) error
	View() (*casefile.View, error)
	// Holds reads a blob again and says why it is not what was put, nil where it is.
	Holds(digest string) error
}

// Options are the parts a run is built from. Appliers and Issuer are absent in
// read-only and dry runs.
type Options struct {
	Journal  Journal
	Playbook *playbooks.Playbook
	Runner   target.Ref   // zero with no Runners: a case about its hosts alone
	Runners  []target.Ref // of a case with several; the first is Runner, and is tried alone before the others
	Hosts    []target.Ref
	HostsOf  map[target.Ref][]target.Ref // which hosts use which runner; a runner that is not in it: all of them
	Systems  map[string]providers.System
	Appliers map[string]providers.Applier
	Issuer   *change.Issuer
	Clock    clock.Clock
	Signer   casefile.Signer
	Actor    Actor     // who decides here
	Approval Approvals // who may be the second person
	Budget   Budget    // how much may be read
	Checks   check.Options

	Files  func(path string) (File, error) // reads what a person keeps with a step; nil: no files are taken
	Secret func(s string) bool             // whether a written answer looks like a secret; nil: none does

	// Strays names the runners on a host that was read which no list of ours has, given
	// the runners of the case; nil: nobody looks.
	Strays func(s *snapshot.Snapshot, ours []target.Ref) []Stray

	// NotOf says why a host that was read is not a runner's, in words that are cleaned;
	// empty: it may be. LikeHosts names the configured hosts that may be a runner's for
	// which none is known. nil: nobody looks.
	NotOf     func(s *snapshot.Snapshot, r providers.Runner, ms []providers.Manager) string
	LikeHosts func(r providers.Runner) []string
}

// Run is one playbook run on one case. It is used by one goroutine at a time.
type Run struct {
	o     Options
	book  []task // of the playbook
	st    *state
	shown Prompt   // the prompt that waits for an answer; N 0: none
	of    [][]task // for each plan that is shown, the task of each of its changes
	n     int
	told  []Prompt // what Answer did, for Next to show first

	looked  map[string]bool // tasks that were gathered or planned in this process
	checked map[string]bool // steps before which the pauses were read again, in this process
	late    map[string]bool // jobs and approvals that were told of in this process
	heard   map[string]bool // entries of a service's audit log that are on record; nil: not read yet
	calls   int             // requests that were made in this process
	over    func()          // asked after each of them; nil: nobody asks
	began   time.Time       // when it was opened in this process
	since   time.Time       // since when a prompt waits; zero: none does
	waited  time.Duration   // what prompts have waited so far
	picked  string          // key of a waiting task that somebody wants to see now

	sinceLine func() time.Duration // how long ago the last line was written, or the run opened

	sinking sync.Mutex

	unplanned int // plans that could not be made, in this process

	caseID, kind string // of the case; kind is incident or offboarding
	simulated    bool
}

// Open folds the journal of o into a run that stands where the last one stopped.
func Open(o Options) (*Run, error) {
	if len(o.Runners) == 0 && (!o.Runner.IsZero() || len(o.Hosts) == 0) {
		o.Runners = []target.Ref{o.Runner}
	}
	if len(o.Runners) > 0 {
		o.Runner = o.Runners[0]
	}
	for _, t := range o.Runners {
		if _, ok := o.Systems[t.System].(providers.Provider); !ok {
			return nil, fmt.Errorf("open run: no provider called %q is configured", t.System)
		}
	}
	r := &Run{
		o: o, book: expand(o.Playbook, o.Runners, o.Hosts), st: newState(),
		looked: map[string]bool{}, checked: map[string]bool{}, late: map[string]bool{},
	}
	if o.Clock != nil {
		r.began = o.Clock.Now()
		r.sinceLine = clock.Elapsed(o.Clock)
	}
	v, err := o.Journal.View()
	if err != nil {
		return nil, fmt.Errorf("open run: %w", err)
	}
	r.st.window, r.caseID, r.kind, r.simulated = v.Opening.Window, v.ID, v.Opening.Kind, v.Simulated
	for _, l := range v.Lines {
		if err := r.st.apply(l); err != nil {
			return nil, fmt.Errorf("open run: journal line %d: %w", l.Seq, err)
		}
	}
	return r, nil
}

// append writes one line and folds it, so that a live run and a resumed one can
// never differ.
func (r *Run) append(e casefile.Event) error {
	l, err := r.o.Journal.Append(e)
	if err != nil {
		return err
	}
	r.sinceLine = clock.Elapsed(r.o.Clock)
	return r.st.apply(l)
}

// record returns ctx with every call below it written to the journal under a step.
// A call that cannot be written is not hidden: the error is kept and ends the act.
func (r *Run) record(ctx context.Context, t task) (context.Context, *error) {
	var failed error
	ctx = transport.WithRecorder(ctx, func(x transport.Exchange) {
		if !x.Reused {
			r.calls++
		}
		if r.over != nil {
			r.over()
		}
		err := r.append(casefile.Event{
			Kind: "exchange", Step: t.step.ID, OK: x.Err == "", Status: x.Status,
			Req: &casefile.Request{Method: x.Method, Path: x.Path, RequestID: x.RequestID, Date: x.Date},
			Msg: x.Err, Data: encode(x),
		})
		failed = errors.Join(failed, err)
	})
	return evidence.WithSink(ctx, r.sink()), &failed
}

// finish writes how a task ended, and at the end of a step signs the head.
func (r *Run) finish(t task, end, why string) error {
	err := r.append(casefile.Event{
		Kind: "step", Step: t.step.ID, Target: t.on, OK: end == Done || end == NotNeeded, Msg: why,
		Data: encode(stepData{Task: t.key(), End: end, Why: why}),
	})
	if err != nil {
		return err
	}
	if r.stepOver(t.step.ID) && r.o.Signer != nil {
		if err := r.o.Journal.SignHead(r.o.Signer); err != nil {
			// An agent that went away with the link must not stop a containment; the record says so.
			return r.append(casefile.Event{Kind: "note", Step: t.step.ID, Msg: "head not signed: " + err.Error()})
		}
	}
	return nil
}

func (r *Run) stepOver(id string) bool {
	for _, t := range r.todo() {
		if t.step.ID == id && r.st.end[t.key()] == "" {
			return false
		}
	}
	return true
}

// system is the provider or the hosts that a target belongs to.
func (r *Run) system(t target.Ref) (providers.System, error) {
	if s, ok := r.o.Systems[t.System]; ok {
		return s, nil
	}
	return nil, fmt.Errorf("no system called %q is configured", t.System)
}

func (r *Run) provider(runner target.Ref) providers.Provider {
	return r.o.Systems[runner.System].(providers.Provider) // checked by Open
}
