package watch

import (
	"cordon/internal/target"
	"cordon/internal/witness"
)

// egress weighs what a proxy or a firewall saw of a host. It is a witness that neither
// the provider nor the host speaks for: one call in the window stands against silence,
// whatever the others say. No log of one is nothing missing, as few can give one.
func (j *judged) egress(h target.Ref, seen []witness.Observation) {
	for _, o := range seen {
		if o.Subject != h || o.Source != witness.Egress || o.CouldNot != "" || o.At.Before(j.w.From) {
			continue
		}
		switch {
		case !o.LastContact.After(j.w.From):
			if o.Polling == witness.No {
				j.pro(o)
			}
			continue
		case o.Polling == witness.Yes:
			j.came.accepted = true
		case o.Rejected == witness.Yes:
			j.came.knocking = true
		default:
			j.came.called = true
		}
		j.against(o)
	}
}
