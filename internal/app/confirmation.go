package app

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cordon/internal/change"
	"cordon/internal/target"
)

// undo is the verb of plans that the engine makes to take a change back.
const undo = "undo"

// Confirmation is what has to be typed before a plan is applied. Reversible on one
// runner: one key, y. That is so however many machines and projects use the runner, for
// a provider acts on its record and on none of them alone; they are on the plan. Otherwise
// it is the last four characters of the id of what is ended, or the number of changes where
// there are several.
func Confirmation(p change.Plan) (want, why string) {
	switch {
	case !p.Appliable():
		return "by hand", "is done by hand"
	case len(p.Changes) == 0:
		return "y", Reaches(p, nil)[0].Does
	case len(p.Changes) > 1:
		return strconv.Itoa(len(p.Changes)), fmt.Sprintf("%d changes", len(p.Changes))
	case p.Reversible() && onlyItsOwn(p.Changes[0]):
		return "y", "can be undone"
	}
	c := p.Changes[0]
	id := c.Target.ID
	switch {
	case p.Verb == undo:
		why = "takes back what was changed"
	case p.Reversible():
		why = "can be undone, and hits " + c.Blast()
	case c.Ends != "":
		id = c.Ends[strings.LastIndexByte(c.Ends, ' ')+1:]
		why = "cannot be undone, and ends " + c.Ends + " whole"
	default:
		why = "cannot be undone"
	}
	return id[max(0, len(id)-4):], why
}

// WayBack is how a change of a plan is undone: by which call, by none, or that it is itself
// what undoes another.
func WayBack(p change.Plan, c change.Change) string {
	switch {
	case c.Undo != nil:
		return c.Undo.Call.String()
	case p.Verb == undo:
		return "this is the undo: afterwards it is as it was before the change"
	}
	return "none: this cannot be undone"
}

// NoWayBack reports whether a change of a plan ends something for good.
func NoWayBack(p change.Plan, c change.Change) bool { return c.Undo == nil && p.Verb != undo }

// onlyItsOwn reports whether a change hits nothing but what uses its target itself.
func onlyItsOwn(c change.Change) bool {
	return !slices.ContainsFunc(c.Hits, func(h target.Ref) bool { return h.Kind != target.Manager && h.Kind != target.Project && h != c.Target })
}
