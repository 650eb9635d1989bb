// Package providers is the contract every provider keeps, hosts included.
//
// A System plans, observes and gathers; it never writes. Only an Applier writes,
// and it is not constructed in read-only mode. A new provider implements Provider
// (and Applier), passes providertest.Suite, and is added to internal/app. The
// package may import levels 0 and 1 and no concrete provider.
package providers

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"cordon/internal/change"
	"cordon/internal/evidence"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
)

// Verbs that plans are asked for. A system answers an unknown verb with ErrNoVerb.
const (
	Pause      = "pause"
	Resume     = "resume"
	Cancel     = "cancel"
	Rotate     = "rotate"
	Collect    = "collect" // read a host: a plan with Contacts and no Changes
	Stop       = "stop"    // stop and disable the agent's unit on a host
	Deregister = "deregister"
	Revoke     = "revoke"   // end a credential that is not the runner's own: one option for each
	Purge      = "purge"    // remove caches and artifacts of its runs, once their description is kept
	Operator   = "operator" // an action of the owner's configuration, for what other systems do
)

// Profiles that Gather is asked for.
const (
	Express = "express" // the three provider reads before a pause: details, managers, running jobs
	Triage  = "triage"  // everything the first set of host checks needs
	Watch   = "watch"   // what a silence watch needs of a host: processes, sockets, the agent's log
)

// Errors that callers test for. Everything a service says is wrapped in one of
// these where it fits; the text then is for people.
var (
	ErrNotFound     = errors.New("not found")              // gone, or not visible to this credential
	ErrUnauthorized = errors.New("credential refused")     // 401
	ErrForbidden    = errors.New("not permitted")          // 403
	ErrConflict     = errors.New("refused in this state")  // 409, 412, 422
	ErrLimited      = errors.New("rate limited")           // 429
	ErrUnavailable  = errors.New("service did not answer") // 5xx, time-out, no connection
	ErrMalformed    = errors.New("answer not understood")  // HTML, bad JSON, wrong shape, too large
	ErrNoVerb       = errors.New("no such verb here")      // Plan with an unknown verb
	ErrNotSearched  = errors.New("not searched")           // a list that was not looked for, which is no empty one
	ErrNotYours     = errors.New("not a target of this system")
)

// System is an account at a provider, or the hosts reached over SSH. It never
// writes. All methods are safe for concurrent use and end with ctx.
type System interface {
	// Name is the configured name; it is Ref.System of every target here.
	Name() string
	// Plan returns the honest options for verb, best first. A plan with Manual and no
	// Changes means: not possible from here. It may read; it sends no mutating call.
	Plan(ctx context.Context, verb string, t target.Ref, args json.RawMessage) ([]change.Plan, error)
	// Observe reads the target now. What could not be seen is an observation with
	// CouldNot, not an error; the error is for a broken request or a finished ctx.
	Observe(ctx context.Context, t target.Ref) ([]witness.Observation, error)
	// Gather keeps what profile asks for in the sink and returns what it could not have.
	Gather(ctx context.Context, t target.Ref, profile string, to evidence.Sink) ([]evidence.Gap, error)
}

// Provider is a System that has runners.
type Provider interface {
	System
	// Can says what this credential can do with t, verb by verb, by reads alone. A runner
	// without an id asks about any runner of its scope, or of the system. Below
	// transport.AsActing it is the credential for acting that is asked about.
	Can(ctx context.Context, t target.Ref) ([]Capability, error)
	// Runners streams the list, a page at a time; it stops with yield's error. A scope
	// that failed comes as a Page with a Gap, never as an empty list.
	Runners(ctx context.Context, yield func(Page) error) error
	// Runner reads one registration. A target without a scope gets it filled; with
	// another scope than the provider says, the error is ErrNotYours.
	Runner(ctx context.Context, t target.Ref) (Runner, error)
	// Managers lists the processes that use the registration.
	Managers(ctx context.Context, t target.Ref) ([]Manager, error)
	// Silence says how long nothing must be heard before it means something here.
	Silence() Silence
}

// Applier carries out one change under the permit in ctx.
type Applier interface {
	// Apply compares Before again (change.ErrStale if it drifted), makes the one call, and
	// reads back. It never repeats a call. Outcome.State says what is known; err is
	// set with Refused and Unknown and says why. Safe for concurrent use.
	Apply(ctx context.Context, c change.Change) (change.Outcome, error)
}

// Settler tells, by reading only, whether a change whose outcome is unknown took
// effect. Optional for an Applier's system; Unknown where that cannot be seen.
type Settler interface {
	Settle(ctx context.Context, c change.Change) (state, why string, err error)
}

// JobLister lists jobs that ran on a runner. Optional.
type JobLister interface {
	// Jobs lists jobs created at or after since, newest first, at most max; partial says
	// why the list may lack some.
	Jobs(ctx context.Context, t target.Ref, since time.Time, max int) (jobs []Job, partial string, err error)
}

// Exposer names what the runner could reach. Optional. Names and places only, never values.
type Exposer interface {
	Exposure(ctx context.Context, t target.Ref, since time.Time) ([]Credential, []evidence.Gap, error)
}

// Returner looks for the same machine under another registration. Optional.
type Returner interface {
	// Returned is an observation with Returned yes, no or CouldNot.
	Returned(ctx context.Context, gone target.Ref, traits Traits, since time.Time) (witness.Observation, error)
}

// Capability is one cell of "what can I do here".
type Capability struct {
	Verb    string `json:"verb"`
	Level   string `json:"level"` // full, partial, manual, none, unknown
	Why     string `json:"why,omitempty"`
	Missing string `json:"missing,omitempty"` // the permission that is missing
}

// Page is part of a list. Gap says why the rest of the scope is missing; Expect is how
// many the service says there are, or -1.
type Page struct {
	Scope   target.Scope
	Runners []Runner
	Expect  int
	Gap     *evidence.Gap
}

// Runner is one registration as the provider tells it.
type Runner struct {
	Ref         target.Ref       `json:"ref"`
	Name        untrusted.Text   `json:"name"`
	Owner       untrusted.Text   `json:"owner,omitempty"` // group or project it is registered to, where known
	Status      string           `json:"status"`          // the provider's word: one witness among others
	Paused      witness.Tri      `json:"paused"`
	Busy        witness.Tri      `json:"busy"`
	Online      witness.Tri      `json:"online"`
	Labels      []untrusted.Text `json:"labels,omitempty"`
	Shared      bool             `json:"shared,omitempty"` // serves more than one project
	Locked      witness.Tri      `json:"locked,omitempty"`
	Untagged    witness.Tri      `json:"run_untagged,omitempty"`
	Version     untrusted.Text   `json:"version,omitempty"`
	CreatedAt   time.Time        `json:"created_at,omitzero"`
	LastContact time.Time        `json:"last_contact,omitzero"`
	Clock       witness.Clock    `json:"clock,omitempty"`
	Projects    []untrusted.Text `json:"projects,omitempty"` // paths that may run jobs on it, where visible
	Web         string           `json:"web,omitempty"`      // its page for a person
	Group       untrusted.Text   `json:"group,omitempty"`    // runner group, by name where it is known
	Ephemeral   witness.Tri      `json:"ephemeral,omitempty"`
	OS          untrusted.Text   `json:"os,omitempty"`
	Fixed       []untrusted.Text `json:"fixed_labels,omitempty"` // of Labels those that the service itself put there and keeps
	VersionEnds time.Time        `json:"version_ends,omitzero"`  // when the service gives this version no more jobs; zero: not told
}

// Manager is one process using a registration.
type Manager struct {
	Ref         target.Ref     `json:"ref"`
	SystemID    untrusted.Text `json:"system_id"` // s_… from the machine id, r_… random
	Address     untrusted.Text `json:"address"`   // as the provider saw it
	Version     untrusted.Text `json:"version,omitempty"`
	Status      string         `json:"status"`
	CreatedAt   time.Time      `json:"created_at,omitzero"`
	LastContact time.Time      `json:"last_contact,omitzero"`
}

// Job is one run of one job.
type Job struct {
	Ref        target.Ref     `json:"ref"`
	Name       untrusted.Text `json:"name"`
	Project    untrusted.Text `json:"project"`
	Branch     untrusted.Text `json:"branch"`
	Actor      untrusted.Text `json:"actor"`
	Status     string         `json:"status"`
	StartedAt  time.Time      `json:"started_at,omitzero"`
	FinishedAt time.Time      `json:"finished_at,omitzero"`
	Web        string         `json:"web,omitempty"`
	Run        string         `json:"run,omitempty"`   // id of the run or pipeline that it is a part of
	Flags      []string       `json:"flags,omitempty"` // what is odd about it, and what was not looked at
}

// Credential is one thing the runner could reach, by name and place.
type Credential struct {
	Name       string    `json:"name"`
	Kind       string    `json:"kind"`              // "ci-variable", "runner-token", "job-token", "deploy-key", "file"
	Where      string    `json:"where"`             // project, group, host path
	Why        string    `json:"why"`               // how it was reachable
	Deploys    bool      `json:"deploys,omitempty"` // its name or kind says that it publishes, signs or deploys
	Replaced   time.Time `json:"replaced,omitzero"` // its value is a new one, which nothing here could have read
	Changed    time.Time `json:"changed,omitzero"`  // when its value last changed, as the service says: read again since, it proves nothing
	Reached    time.Time `json:"reached,omitzero"`  // end of the last job here that could read it; zero: not known, or one still runs
	Dead       time.Time `json:"dead,omitzero"`     // refused at its issuer
	DeadSaysBy string    `json:"dead_says,omitempty"`
	Web        string    `json:"web,omitempty"`
	Owner      string    `json:"owner,omitempty"` // who can replace it, where the service says; empty: not told
}

// Traits are how a machine is known again after its registration is gone.
type Traits struct {
	Names     []string `json:"names,omitempty"`
	SystemIDs []string `json:"system_ids,omitempty"`
	Addresses []string `json:"addresses,omitempty"`
	Labels    []string `json:"labels,omitempty"` // that a person gave it
	Hosts     []string `json:"hosts,omitempty"`  // names of the machines that use it
	Known     *Known   `json:"known,omitempty"`  // nil: nobody looked while it was there
}

// Silence is how long a watch has to be, and why.
type Silence struct {
	Needs time.Duration `json:"needs_ns"`
	Why   string        `json:"why"`
}
