package app

import (
	"errors"
	"strings"
	"testing"

	"cordon/internal/change"
	"cordon/internal/engine"
	"cordon/providers"
)

func TestAStandingAnswerPassesOverARotationThatNoProviderHas(t *testing.T) {
	plan := func(verb string) change.Plan {
		return change.Plan{Verb: verb, Option: "by-hand", Title: "GitHub cannot give it another credential", Covers: "its removal does", Manual: []string{"x"}}
	}
	ask := func(plans ...change.Plan) engine.Prompt {
		return engine.Prompt{Kind: engine.Choose, N: 1, Step: "rotate", Plans: plans, CannotDo: "this cannot be done from here", Choices: []string{engine.Skip}}
	}
	s := Standing{Reason: "EDR alert 991"}
	d, err := s.Decide(ask(plan(providers.Rotate)))
	if err != nil || d.Verb != engine.Skip || !strings.Contains(d.Reason, "cannot give it another credential: its removal does") {
		t.Errorf("rotate: %+v, %v", d, err)
	}
	for name, p := range map[string]engine.Prompt{
		"a pause that is done by hand":   ask(plan(providers.Pause)),
		"a removal by hand":              ask(plan(providers.Deregister)),
		"no plan could be made":          ask(),
		"a rotation that somebody can":   ask(change.Plan{Verb: providers.Rotate, Changes: []change.Change{{ID: "x"}}, Manual: []string{"x"}}),
		"a rotation that says no reason": ask(change.Plan{Verb: providers.Rotate}),
	} {
		if d, err := s.Decide(p); !errors.Is(err, ErrNeeds) {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
	if d, err := (Standing{}).Decide(ask(plan(providers.Rotate))); !errors.Is(err, ErrNeeds) {
		t.Errorf("without a reason: %+v, %v", d, err)
	}
}
