package app

import (
	"errors"
	"testing"

	"cordon/internal/change"
	"cordon/internal/engine"
	"cordon/providers"
)

// Whatever is refused, sent or not, stops a walk without a person: steps that cannot be
// taken back rest on it. A refused removal is the ending itself, and is passed.
func TestAStandingAnswerLeavesNoRefusalBehindButThatOfARemoval(t *testing.T) {
	ask := func(verb, state string, status int) engine.Prompt {
		return engine.Prompt{Kind: engine.Doubt, N: 1, Step: "x", Verb: verb, Text: "REFUSED", Outcome: &change.Outcome{State: state, Status: status}}
	}
	for _, c := range []struct {
		verb   string
		status int
		leaves bool
	}{
		{providers.Pause, 0, false},
		{providers.Pause, 404, false},
		{providers.Pause, 429, false},
		{providers.Pause, 500, false},
		{providers.Rotate, 403, false},
		{providers.Cancel, 403, false},
		{providers.Revoke, 403, false},
		{providers.Deregister, 0, false},
		{providers.Deregister, 401, false},
		{providers.Deregister, 422, true},
		{engine.Undo, 403, true},
	} {
		d, err := (Standing{Reason: "EDR alert 991"}).Decide(ask(c.verb, change.Refused, c.status))
		if c.leaves != (err == nil && d.Verb == engine.Leave) || !c.leaves && !errors.Is(err, ErrNeeds) {
			t.Errorf("%s refused with %d: %+v, %v", c.verb, c.status, d, err)
		}
		if d, err := (Standing{Reason: "EDR alert 991"}).Decide(ask(c.verb, change.Unknown, c.status)); err != nil || d.Verb != engine.Leave {
			t.Errorf("%s, unknown, is no refusal: %+v, %v", c.verb, d, err)
		}
	}
}
