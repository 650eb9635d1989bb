package engine

import (
	"context"
	"fmt"
	"slices"

	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/playbooks"
	"cordon/providers"
)

// In a case with several runners each act is done on the first of them alone, the
// canary. The others then follow as one plan with one confirmation that names how many
// changes it makes. The first change that is refused or unknown stops the rest: what
// was not sent is planned again, and held back until somebody says why to go on.

// with are the open tasks of the same act that can be planned together with t: none
// for the canary, and none on hosts, which are contacted one by one.
func (r *Run) with(t task) []task {
	if t.undo != nil || t.on.Kind != target.Runner || t.on == r.o.Runner || t.do().Do != playbooks.Plan {
		return nil
	}
	var more []task
	for _, o := range r.book {
		if o.step.ID != t.step.ID || o.act != t.act || o.on == t.on || o.on == r.o.Runner || r.st.end[o.key()] != "" {
			continue
		}
		if tr := r.st.tried[o.key()]; r.st.doubtOf(o.key()) != nil || tr != nil && tr.over() || r.gone(o.on) {
			continue
		}
		more = append(more, o)
	}
	return more
}

// together joins the plans of t with those of the tasks that can follow with it,
// option by option. Where they do not offer the same, each is asked for by itself.
// The second result names the task of each change.
func (r *Run) together(ctx context.Context, t task, plans []change.Plan) ([]change.Plan, [][]task) {
	of := make([][]task, len(plans))
	for i, p := range plans {
		of[i] = slices.Repeat([]task{t}, len(p.Changes))
	}
	n := 1
	for _, o := range r.with(t) {
		sys, err := r.planner(o)
		if err != nil {
			continue
		}
		more, err := sys.Plan(ctx, t.do().Verb, o.on, r.planArgs(o))
		if err != nil || !sameOptions(plans, more) {
			continue
		}
		r.named(o, more)
		n++
		for i := range plans {
			plans[i].Changes = append(plans[i].Changes, more[i].Changes...)
			plans[i].Contacts = append(plans[i].Contacts, more[i].Contacts...)
			plans[i].Limits = union(plans[i].Limits, more[i].Limits)
			plans[i].ByHand = append(plans[i].ByHand, more[i].ByHand...)
			of[i] = append(of[i], slices.Repeat([]task{o}, len(more[i].Changes))...)
		}
	}
	if n > 1 {
		for i := range plans {
			if len(plans[i].Changes) == 0 {
				continue // done by hand, one by one
			}
			plans[i].Title = fmt.Sprintf("%s on %d runners, %d changes: %s and the same for the others", t.do().Verb, n, len(plans[i].Changes), plans[i].Title)
			plans[i].Limits = append(plans[i].Limits, "the first change that is refused or not answered stops those behind it")
		}
	}
	return plans, of
}

// sameOptions reports whether two systems offer the same ways, each with changes.
func sameOptions(a, b []change.Plan) bool {
	return slices.EqualFunc(a, b, func(x, y change.Plan) bool {
		return x.Option == y.Option && (len(x.Changes) > 0) == (len(y.Changes) > 0) && len(x.Contacts) == len(y.Contacts)
	}) && slices.ContainsFunc(a, func(p change.Plan) bool { return len(p.Changes) > 0 })
}

func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}

// stoppedBy holds back whoever comes after a runner on which the same act was refused
// or is in doubt. No standing answer sets it aside.
func (r *Run) stoppedBy(t task, add func(Guard)) {
	if t.undo != nil || t.on.Kind != target.Runner {
		return
	}
	left := 0
	for _, o := range r.book {
		if o.step.ID == t.step.ID && o.act == t.act && r.st.end[o.key()] == "" {
			left++
		}
	}
	for _, o := range r.book {
		if o.step.ID != t.step.ID || o.act != t.act || o.on == t.on {
			continue
		}
		if end := r.st.end[o.key()]; end == RefusedBy || end == InDoubt {
			who := ""
			if o.on == r.o.Runner {
				who = ", which goes first so that the others need not"
			}
			add(Guard{"stopped:" + o.on.String(), GuardBlock, fmt.Sprintf("%s of %s ended %s%s; %d are left", t.do().Verb, o.on.Short(), end, who, left)})
		}
	}
}

// named gives the changes of plans their ids: one id for one try, so that planning
// again gives the same hash, and a second try after a refusal is another change.
func (r *Run) named(t task, plans []change.Plan) {
	for i := range plans {
		plans[i].Made = r.o.Clock.Now()
		for j := range plans[i].Changes {
			c := &plans[i].Changes[j]
			c.ID = fmt.Sprintf("%s/%s/%d.%d", t.word(), r.name(t.on), r.st.tries[t.key()]+1, j+1)
			if c.Lease > 0 && t.do().Verb == providers.Pause {
				plans[i].Limits = union(plans[i].Limits, []string{fmt.Sprintf(
					"it ends by itself after %s: confirming it confirms that the same call is made again before that, until the case is over", c.Lease)})
			}
		}
	}
}
