package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cordon/internal/change"
	"cordon/internal/engine"
	"cordon/providers"
)

// ErrNeeds means that the run stands at something that a standing answer may not decide.
var ErrNeeds = errors.New("needs a person")

// Standing answers prompts without a person: --yes --reason. It applies the first
// plan (or the option named for the verb), sets aside guards that ask or that stand
// for evidence that could not be had, and never one that stands for evidence that was
// not asked for.
type Standing struct {
	Reason  string            // for every guard it sets aside and every doubt it leaves
	Options map[string]string // verb → option
	Dry     bool              // apply nothing: skip every plan, saying so

	BreakGlass string // why one person goes on where a second one is wanted; empty: he does not
}

// Decide answers p, or fails with ErrNeeds.
func (s Standing) Decide(p engine.Prompt) (engine.Decision, error) {
	d := engine.Decision{N: p.N, Reason: s.Reason}
	needs := func(why string) (engine.Decision, error) {
		return d, fmt.Errorf("step %s: %w: %s", p.Step, ErrNeeds, why)
	}
	switch p.Kind {
	case engine.Watch:
		d.Verb = engine.Begin
		if s.Dry {
			d.Verb, d.Reason = engine.Skip, "dry run"
		}
		return d, nil
	case engine.Doubt:
		if s.Reason == "" || refused(p) {
			return needs(p.Text)
		}
		d.Verb = engine.Leave
		return d, nil
	}
	if s.Dry {
		d.Verb, d.Reason = engine.Skip, "dry run"
		return d, nil
	}
	if p.Kind == engine.Manual {
		return needs("a person has to do this and write it down: " + p.Text)
	}
	verb, want := s.named(p)
	if want == noOption && (verb == providers.Revoke || verb == providers.Purge) && s.Reason != "" {
		d.Verb, d.Reason = engine.Skip, "none of what is offered: "+s.Reason
		return d, nil
	}
	if p.CannotDo != "" {
		if why := impossible(p.Plans); why != "" && s.Reason != "" {
			d.Verb, d.Reason = engine.Skip, why
			return d, nil
		}
		return needs(strings.Join(append([]string{p.CannotDo}, handWork(p.Plans)...), ": "))
	}
	for i, pl := range p.Plans {
		if !pl.Appliable() {
			continue
		}
		switch want := s.Options[pl.Verb]; {
		case want == "" && pl.Verb == providers.Revoke: // which one is in the wrong hands is not for whoever answers first
			return needs("say which credential is ended: --option " + providers.Revoke + "=" + pl.Option + ", or another one that is offered")
		case want != "" && want != pl.Option:
			continue
		}
		for _, g := range p.Guards[i] {
			if g.Class == engine.GuardApproval && s.BreakGlass != "" {
				d.BreakGlass = s.BreakGlass
				continue
			}
			if about, _, _ := strings.Cut(g.ID, ":"); about == engine.HostUnknown && s.Reason != "" {
				if s.Options[hostOption] != noOption {
					return needs(g.Text + "; contain it again with --host NAME, or go on with --option " + hostOption + "=" + noOption + ": none can be read")
				}
				d.Waive = append(d.Waive, g.ID)
				continue
			}
			if g.Class == engine.GuardBlock || g.Class == engine.GuardApproval || s.Reason == "" {
				return needs(g.Text)
			}
			d.Waive = append(d.Waive, g.ID)
		}
		d.Verb, d.Plan = engine.Apply, pl.Hash()
		return d, nil
	}
	if verb == providers.Revoke || verb == providers.Purge {
		return needs(fmt.Sprintf("%s=%s is not offered, or no more: name another one with --option, or --option %s=%s to go on without", verb, want, verb, noOption))
	}
	return needs("no plan here that could be applied")
}

// noOption is the option with which a standing answer wants no more of what is ended one
// at a time.
const noOption = "none"

// hostOption is the option with which a standing answer says that no host of a runner
// can be read where none is known: host=none.
const hostOption = "host"

// named is the verb of a prompt's plans, and the option that is named for it.
func (s Standing) named(p engine.Prompt) (verb, option string) {
	if len(p.Plans) == 0 {
		return "", ""
	}
	return p.Plans[0].Verb, s.Options[p.Plans[0].Verb]
}

// impossible is the reason with which a standing answer passes over what nobody can do
// here: a credential that its provider cannot replace, which a later step takes away with
// the registration, and jobs that a provider counts and does not show. Whether such a job
// runs is not known, and the provider refuses to remove a runner that it holds to be busy:
// then that is the ending. "" where that is not so.
func impossible(plans []change.Plan) string {
	if len(plans) == 0 {
		return ""
	}
	for _, p := range plans {
		if p.Verb != plans[0].Verb || p.Appliable() || len(p.Manual) == 0 {
			return ""
		}
	}
	switch p := plans[0]; p.Verb {
	case providers.Rotate:
		return p.Title + ": " + p.Covers
	case providers.Cancel:
		return strings.Join(append([]string{p.Title}, p.Manual...), ": ")
	}
	return ""
}

// handWork is what a person has to do in place of the first plan.
func handWork(plans []change.Plan) []string {
	if len(plans) == 0 {
		return nil
	}
	return plans[0].Manual
}

// Stopped is the word of a walk that somebody stopped: the case stays open.
const Stopped = "stopped"

// maxWrong is how many answers in a row that are no choice are asked for again.
const maxWrong = 5

// Walk drives a run to its end with one source of decisions, showing every prompt.
func Walk(ctx context.Context, run *engine.Run, out Lines, decide func(engine.Prompt) (engine.Decision, error)) (engine.Ending, error) {
	for wrong := 0; ; {
		p, err := run.Next(ctx)
		if err != nil {
			return engine.Ending{}, err
		}
		out.Prompt(p)
		switch p.Kind {
		case engine.Finished:
			return *p.Ending, nil
		case engine.Progress:
			continue
		}
		d, err := decide(p)
		if err != nil {
			return engine.Ending{}, err
		}
		if d.Verb == engine.Stop {
			return engine.Ending{Word: Stopped, Exit: engine.ExitNeeds}, nil
		}
		switch d.Verb {
		case engine.Apply, engine.Skip, engine.Leave, engine.Did, engine.Wait, engine.Sign, engine.Redo:
			out.Printf("  > %s%s", d.Verb, dash(d.Reason))
		}
		err = run.Answer(ctx, d)
		if errors.Is(err, engine.ErrField) {
			out.Printf("not taken: %v", err) // nothing was decided: the same is asked again
			continue
		}
		if errors.Is(err, engine.ErrChoice) && wrong < maxWrong { // a person sees why; what answers without looking would go on for ever
			wrong++
			out.Printf("not taken: %v", err)
			continue
		}
		if err != nil {
			return engine.Ending{}, err
		}
		wrong = 0
	}
}
