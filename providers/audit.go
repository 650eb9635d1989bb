package providers

import (
	"context"
	"time"

	"cordon/internal/importer"
	"cordon/internal/target"
	"cordon/internal/witness"
)

// Auditor reads a service's own audit log. Optional; reads only.
type Auditor interface {
	// Audit reads what bears on runners since a time. A log that this plan does not have or
	// this credential may not read is an observation with CouldNot, never an empty trail;
	// the error is for a broken request or a finished ctx.
	Audit(ctx context.Context, t target.Ref, traits Traits, since time.Time) (Trail, error)
}

// Trail is what an audit log says. Entries go into a case's timeline, by the service's
// clock; Seen is what they say of the runner, with Source provider-audit.
type Trail struct {
	Format  string                `json:"format"` // as of an imported log
	Entries []importer.Entry      `json:"entries"`
	Seen    []witness.Observation `json:"seen"`
}
