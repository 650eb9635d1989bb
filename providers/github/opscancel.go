package github

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"cordon/internal/change"
	"cordon/internal/target"
)

// cancel ends a whole run: GitHub cancels no single job. Force passes by always(), and is
// for a run that does not end.
type cancel struct {
	Repo  string `json:"repository"` // OWNER/REPO
	Run   int64  `json:"run"`
	Job   int64  `json:"job"` // that was on the runner
	Force bool   `json:"force"`
}

// cancelBefore is what a cancellation rested on.
type cancelBefore struct {
	Attempt int `json:"run_attempt"`
}

func (o cancel) about() target.Ref {
	return target.Ref{Scope: target.Scope{Level: repository, Path: o.Repo}, Kind: target.Job, ID: strconv.FormatInt(o.Job, 10)}
}

func (o cancel) path() string {
	return fmt.Sprintf("%s/actions/runs/%d", scope{repository, o.Repo}.prefix(), o.Run)
}

func (o cancel) request() request {
	word := "/cancel"
	if o.Force {
		word = "/force-cancel"
	}
	return request{http.MethodPost, o.path() + word, nil, http.StatusAccepted, anObject}
}

// anObject checks that an answer is the empty object that GitHub gives for what it took on.
func anObject(a answer) error {
	_, err := decode[struct{}](a)
	return err
}

func (o cancel) now(ctx context.Context, p *Provider) (wireRun, error) {
	r, _, err := one(ctx, p.act, o.path(), "run", func(r wireRun) bool { return r.ID == o.Run && r.Status != "" })
	return r, err
}

func (o cancel) compare(ctx context.Context, p *Provider, c change.Change) (string, error) {
	was, err := change.Parse[cancelBefore](c.Op, c.Before)
	if err != nil {
		return "", err
	}
	r, err := o.now(ctx, p)
	switch {
	case err != nil:
		return "", err
	case r.Attempt != was.Attempt:
		return "", fmt.Errorf("%w (the run was started again: attempt %d)", change.ErrStale, r.Attempt)
	case r.Status == completed:
		return "the run is over already", nil
	}
	return "", nil
}

// settle cannot see a cancellation that GitHub took and that has not ended the run yet.
func (o cancel) settle(ctx context.Context, p *Provider, _ change.Change) (string, string, error) {
	r, err := o.now(ctx, p)
	switch {
	case err != nil:
		return change.Unknown, err.Error(), finished(ctx, err)
	case r.Status == completed:
		return change.Applied, "the run reads back as completed", nil
	}
	return change.Unknown, "the run reads back as " + word(r.Status) + ": GitHub does not say whether a cancellation is on its way; look again in a minute, then force", nil
}
