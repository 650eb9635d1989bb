package providers

import (
	"context"
	"net/url"

	"cordon/internal/target"
	"cordon/internal/untrusted"
)

// Running lists the jobs that are on a runner now. Optional; one call.
type Running interface {
	// RunningJobs is what runs; partial says why the list may lack some.
	RunningJobs(ctx context.Context, t target.Ref) (jobs []Job, partial string, err error)
}

// Finder tells which runners a page of the provider's web is about. Optional.
type Finder interface {
	// Find understands the address of a page of this service and reads what the page is
	// about. An address that is not of this service, or of no page that has to do with a
	// runner, is ErrNotYours; nothing was sent then.
	Find(ctx context.Context, page *url.URL) (Found, error)
}

// Found is what a page is about. Runners hold what the answer said of them, which may
// be the reference alone.
type Found struct {
	What    untrusted.Text // "job 500 (build) of acme/web"
	Runners []Runner
	Jobs    []Job
	Why     string // how the page leads to the runners, or why it leads to none
}
