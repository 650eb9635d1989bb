package github

import (
	"fmt"
	"slices"
	"strings"

	"cordon/internal/change"
)

// before is what a plan rested on. It holds what only somebody with rights on the runner
// can change; what an agent moves (status, busy, version, its own labels) is not compared,
// or whoever holds its key could keep every plan stale.
type before struct {
	Group  *groupBefore `json:"group,omitempty"` // nil: it has none, or it is not known
	Labels []string     `json:"labels"`          // the custom ones, sorted
}

// groupBefore is a group as it was. ID is 0 for one that the plan itself makes.
type groupBefore struct {
	ID         int64    `json:"id"`
	Name       string   `json:"name"`
	Visibility string   `json:"visibility"`
	Default    bool     `json:"default"`
	Inherited  bool     `json:"inherited"`
	Public     *bool    `json:"allows_public_repositories,omitempty"`
	Restricted *bool    `json:"restricted_to_workflows,omitempty"`
	Workflows  []string `json:"selected_workflows,omitempty"`
	Network    string   `json:"network_configuration_id,omitempty"`
}

func (g group) before() *groupBefore {
	return &groupBefore{g.ID, g.Name, g.Visibility, g.Default, g.Inherited, g.Public, g.Restricted, g.Workflows, g.Network}
}

// custom are the labels that people gave a runner, sorted; the read-only ones (self-hosted,
// system, architecture) stay whatever is done.
func (w wireRunner) custom() []string {
	return w.labelled(func(t string) bool { return t != fixedLabel })
}

// fixed are the labels that cannot be taken off.
func (w wireRunner) fixed() []string {
	return w.labelled(func(t string) bool { return t == fixedLabel })
}

const fixedLabel = "read-only"

func (w wireRunner) labelled(is func(string) bool) []string {
	out := []string{}
	for _, l := range w.Labels {
		if is(l.Type) {
			out = append(out, l.Name)
		}
	}
	slices.Sort(out)
	return out
}

func (w wireRunner) before(g *groupBefore) before { return before{g, w.custom()} }

// drifted compares what a plan rested on with what is there now. A group's flags are
// compared too: they decide what putting the runner back into it means.
func drifted(c change.Change, now before) error {
	was, err := change.Parse[before](c.Op, c.Before)
	if err != nil {
		return err
	}
	var what []string
	if !slices.Equal(was.Labels, now.Labels) {
		what = append(what, "labels")
	}
	if !sameGroup(was.Group, now.Group) {
		what = append(what, "runner group")
	}
	if len(what) == 0 {
		return nil
	}
	return fmt.Errorf("%w (%s: no longer as it was)", change.ErrStale, strings.Join(what, ", "))
}

func sameGroup(was, now *groupBefore) bool {
	if was == nil || now == nil {
		return was == nil && now == nil
	}
	if was.ID == 0 { // the plan made it, so that its number was not known yet
		return was.Name == now.Name && was.Visibility == now.Visibility
	}
	return slices.Equal(change.Pack(*was), change.Pack(*now))
}
