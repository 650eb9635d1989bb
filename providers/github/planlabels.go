package github

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cordon/internal/change"
)

// partialPause is what taking labels off leaves open.
const partialPause = "it is a partial pause: jobs that ask only for self-hosted, the system or the architecture, or for its group, still come to it"

// labelMark is the label that stands for the custom ones of a runner which is held back, or
// how it begins: the case is behind it.
const labelMark = "cordon"

func marks(label string) bool { return label == labelMark || strings.HasPrefix(label, labelMark+"-") }

// planLabels takes the custom labels off, or puts a marker in their place.
func (p *Provider) planLabels(ctx context.Context, v view, loses string) ([]change.Plan, error) {
	had := v.runner.custom()
	fixed := strings.Join(v.runner.fixed(), ", ")
	limits := []string{partialPause}
	if fixed != "" {
		limits = append(limits, fmt.Sprintf("these labels cannot be taken off: %s", p.text(fixed)))
	}
	if !v.sc.grouped() {
		limits = append(limits, "a repository's runner is in no group, so there is no quarantine for it: to hold it back for sure, stop it on its host or remove it")
	}
	limits = append(append(limits, stays...), v.ephemeral()...)
	marker := labelMark
	if v.caseID != "" {
		marker += "-" + v.caseID
	}
	var plans []change.Plan
	for _, x := range []struct {
		option, title string
		to            []string
	}{
		{"labels", "take the custom labels off " + v.name, []string{}},
		{"labels-marker", fmt.Sprintf("put the label %s in place of the custom ones of %s", marker, v.name), []string{marker}},
	} {
		if slices.Equal(had, x.to) || len(had) == 0 && x.option == "labels" {
			continue
		}
		c, err := p.plannedWith(
			ctx,
			change.Change{ID: "pause/1", Op: opLabels, Title: x.title, Hits: p.hits(v), Capacity: loses, Before: change.Pack(v.before())},
			labelSet{homeOf(v.sc), v.runner.ID, x.to},
			change.Change{
				Op: opLabels, Title: fmt.Sprintf("give %s its labels back: %s", v.name, p.text(strings.Join(had, ", "))),
				Before: change.Pack(before{v.before().Group, x.to}), Capacity: "the queue gains this runner", TipsOff: "the agent is given jobs again",
			},
			labelSet{homeOf(v.sc), v.runner.ID, had},
		)
		if err != nil {
			return nil, err
		}
		plans = append(plans, change.Plan{
			Option: x.option, Title: x.title, Limits: limits, Changes: []change.Change{c}, Partial: true,
			Covers: "no job that asks for one of its own labels (" + string(p.text(strings.Join(had, ", "))) + ") comes to it; the agent is not told",
			ByHand: p.byHand(v, fmt.Sprintf("--method PUT %s/actions/runners/%d/labels --input - <<<'{\"labels\":[%s]}'", v.sc.prefix(), v.runner.ID, quoted(x.to))),
		})
	}
	return plans, nil
}

// quoted are labels of ours as JSON has them, between its brackets.
func quoted(labels []string) string {
	var out []string
	for _, l := range labels {
		out = append(out, strconv.Quote(l))
	}
	return strings.Join(out, ",")
}
