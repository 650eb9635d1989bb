package providers

import (
	"context"
	"time"

	"cordon/internal/evidence"
	"cordon/internal/target"
)

// Kinds of Publication.
const (
	Release        = "release"
	Tag            = "tag"
	Package        = "package"
	Deployment     = "deployment"
	Attestation    = "attestation"
	WorkflowChange = "workflow-change"
	Cache          = "cache"    // what later jobs restore
	Artifact       = "artifact" // what later jobs and people download
)

// Publisher lists what came out of the places whose jobs a runner took. Optional; reads
// only. None of it is proven to be the runner's work: it is what a person has to look at.
type Publisher interface {
	// Published lists what was made or changed at or after since, newest first. What was
	// not asked, or could not be, is a Gap; the error is for a broken request or a
	// finished ctx, and what was found until then comes with it.
	Published(ctx context.Context, t target.Ref, since time.Time) ([]Publication, []evidence.Gap, error)
}

// Publication is one thing that others may already use. Foreign text in it is redacted.
type Publication struct {
	Kind  string    `json:"kind"`
	Name  string    `json:"name"`
	Where string    `json:"where"`         // repository, owner of packages
	By    string    `json:"by,omitempty"`  // who the service says did it
	At    time.Time `json:"at,omitzero"`   // made or last changed; zero: not told
	Why   string    `json:"why,omitempty"` // what ties it to the window
	Web   string    `json:"web,omitempty"`
}
