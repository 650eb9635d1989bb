package github

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
	"cordon/providers"
)

// returning is one look for a machine under another registration.
type returning struct {
	p         *Provider
	o         *witness.Observation
	gone      target.Ref
	sc        scope
	id        int64
	t         providers.Traits
	since     time.Time
	look      providers.Look
	read      map[target.Scope]bool // lists that were read
	n         int                   // other registrations that were looked at
	alike     int                   // of these, with the same custom labels
	listed    bool                  // the registration itself is in a list
	unseen    []string              // why not everything was seen
	elsewhere []string              // the same name or labels, and nothing says since when
	undated   []string              // ids of those with the name
	left      int                   // those with the name that were there before
	late      string                // what stands against that every job since was found
}

func (r *returning) blind(why string) {
	if len(r.unseen) < 3 {
		r.unseen = append(r.unseen, why)
	}
}

func (r *returning) undecided(what string) {
	if len(r.elsewhere) < 5 {
		r.elsewhere = append(r.elsewhere, what)
	}
}

func (r *returning) weigh(x providers.Runner) {
	if x.Ref == r.gone || r.sc == (scope{}) && x.Ref.ID == r.gone.ID {
		r.listed = r.listed || x.Ref == r.gone
		return
	}
	r.n++
	if !named(r.t, string(x.Name)) {
		r.weighLabels(x)
		return
	}
	if wasThere(r.t.Known, x.Ref) {
		r.left++
		return
	}
	what := fmt.Sprintf("runner %s of %s is called %s", x.Ref.ID, r.scopeOf(x), x.Name)
	why := ""
	switch {
	case r.only(x):
		why = "names are unique there, so it was registered after ours was gone"
	case wasLookedFor(r.t.Known, string(x.Name)):
		why = "it was not there when every list was read at " + r.t.Known.At.UTC().Format(time.RFC3339)
	default:
		r.undated = append(r.undated, x.Ref.ID)
		r.undecided(what)
		return
	}
	if r.o.Returned != witness.Yes {
		r.o.Returned = witness.Yes
		r.o.Says = what + ": " + why + "; GitHub calls it " + untrusted.Clean(x.Status, 20)
	}
}

// weighLabels tells one with all its labels that did not have them before from the others
// of a pool. Jobs that came to ours come to it: whether it is the same machine has to be
// looked at.
func (r *returning) weighLabels(x providers.Runner) {
	if len(r.t.Labels) == 0 || !sameLabels(x, r.t.Labels) {
		return
	}
	r.alike++
	what := fmt.Sprintf("runner %s of %s, which is called %s, has its custom labels", x.Ref.ID, r.scopeOf(x), x.Name)
	switch k := r.t.Known; {
	case k == nil || !slices.Equal(k.Labels, r.t.Labels):
		r.undecided(what + " (which others had them before was not kept)")
	case !slices.Contains(k.Alike, x.Ref):
		r.undecided(what + " and was not among those that had them at " + k.At.UTC().Format(time.RFC3339))
	}
}

// only reports whether x has the name that was ours in our own scope, where it cannot have
// been another's at the same time. The name of a host can.
func (r *returning) only(x providers.Runner) bool {
	return x.Ref.Scope == r.gone.Scope && x.Ref.Scope != (target.Scope{}) &&
		slices.ContainsFunc(r.t.Names, func(s string) bool { return s != "" && strings.EqualFold(s, string(x.Name)) })
}

func (r *returning) scopeOf(x providers.Runner) string {
	return untrusted.Clean(strings.TrimSpace(x.Ref.Scope.Level+" "+x.Ref.Scope.Path), 140)
}

// sameLabels compares the labels that people give: those of GitHub's are everywhere.
func sameLabels(x providers.Runner, want []string) bool {
	for _, l := range want {
		if !slices.ContainsFunc(x.Labels, func(s untrusted.Text) bool { return strings.EqualFold(string(s), l) }) {
			return false
		}
	}
	return true
}

// end says what is known. What was seen stays seen whatever else could not be; what was
// not seen counts only where everything was looked at.
func (r *returning) end(jobs string) {
	o := r.o
	switch {
	case o.Returned == witness.Yes:
	case o.Polling == witness.Yes && len(r.elsewhere)+len(r.unseen) > 0:
		o.Says = "whether it came back under another registration is not known (" + strings.Join(append(r.elsewhere, r.unseen...), "; ") + ")"
	case len(r.elsewhere) > 0:
		o.CouldNot = strings.Join(r.elsewhere, ", ") + ": GitHub does not say since when, so whether it is the same machine has to be looked at"
	case len(r.unseen) > 0:
		o.CouldNot = "not every list of runners could be read: " + strings.Join(r.unseen, "; ")
	case r.look == providers.LookBetween && r.sc != (scope{}):
		o.Says = "none of its names is in the list of " + r.sc.String() + "; the other lists are read at the end"
	case r.late != "" && r.look == providers.LookWhole && o.Polling != witness.Yes:
		o.CouldNot = "no list of runners has it under another registration"
	default:
		o.Returned = witness.No
		o.Says = r.nobody()
	}
	switch {
	case r.look == providers.LookBetween && r.sc != (scope{}):
		o.Brief = "the lists of all scopes, and all jobs since, are looked at at the end"
	case r.look != providers.LookWhole && r.late != "":
		o.Brief = "all jobs since are looked at at the end"
	}
	if o.CouldNot != "" {
		o.Says = o.CouldNot
	}
	if jobs = strings.TrimPrefix(jobs+"; "+r.late, "; "); jobs != "" {
		o.Says += "; " + strings.TrimSuffix(jobs, "; ")
	}
	if o.Except != "" {
		o.Says += "; not looked at: " + o.Except
	}
	o.Says = untrusted.Clean(o.Says, 600)
	if o.CouldNot != "" {
		o.CouldNot = o.Says
		return
	}
	if r.listed {
		o.Exists = witness.Yes
	}
}

func (r *returning) nobody() string {
	says := fmt.Sprintf("none of %d other runners has its name or that of its host", r.n)
	if r.left > 0 {
		says = fmt.Sprintf("none of %d other runners has its name or that of its host and came since; %d with such a name were there already at %s", r.n, r.left, r.t.Known.At.UTC().Format(time.RFC3339))
	}
	if r.alike > 0 {
		says += fmt.Sprintf(" (%d have its custom labels, as they had before)", r.alike)
	}
	if r.listed {
		says += "; it is itself still in the list"
	}
	return says
}
