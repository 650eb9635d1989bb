package engine

import (
	"path"
	"slices"
	"strings"

	"cordon/internal/change"
	"cordon/internal/untrusted"
	"cordon/providers"
)

// TipsOff is the id of the guard that asks before the other side would notice.
const TipsOff = "tips-off"

// guards lists what holds a plan back now. It reads the fold of the journal each
// time, so nothing is remembered from an earlier prompt.
func (r *Run) guards(t task, p change.Plan) []Guard {
	var out []Guard
	add := func(g Guard) {
		if !slices.ContainsFunc(out, func(o Guard) bool { return o.ID == g.ID }) {
			out = append(out, g)
		}
	}
	destroys := slices.Clone(t.do().Destroys)
	tips := p.TipsOff
	for _, c := range p.Changes {
		destroys = append(destroys, c.Destroys...)
		if tips == "" {
			tips = c.TipsOff
		}
	}
	would := r.wouldCollect()
	for _, name := range r.concrete(destroys) {
		digest, have := r.st.items[name]
		switch {
		case have:
			// The journal says that it was kept; what counts is that it is there.
			if err := r.o.Journal.Holds(digest); err != nil {
				add(Guard{"evidence:" + name, GuardBlock, "destroys " + name + ", whose copy in this case is not whole any more: " + untrusted.Clean(err.Error(), 200)})
			}
		case would && strings.HasPrefix(name, "host/"):
		case r.st.gaps[name] != "":
			add(Guard{"evidence:" + name, GuardGap, "destroys " + name + ", which could not be collected: " + r.st.gaps[name]})
		default:
			add(Guard{"evidence:" + name, GuardBlock, "destroys " + name + ", which has not been collected"})
		}
	}
	r.hostGuards(t, p, destroys, add)
	for _, id := range t.step.Needs {
		if end := r.worst(id); end != Done && end != NotNeeded && (r.o.Issuer != nil || end != Skipped) {
			class := GuardBlock
			if end == Unreached || end == Skipped {
				class = GuardGap
			}
			add(Guard{"needs:" + id, class, "needs step " + id + ", which ended: " + orOpen(end)})
		}
	}
	r.stoppedBy(t, add)
	r.unapproved(t, p, add)
	// Collecting is the one contact that has to come before everything is collected.
	if tips != "" && p.Verb != providers.Collect && !r.collected() && !would {
		add(Guard{TipsOff, GuardAsk, "the other side would notice (" + tips + ") and nothing is collected from its hosts yet"})
	}
	return out
}

// wouldCollect reports whether this run can collect nothing and passed a step that would
// have: a dry run shows what would hold a plan back in earnest, not what itself left out.
func (r *Run) wouldCollect() bool {
	return r.o.Issuer == nil && slices.ContainsFunc(r.book, func(t task) bool {
		return t.do().Verb == providers.Collect && r.st.end[t.key()] == Skipped
	})
}

// collected reports whether at least one host of the case was read.
func (r *Run) collected() bool {
	for name := range r.st.items {
		if ok, _ := path.Match("host/*/snapshot.json", name); ok {
			return true
		}
	}
	return false
}

// concrete turns host/*/x into one name for each host of the case.
func (r *Run) concrete(names []string) []string {
	var out []string
	for _, n := range names {
		rest, ok := strings.CutPrefix(n, "host/*/")
		if !ok {
			out = append(out, n)
			continue
		}
		for _, h := range r.o.Hosts {
			out = append(out, "host/"+h.ID+"/"+rest)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// worst is how a step ended at its worst task, "" while one is open.
func (r *Run) worst(step string) string {
	if len(r.o.Runners) == 0 && !slices.ContainsFunc(r.book, func(t task) bool { return t.step.ID == step }) {
		return NotNeeded // a step about runners, in a case about hosts alone
	}
	worst := 0
	for _, t := range append(slices.Clone(r.book), r.undoing()...) {
		if t.step.ID == step {
			worst = max(worst, slices.Index(ends, r.st.end[t.key()]))
		}
	}
	return ends[worst]
}

func orOpen(end string) string {
	if end == "" {
		return "not at all"
	}
	return end
}
