package github

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cordon/internal/target"
	"cordon/internal/witness"
)

// Observe implements providers.System. Where ctx has a sink, what was answered is kept
// there in its redacted form. GitHub tells no last contact; online is a word that it is
// known to get wrong both ways, so it is told with a clock of ours and offline is told as
// nothing at all.
func (p *Provider) Observe(ctx context.Context, t target.Ref) ([]witness.Observation, error) {
	sc, id, err := p.placed(ctx, t)
	o := witness.Observation{Subject: t, Source: witness.ProviderAPI, At: p.clock.Now()}
	if err != nil {
		if t.Scope != (target.Scope{}) || sc != (scope{}) {
			return nil, err
		}
		if _, _, mine := p.own(t); mine != nil {
			return nil, mine
		}
		if done := finished(ctx, err); done != nil {
			return nil, done
		}
		o.CouldNot = err.Error()
		return []witness.Observation{o}, nil
	}
	w, a, err := p.details(ctx, p.act, sc, id)
	if kerr := p.keepAnswer(ctx, &o, sc, id, "details", a, runnerFields); kerr != nil {
		return nil, kerr
	}
	if err != nil {
		return p.absent(ctx, sc, o, err)
	}
	o.Exists = witness.Yes
	said := []string{p.connected(&o, w)}
	for _, part := range []func(context.Context, *witness.Observation, scope, wireRunner) (string, error){p.heldBack, p.working} {
		words, err := part(ctx, &o, sc, w)
		if err != nil {
			return nil, err
		}
		said = append(said, words)
	}
	o.Says = strings.Join(said, "; ")
	return []witness.Observation{o}, ctx.Err()
}

// absent is the observation of a registration that could not be read.
func (p *Provider) absent(ctx context.Context, sc scope, o witness.Observation, err error) ([]witness.Observation, error) {
	err = p.gone(ctx, sc, err)
	if done := finished(ctx, err); done != nil {
		return nil, done
	}
	if err != nil {
		o.CouldNot = err.Error()
		return []witness.Observation{o}, nil
	}
	// With the record its key is refused: whoever asks for a session with it gets none.
	o.Exists, o.Polling = witness.No, witness.No
	o.Says = "GitHub answers 404 for it, and the same credential still reads the list of its scope: the registration is gone; a job that ran may still run"
	return []witness.Observation{o}, nil
}

// connected says what the word online is worth.
func (p *Provider) connected(o *witness.Observation, w wireRunner) string {
	switch w.online() {
	case witness.Yes:
		o.Polling, o.LastContact, o.Clock = witness.Yes, o.At, witness.ClockProxy
		return "registered, GitHub's word for it: online, which it can be wrong about"
	case witness.No:
		return "registered, GitHub's word for it: offline, which is not contained: such runners have taken jobs (actions/runner#3448)"
	}
	return "registered, GitHub's word for it: " + word(w.Status)
}

// heldBack says whether it can be given a job. Yes is a group that was read as serving
// nobody; GitHub's labels cannot say it, because some always stay: they hold back in part.
func (p *Provider) heldBack(ctx context.Context, o *witness.Observation, sc scope, w wireRunner) (string, error) {
	labels := fmt.Sprintf("custom labels: %d", len(w.custom()))
	if rest := slices.DeleteFunc(w.custom(), marks); len(rest) == 0 {
		labels = "no custom labels"
		if len(w.custom()) > 0 {
			labels += " but " + string(p.text(strings.Join(w.custom(), ", ")))
		}
		o.Partly = labels + ": jobs that ask only for " + string(p.text(strings.Join(w.fixed(), ", "))) + " or its group still come to it"
		if len(w.fixed()) == 0 {
			o.Partly = labels + ": jobs that ask for its group alone still come to it"
		}
		labels = "partial: " + o.Partly
	}
	if !sc.grouped() {
		o.Paused = witness.No
		return "a repository's runner, which nothing at GitHub pauses; " + labels, nil
	}
	g, a, err := p.groupOf(ctx, sc, w)
	if kerr := p.keepAnswer(ctx, o, sc, w.ID, "group", a, groupFields); kerr != nil {
		return "", kerr
	}
	why := ""
	if err == nil {
		why, err = p.seal(ctx, sc, g)
	}
	if done := finished(ctx, err); done != nil {
		return "", done
	}
	switch {
	case err != nil:
		return "whom its group serves could not be read: " + err.Error() + "; " + labels, nil
	case why == "":
		o.Paused, o.Partly = witness.Yes, ""
		return fmt.Sprintf("paused: its group %s serves nobody", p.text(g.Name)), nil
	}
	o.Paused = witness.No
	return fmt.Sprintf("not paused: of its group %s, %s; %s", p.text(g.Name), why, labels), nil
}

// working says whether a job is on it, from the jobs and from GitHub's word.
func (p *Provider) working(ctx context.Context, o *witness.Observation, sc scope, w wireRunner) (string, error) {
	on, err := p.onIt(ctx, sc, w, fewCalls)
	if done := finished(ctx, err); done != nil {
		return "", done
	}
	if kerr := p.keepJobs(ctx, o, sc, w.ID, on, err); kerr != nil {
		return "", kerr
	}
	says, is, known := busy(w, on, err)
	if known {
		o.Busy = witness.Of(is)
	}
	return says, nil
}
