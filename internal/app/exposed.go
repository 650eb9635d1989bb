package app

import (
	"fmt"
	"strings"

	"cordon/internal/exposure"
	"cordon/providers"
)

// exposedState is one word for where a credential stands. Replaced at its store is not
// dead at its issuer: the old value may still open doors there.
func exposedState(c providers.Credential) string {
	switch {
	case !c.Dead.IsZero():
		return "dead"
	case !c.Replaced.IsZero():
		return "replaced"
	}
	return "open"
}

// owned is why a credential is on the list, and who can replace it where that is told.
func owned(c providers.Credential) string {
	if c.Owner == "" {
		return c.Why
	}
	return c.Why + "; owner: " + c.Owner
}

// around writes what belongs to a list of credentials: the odd jobs, what came out where
// they ran, and what its provider and its hosts tell differently.
func (l Lines) around(x *exposure.List) {
	for _, j := range x.Jobs {
		if odd(j) {
			l.Printf("  odd: %s", jobLine(j))
		}
	}
	for _, o := range x.Outputs {
		l.Printf("  came out: %-15s %s  (%s)%s%s %s", o.Kind, o.Name, o.Where, outputTime(o), by(o.By), o.Why)
	}
	for _, g := range x.OutputGaps {
		l.Printf("  came out, not known: %s: %s", g.Name, g.Why)
	}
	for _, d := range x.Differences {
		l.Printf("  differs: %-8s %s: %s", d.Severity, d.Title, d.Detail)
	}
}

func outputTime(o providers.Publication) string {
	if o.At.IsZero() {
		return ""
	}
	return " " + o.At.UTC().Format("2006-01-02 15:04Z")
}

func by(who string) string {
	if who == "" {
		return ""
	}
	return " by " + who
}

// mostOpen is how many credentials an ending names.
const mostOpen = 12

// stillOpen names what nobody has replaced: the work that is left when a runner is
// contained.
func (l Lines) stillOpen(x *exposure.List) {
	var names []string
	n := 0
	for _, c := range x.Entries {
		if exposedState(c) != "open" {
			continue
		}
		if n++; n <= mostOpen {
			names = append(names, c.Name)
		}
	}
	gaps := ""
	if len(x.Gaps) > 0 {
		gaps = " and " + count(len(x.Gaps), "", "1 gap", "gaps") + ", behind which there may be more"
	}
	if n == 0 && gaps == "" {
		return
	}
	more := ""
	if n > mostOpen {
		more = fmt.Sprintf(" and %d more", n-mostOpen)
	}
	said := count(n, "no credential that was found", "1 credential", "credentials") + gaps
	if n > 0 {
		said += ": " + strings.Join(names, ", ") + more
	}
	l.Printf("still open: %s", said)
}
