package engine

import (
	"fmt"

	"cordon/internal/casefile"
	"cordon/internal/check"
	"cordon/internal/host/snapshot"
)

// onHosts is what was found on the case's hosts and does not end with its runner: first
// the processes that still ran when the host was looked at last, then how much was found.
func (r *Run) onHosts() []string {
	var runs, found []string
	v, err := r.o.Journal.View()
	for _, h := range r.o.Hosts {
		results := r.st.findings[h.ID]
		n := r.high(h.ID)
		if n == 0 {
			continue
		}
		found = append(found, fmt.Sprintf("%d findings of high severity on %s", n, h.ID))
		if err != nil {
			continue // what runs is then not said; what was found is
		}
		read, last := check.Looks(v.Items, h.ID)
		still := check.Still(results, check.High, kept(v, read), kept(v, last))
		if len(still) == 0 {
			continue
		}
		s := fmt.Sprintf("%s still runs on %s", still[0], h.ID)
		if more := len(still) - 1; more > 0 {
			s += fmt.Sprintf(" and %d more of them", more)
		}
		runs = append(runs, s)
	}
	return append(runs, found...)
}

// high counts what was found on a host at high severity, as it was shown: by the checks,
// and by holding the provider's jobs against the host's.
func (r *Run) high(host string) int {
	n := len(check.AtLeast(r.st.findings[host], check.High))
	if r.st.exposed != nil {
		n += len(check.AtLeast(differing(*r.st.exposed, host), check.High))
	}
	return n
}

// kept is a snapshot of the case; nil: there is none of that digest, or it does not read.
func kept(v *casefile.View, digest string) *snapshot.Snapshot {
	if digest == "" {
		return nil
	}
	b, err := v.Blob(digest)
	if err != nil {
		return nil
	}
	defer b.Close()
	s, err := snapshot.Decode(b)
	if err != nil {
		return nil
	}
	return s
}
