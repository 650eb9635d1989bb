package github

import (
	"context"
	"errors"
	"time"

	"cordon/internal/change"
	"cordon/internal/evidence"
)

// bygone keeps what GitHub says of a registration that is gone: that it is, and the jobs
// that are on it still. It has no labels and no group, so none of those is missing.
func (g *gathering) bygone(ctx context.Context, v view, a answer) ([]evidence.Gap, error) {
	a.Body = change.Pack(struct {
		Request   string    `json:"request"`
		Status    int       `json:"status"`
		RequestID string    `json:"request_id,omitempty"`
		Date      time.Time `json:"date,omitzero"`
	}{a.Request, a.Status, a.RequestID, a.Date})
	g.keep(ctx, "runner.json", a, nil, []string{"request", "status", "request_id", "date"})
	on, err := g.p.onIt(ctx, v.sc, v.runner, planCalls)
	g.keepJobs(ctx, on, err)
	if g.err != nil {
		return g.gaps, g.err
	}
	return g.gaps, ctx.Err()
}

// keepJobs keeps the jobs on a runner, and says where there may be more.
func (g *gathering) keepJobs(ctx context.Context, on onNow, err error) {
	g.keep(ctx, "jobs.json", answer{Request: "GET runs in progress and their jobs", At: g.p.clock.Now(), Body: jobsDoc(on)}, err, jobFields)
	if !on.whole && err == nil {
		g.miss(ctx, "jobs.json", errors.New(on.partial))
	}
}
