package app

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"cordon/internal/change"
	"cordon/internal/engine"
	"cordon/internal/host"
)

// Decider answers a prompt, or fails and ends the walk.
type Decider func(engine.Prompt) (engine.Decision, error)

// Nobody is the decider where there is neither a terminal nor --yes.
func Nobody(p engine.Prompt) (engine.Decision, error) {
	return engine.Decision{}, fmt.Errorf("step %s: %w: no terminal to ask at; say --yes --reason to answer beforehand", p.Step, ErrNeeds)
}

// Person asks at a terminal, line by line. Nothing is preselected: an empty line asks
// again, and what cannot be undone is confirmed by typing the end of the runner's id.
// When Ctx ends, whatever is asked fails with its error.
type Person struct {
	Ctx context.Context
	In  io.Reader
	Out Lines
	in  *typing

	typed map[string]string // what was answered to a manual step and not taken yet

	BreakGlass string // why one person goes on where a second one is wanted; empty: he does not
}

// ConfirmLooking asks before a host is read, in the words of the way that leads to it.
func (p *Person) ConfirmLooking(l host.Looking) error {
	r := ReachOf(l)
	p.Out.Printf("%s; %s", r.Does, r.Seen)
	a, err := p.line("type the host's name to " + r.Title + ": ")
	if err != nil {
		return err
	}
	if a != l.Host {
		return fmt.Errorf("check %s: %w: not confirmed, nothing was contacted", l.Host, ErrNeeds)
	}
	return nil
}

// Typed asks for a word before something that cannot be undone; ErrNeeds if it was not
// typed.
func (p *Person) Typed(what, word, why string) error {
	a, err := p.line(fmt.Sprintf("%s; type %s to go on: ", why, word))
	if err != nil {
		return err
	}
	if a != word {
		return fmt.Errorf("%s: %w: not confirmed, nothing was done", what, ErrNeeds)
	}
	return nil
}

// Decide asks until there is an answer that the prompt takes.
func (p *Person) Decide(pr engine.Prompt) (engine.Decision, error) {
	d := engine.Decision{N: pr.N}
	for {
		a, err := p.line(question(pr))
		if err != nil {
			return d, err
		}
		verb, rest, _ := strings.Cut(a, " ")
		if n, err := strconv.Atoi(verb); err == nil && pr.Kind == engine.Choose {
			if n < 1 || n > len(pr.Plans) || !slices.Contains(pr.Choices, engine.Apply) {
				p.Out.Printf("no plan %d to apply here", n)
				continue
			}
			if pl := pr.Plans[n-1]; !pl.Appliable() {
				p.Out.Printf("plan %d, %s, is done by hand: %s WHY, with what was done as the reason", n, pl.Title, engine.Skip)
				continue
			}
			return p.confirm(pr, n-1, d)
		}
		if verb == engine.Apply || !slices.Contains(pr.Choices, verb) {
			if a != "" {
				p.Out.Printf("not an answer here: %q", verb)
			}
			continue
		}
		d.Verb, d.Reason = verb, strings.TrimSpace(rest)
		if (verb == engine.Skip || verb == engine.Leave) && d.Reason == "" {
			p.Out.Printf("%s needs a reason: %s WHY", verb, verb)
			continue
		}
		switch {
		case verb == engine.Did, verb == engine.Wait, verb == engine.Sign, verb == engine.Redo:
			return p.manual(pr, d)
		}
		return d, nil
	}
}

func question(pr engine.Prompt) string {
	var opts []string
	for _, c := range pr.Choices {
		switch c {
		case engine.Apply:
			opts = append(opts, numbers(pr.Plans)+" to apply")
		case engine.Skip, engine.Leave, engine.Redo:
			opts = append(opts, c+" WHY")
		default:
			opts = append(opts, c)
		}
	}
	return "[" + strings.Join(opts, " | ") + "]: "
}

// numbers are those of the plans that do anything from here.
func numbers(plans []change.Plan) string {
	var out []string
	for i, pl := range plans {
		if pl.Appliable() {
			out = append(out, strconv.Itoa(i+1))
		}
	}
	return strings.Join(out, " or ")
}

// confirm asks for what a plan needs beyond its number: reasons for its guards, and
// the end of the id for what cannot be undone or hits more than one.
func (p *Person) confirm(pr engine.Prompt, i int, d engine.Decision) (engine.Decision, error) {
	plan := pr.Plans[i]
	for _, g := range pr.Guards[i] {
		p.Out.Printf("held back: %s", g.Text)
		if g.Class == engine.GuardApproval {
			if p.BreakGlass == "" {
				p.Out.Printf("only another person sets this aside, or --break-glass WHY; \"again\" looks whether he has")
				return engine.Decision{N: pr.N, Verb: engine.Again}, nil
			}
			d.BreakGlass = p.BreakGlass
			continue
		}
		d.Waive = append(d.Waive, g.ID)
	}
	if len(d.Waive) > 0 {
		why, err := p.line("why go on all the same (empty: do not): ")
		if err != nil {
			return d, err
		}
		if why == "" {
			return engine.Decision{N: pr.N, Verb: engine.Again}, nil
		}
		d.Reason = why
	}
	want, what := Confirmation(plan)
	a, err := p.line(fmt.Sprintf("%s: type %s to go on: ", what, want))
	if err != nil {
		return d, err
	}
	if a != want {
		p.Out.Printf("not confirmed; nothing was done")
		return engine.Decision{N: pr.N, Verb: engine.Again}, nil
	}
	d.Verb, d.Plan = engine.Apply, plan.Hash()
	return d, nil
}

func (p *Person) line(question string) (string, error) {
	if p.in == nil {
		p.in = &typing{bufio.NewReader(p.In)}
	}
	fmt.Fprint(p.Out.W, question)
	s, err := p.in.line(p.Ctx)
	if err != nil {
		fmt.Fprintln(p.Out.W) // what follows does not stand behind the question
	}
	return s, err
}
