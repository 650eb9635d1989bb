package app

import (
	"strings"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// manifestShown is how many addresses of a host are written; the snapshot has all.
const manifestShown = 6

// manifest writes where a host says that it is: what a record of evidence needs to tell
// one machine from another (facts/host.md §3.4).
func (l Lines) manifest(id snapshot.Ident) {
	var parts []string
	if n := len(id.Addresses); n > 0 {
		said := "addresses " + strings.Join(id.Addresses[:min(n, manifestShown)], ", ")
		if n > manifestShown {
			said += ", and " + count(n-manifestShown, "", "1 more", "more")
		}
		parts = append(parts, said)
	}
	var cards []string
	for _, c := range id.Cards[:min(len(id.Cards), manifestShown)] {
		cards = append(cards, c.MAC+" ("+untrusted.Clean(string(c.Name), 40)+")")
	}
	if len(cards) > 0 {
		parts = append(parts, "interfaces "+strings.Join(cards, ", "))
	}
	if id.Within != "" {
		parts = append(parts, untrusted.Clean(string(id.Within), 300))
	}
	if id.Zone != "" {
		parts = append(parts, "time zone "+untrusted.Clean(string(id.Zone), 100))
	}
	if len(parts) > 0 {
		l.Printf("  says of itself: %s", strings.Join(parts, "; "))
	}
}
