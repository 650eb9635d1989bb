// Package enginemodel is a small world for tests of the engine: one provider with a
// few runners, their hosts, and a clock, all in memory, each with faults on demand.
//
// Its ledger says what really happened, and is kept apart from everything that the
// engine believes. Plans and changes go through change.Admit like real ones, so
// nothing here happens without a permit. Only tests import it; it may import levels
// 0–4 and neither the engine nor a concrete provider.
package enginemodel

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"cordon/internal/change"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/providers"
)

// System is the name of the provider in this world.
const System = "fake"

// Entry is one effect that took place.
type Entry struct {
	Op     string
	Target target.Ref
	Change string // id of the change that made it
	Digest string // of that change
	Again  bool   // the network delivered the same call twice
}

// Fault is what goes wrong with the next change, or look.
type Fault string

// Faults of a change. None is a change that goes well.
const (
	None      Fault = ""
	LostReply Fault = "effect, then no answer"
	LostCall  Fault = "no effect and no answer"
	Twice     Fault = "delivered twice"
	Refuse    Fault = "refused"
	Slower    Fault = "refused for a minute: too many requests"
	Stale     Fault = "changed since it was planned"
	Nothing   Fault = "said yes and did nothing"
	DieBefore Fault = "the process dies before the effect"
	DieAfter  Fault = "the process dies after the effect"
)

// Faults lists every fault of a change.
var Faults = []Fault{None, LostReply, LostCall, Twice, Refuse, Slower, Stale, Nothing, DieBefore, DieAfter}

// Runner is one registration and the agent that uses it.
type Runner struct {
	Paused  bool
	Gone    bool
	Tokens  int  // how often its token was replaced
	Jobs    int  // that run now
	Knocks  bool // its agent goes on asking after the registration is gone
	Polls   bool // it is answered
	Back    bool // its machine came back under another registration
	Offline bool // the provider calls it offline
	until   time.Time
}

// Host is one machine with one agent.
type Host struct {
	Running bool
	Away    bool // it does not answer
	Last    time.Time
	Beside  []string       // roots of other agents that run there
	Jobs    []snapshot.Job // that its files tell of
}

// World is safe for concurrent use. Its fields are set before a run, or between calls.
type World struct {
	Clock *Clock

	mu      sync.Mutex
	runners map[string]*Runner
	hosts   map[string]*Host
	owner   map[string]string // host → runner
	ledger  []Entry
	calls   int // reads that were made

	Next   func(op string) Fault // what happens to the next change; nil: nothing goes wrong
	Effect func(change.Change)   // called just before an effect
	Die    func()                // the machine goes off
	Blind  func() error          // what a read fails with; nil or a nil error: it does not
	Lease  time.Duration         // how long a pause lasts; 0: for ever
	Silent time.Duration         // how long a watch has to be
	HTTP   bool                  // the exposure list takes twenty requests, each of them recorded
	Late   int                   // reads for which a deleted runner still shows
	gone   map[string]int
	ran    map[string][]providers.Job
}

// New makes a world with runners 1 to n, each on its own host "h1" to "hn" with one job.
func New(n int) *World {
	w := &World{
		Clock: NewClock(), runners: map[string]*Runner{}, hosts: map[string]*Host{}, owner: map[string]string{},
		Silent: time.Hour, gone: map[string]int{}, ran: map[string][]providers.Job{},
	}
	for i := range n {
		id, h := fmt.Sprint(i+1), fmt.Sprintf("h%d", i+1)
		w.runners[id] = &Runner{Polls: true, Jobs: 1}
		w.hosts[h] = &Host{Running: true, Last: w.Clock.Now()}
		w.owner[h] = id
	}
	return w
}

// Add puts a runner into the world that no host runs: a scope may have its own number 1.
func (w *World) Add(t target.Ref) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runners[key(t)] = &Runner{Polls: true}
}

// key is a runner's number, with its scope where that has a path.
func key(t target.Ref) string { return strings.TrimPrefix(t.Scope.Path+"/"+t.ID, "/") }

// RunnerRef names runner id.
func RunnerRef(id string) target.Ref {
	return target.Ref{System: System, Kind: target.Runner, ID: id}
}

// HostRef names a host.
func HostRef(name string) target.Ref {
	return target.Ref{System: target.SSH, Kind: target.Host, ID: name}
}

// Systems are the systems of a run here.
func (w *World) Systems() map[string]providers.System {
	return map[string]providers.System{System: &Provider{w}, target.SSH: &Hosts{w}}
}

// Appliers are its appliers.
func (w *World) Appliers() map[string]providers.Applier {
	return map[string]providers.Applier{System: &Provider{w}, target.SSH: &Hosts{w}}
}

// With gives f the runner of an id, to look at or to change.
func (w *World) With(id string, f func(*Runner)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(w.runners[id])
}

// WithHost gives f a host.
func (w *World) WithHost(name string, f func(*Host)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(w.hosts[name])
}

// Ran puts a job of a runner on the list of those that ran on it.
func (w *World) Ran(id, job string, started time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ran[id] = append(w.ran[id], providers.Job{
		Ref: target.Ref{System: System, Kind: target.Job, ID: job}, Name: "build", Project: "group/project", Status: "running", StartedAt: started,
	})
}

// Ledger is what happened, in order.
func (w *World) Ledger() []Entry {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Entry(nil), w.ledger...)
}

// Reads is how many reads were made.
func (w *World) Reads() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls
}

// runner is a registration as it is now: a pause that ends by itself may have. The lock
// is held.
func (w *World) runner(id string) *Runner {
	r := w.runners[id]
	if w.Lease > 0 && r.Paused && !r.until.IsZero() && w.Clock.Now().After(r.until) {
		r.Paused = false
	}
	return r
}

// read counts a read and says whether it fails.
func (w *World) read() error {
	w.mu.Lock()
	w.calls++
	blind := w.Blind
	w.mu.Unlock()
	if blind == nil {
		return nil
	}
	return blind()
}
