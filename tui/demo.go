package tui

import (
	"slices"

	"cordon/internal/change"
	"cordon/internal/engine"
)

// Demo is the guided tour of a lab.
type Demo struct {
	Ref   string   // the planted runner
	Host  string   // the host that the alert names
	Hosts []string // those that its case has to be told of: its provider does not say where it is
	Title string   // of the case
	Dir   string   // where the bundle goes
}

// hint is the one line that guides through the page of a case, "" outside the tour.
func (d *Demo) hint(p *stepper) string {
	if d == nil || p.dead {
		return ""
	}
	switch {
	case p.dialog != nil && !p.dialog.atField:
		return "demo: something holds this back. Write why you go on all the same, then enter"
	case p.dialog != nil && p.dialog.want == "y":
		return "demo: y does it, enter does not"
	case p.dialog != nil:
		return "demo: this needs more than one key: type " + p.dialog.want
	case p.form != nil:
		return "demo: what you write is kept in the case"
	case p.over() && p.handed != nil:
		return "demo: done. Anybody can check it: cordon bundle verify. q leaves"
	case p.over():
		return "demo: it is over. e writes the signed bundle and verifies it"
	case p.cur == nil && p.watch != nil:
		return "demo: the silence takes seconds here, not its hour; b shows the brief meanwhile"
	case p.cur == nil:
		return "demo: wait a moment"
	case p.cur.Kind == engine.Watch:
		return "demo: the last question is whether it stays silent. enter, then y"
	}
	if p.cur.Step == "rotate" && !slices.ContainsFunc(p.cur.Plans, change.Plan.Appliable) {
		return "demo: this provider cannot do that. Read why, then x and a reason: it goes on"
	}
	return demoHints[p.cur.Step]
}

// demoHints guide through the steps of the playbook contain.
var demoHints = map[string]string{
	"pause":      "demo: no new job for it. It can be undone, so one key confirms: enter, then y",
	"rotate":     "demo: the stolen token dies. It cannot be undone, and it tips them off: enter",
	"collect":    "demo: from here on they can know. Log in once and read all of it: enter, then y",
	"deregister": "demo: now nothing is lost by ending it. Its plans follow: enter for each",
}
