// Package providertest is the suite that every provider must pass.
//
// A provider's own test builds a fake of its service, puts a Wire before it, and
// runs Suite. The suite knows the contract (providers, change, witness) and no
// provider: what reads may send, that a plan is what will be sent, that nothing
// leaves without a permit, how each hostile answer ends, and that no secret of an
// answer is ever handed on. It may import levels 0–2 and testing.
package providertest

import (
	"encoding/json"
	"testing"
	"time"

	"cordon/internal/target"
	"cordon/providers"
)

// Harness makes a fresh provider over a fresh fake for each rule.
type Harness struct {
	// New returns a provider whose transport gives up on one request after wait, and
	// pauses no longer than a millisecond before it repeats a read. Clean-up goes to t.
	New func(t *testing.T, wait time.Duration) (providers.Provider, providers.Applier, Fixture)
}

// Fixture is what the suite must know of the fake.
type Fixture struct {
	Wire   *Wire
	Base   string     // address that calls are captured with, without a slash at the end
	Runner target.Ref // there, with its scope, not paused, with a running job and a manager
	// Missing never existed; the service says so truthfully.
	Missing target.Ref
	// Wrong are references that this system must refuse with ErrNotYours: another
	// system, another kind, an impossible id, another scope than the runner's.
	Wrong []target.Ref
	// Verbs that have a plan with changes for Runner.
	Verbs   []string
	Effects func(verb string) int // how often the fake saw the effect of a verb
	// Drift changes the runner behind a plan's back, in what its owner decides.
	Drift func()
	// Secrets are planted in the fake's answers; Suite first finds them on the wire.
	Secrets []string
	// Unmanaged says that the service tells of no processes behind a registration, so that
	// there is nothing to ask for when Managers is called.
	Unmanaged bool

	// Alone says that a change of the runner's registration hits nobody else.
	Alone bool
	// Denied is a body in which the service would say why it refuses; it holds the
	// first of Secrets.
	Denied json.RawMessage
}

// Wait is what rules use that are not about silence: nothing should reach it.
const Wait = 20 * time.Second
