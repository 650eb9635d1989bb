package app

import (
	"fmt"
	"time"

	"cordon/internal/witness"
	"cordon/providers"
)

// AgentWords are what a list must say of a runner's agent beside its name: that it is made
// anew for each job, and when its service stops giving jobs to its version. Nothing where
// the service does not say.
func AgentWords(r providers.Runner, now time.Time) []string {
	var out []string
	if r.Ephemeral == witness.Yes {
		out = append(out, "ephemeral")
	}
	if ends := r.VersionEnds; !ends.IsZero() {
		word := "gets no jobs from %s on"
		if !ends.After(now) {
			word = "gets no more jobs since %s"
		}
		out = append(out, fmt.Sprintf("version %s "+word, r.Version, ends.UTC().Format("2006-01-02")))
	}
	return out
}
