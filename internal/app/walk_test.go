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

// A provider that counts a job and does not show it leaves nothing to cancel: the words of
// its plan are the reason, and the removal decides how the case ends.
func TestAStandingAnswerPassesOverJobsThatNobodyCanSee(t *testing.T) {
	hidden := change.Plan{Verb: providers.Cancel, Option: "cancel", Title: "no job was found on gha-01", Manual: []string{"GitHub says that it is busy", "look with an account that sees its repositories"}}
	ask := func(plans ...change.Plan) engine.Prompt {
		return engine.Prompt{Kind: engine.Choose, N: 1, Step: "deregister", Plans: plans, CannotDo: "this cannot be done from here", Choices: []string{engine.Skip}}
	}
	s := Standing{Reason: "EDR alert 991"}
	d, err := s.Decide(ask(hidden))
	if err != nil || d.Verb != engine.Skip || d.Reason != "no job was found on gha-01: GitHub says that it is busy: look with an account that sees its repositories" {
		t.Errorf("%+v, %v", d, err)
	}
	seen := hidden
	seen.Changes, seen.Manual = []change.Change{{ID: "cancel/1"}}, nil
	for name, p := range map[string]engine.Prompt{"a job that is seen": ask(hidden, seen), "no plan could be made": ask()} {
		if d, err := s.Decide(p); !errors.Is(err, ErrNeeds) {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
	if _, err := (Standing{}).Decide(ask(hidden)); !errors.Is(err, ErrNeeds) || !strings.Contains(err.Error(), "look with an account that sees its repositories") {
		t.Errorf("without a reason it does not say what a person has to do: %v", err)
	}
}

func TestAStandingAnswerEndsNoCredentialThatItDoesNotName(t *testing.T) {
	offer := func(option string) change.Plan {
		return change.Plan{Verb: providers.Revoke, Option: option, Title: option, Changes: []change.Change{{ID: option}}}
	}
	p := engine.Prompt{Kind: engine.Choose, N: 1, Step: "revoke", Plans: []change.Plan{offer("deploy-key-1"), offer("deploy-key-2")}, Guards: [][]engine.Guard{nil, nil}}
	if d, err := (Standing{Reason: "x"}).Decide(p); !errors.Is(err, ErrNeeds) || !strings.Contains(err.Error(), "--option revoke=") {
		t.Errorf("the first one: %+v, %v", d, err)
	}
	d, err := (Standing{Reason: "x", Options: map[string]string{providers.Revoke: "deploy-key-2"}}).Decide(p)
	if err != nil || d.Verb != engine.Apply || d.Plan != p.Plans[1].Hash() {
		t.Errorf("the named one: %+v, %v", d, err)
	}
	gone := Standing{Reason: "x", Options: map[string]string{providers.Revoke: "deploy-key-7"}}
	if d, err := gone.Decide(p); !errors.Is(err, ErrNeeds) || !strings.Contains(err.Error(), "--option revoke=none") {
		t.Errorf("one that is not offered, or no more: %+v, %v", d, err)
	}
	byHand := p
	byHand.Plans, byHand.CannotDo = []change.Plan{{Verb: providers.Revoke, Option: "by-hand", Title: "by hand", Manual: []string{"look"}}}, "this cannot be done from here"
	none := map[string]string{providers.Revoke: "none"}
	for name, p := range map[string]engine.Prompt{"offered": p, "by hand": byHand} {
		if d, err := (Standing{Reason: "x", Options: none}).Decide(p); err != nil || d.Verb != engine.Skip || d.Reason == "" {
			t.Errorf("none, %s: %+v, %v", name, d, err)
		}
		if d, err := (Standing{Options: none}).Decide(p); !errors.Is(err, ErrNeeds) {
			t.Errorf("none without a reason, %s: %+v, %v", name, d, err)
		}
	}
	if d, err := (Standing{Reason: "x", Options: map[string]string{providers.Pause: "none"}}).Decide(engine.Prompt{Kind: engine.Choose, N: 1, Plans: []change.Plan{{Verb: providers.Pause, Option: "group", Changes: []change.Change{{ID: "p"}}}}, Guards: [][]engine.Guard{nil}}); err == nil {
		t.Errorf("a pause is passed over: %+v", d)
	}
}

func TestAStandingAnswerRemovesNoRunnerOverTheHeadOfAHost(t *testing.T) {
	p := engine.Prompt{
		Kind: engine.Choose, N: 1, Plans: []change.Plan{{Verb: providers.Deregister, Changes: []change.Change{{ID: "d"}}}},
		Guards: [][]engine.Guard{{{ID: engine.HostUnknown, Class: engine.GuardBlock, Text: "no host is known"}}},
	}
	if d, err := (Standing{Reason: "x"}).Decide(p); !errors.Is(err, ErrNeeds) || !strings.Contains(err.Error(), "--option host=none") {
		t.Errorf("%+v, %v", d, err)
	}
	none := map[string]string{"host": "none"}
	if d, err := (Standing{Reason: "x", Options: none}).Decide(p); err != nil || d.Verb != engine.Apply || len(d.Waive) != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	p.Guards[0][0].ID = engine.WrongHost + "h"
	for _, s := range []Standing{{Reason: "x", Options: none}, {Options: none}} {
		if d, err := s.Decide(p); !errors.Is(err, ErrNeeds) {
			t.Errorf("a host that is another's: %+v, %v", d, err)
		}
	}
}
