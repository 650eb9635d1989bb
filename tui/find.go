package tui

import (
	"fmt"
	"slices"
	"strings"

	"cordon/internal/fleet"
)

// match is one runner that an alert may be about, and how that is known.
type match struct {
	row fleet.Row
	how string
}

// find looks an alert's words up in a list that was read before. It contacts nobody.
// What matches by name only says so: a name proves nothing.
func find(f fleet.Fleet, what string) []match {
	what = strings.ToLower(strings.TrimSpace(what))
	if what == "" {
		return nil
	}
	var exact, loose []match
	for _, r := range f.Rows {
		ref, name := r.Runner.Ref, strings.ToLower(string(r.Runner.Name))
		switch {
		case ref.IsZero():
		case what == strings.ToLower(ref.String()), what == strings.ToLower(ref.Short()), what == ref.ID:
			exact = append(exact, match{r, "by its reference"})
		case strings.HasSuffix(what, "/runners/"+ref.ID):
			exact = append(exact, match{r, "by the number in the address"})
		case slices.Contains(r.Hosts, what):
			exact = append(exact, match{r, "on this host: " + r.Known})
		case what == name:
			loose = append(loose, match{r, "by name only"})
		case strings.Contains(name, what):
			loose = append(loose, match{r, fmt.Sprintf("by a part of its name only, %q", clean(string(r.Runner.Name)))})
		}
	}
	return append(exact, loose...)
}
