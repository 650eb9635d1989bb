package app

import (
	"fmt"
	"strings"

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

// mostOpen is how many credentials an ending names.
const mostOpen = 12

// stillOpen names what nobody has replaced: the work that is left when a runner is
// contained.
func (l Lines) stillOpen(all []providers.Credential) {
	var names []string
	n := 0
	for _, c := range all {
		if exposedState(c) != "open" {
			continue
		}
		if n++; n <= mostOpen {
			names = append(names, c.Name)
		}
	}
	if n == 0 {
		return
	}
	more := ""
	if n > mostOpen {
		more = fmt.Sprintf(" and %d more", n-mostOpen)
	}
	l.Printf("still open: %s: %s%s", count(n, "", "1 credential", "credentials"), strings.Join(names, ", "), more)
}
