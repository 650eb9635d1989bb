package gitlab

import (
	"context"
	"errors"
	"fmt"

	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/providers"
)

// compare reads the target again. already says that there is nothing to do; an error
// says why nothing may be sent.
func (p *Provider) compare(ctx context.Context, c change.Change) (already string, err error) {
	if c.Op == opCancel {
		return p.compareJob(ctx, c)
	}
	id, err := p.own(target.Ref{System: c.Target.System, Kind: c.Target.Kind, ID: c.Target.ID})
	if err != nil {
		return "", err
	}
	w, _, err := p.details(ctx, id, false)
	if errors.Is(err, providers.ErrNotFound) {
		if hidden := p.gone(ctx, err); hidden != nil {
			return "", hidden
		}
		if c.Op == opDeregister {
			return "the registration is gone already", nil
		}
	}
	if err != nil {
		return "", err
	}
	if err := levels(c.Target, w); err != nil {
		return "", err
	}
	if want, switches := wanted(c.Op); switches && w.paused() == want {
		return "GitLab says it is so already", nil
	}
	if c.Op == opRotate {
		if err := p.destined(c); err != nil {
			return "", err
		}
	}
	return "", drifted(c, w.before(""))
}

func wanted(op string) (paused witness.Tri, switches bool) {
	switch op {
	case opPause:
		return witness.Yes, true
	case opResume:
		return witness.No, true
	}
	return witness.Unknown, false
}

func (p *Provider) compareJob(ctx context.Context, c change.Change) (string, error) {
	in, err := change.Parse[cancelArgs](c.Op, c.Args)
	if err != nil {
		return "", err
	}
	was, err := change.Parse[jobBefore](c.Op, c.Before)
	if err != nil {
		return "", err
	}
	now, err := p.jobStatus(ctx, in)
	switch {
	case err != nil:
		return "", err
	case over(now):
		return "the job has ended (" + now + ")", nil
	case now == "canceling" && !in.Force:
		return "the job is being canceled; plan again to force it", nil
	case now != was.Status:
		return "", fmt.Errorf("%w (the job was %s and is %s)", change.ErrStale, was.Status, now)
	}
	return "", nil
}

func (p *Provider) jobStatus(ctx context.Context, in cancelArgs) (string, error) {
	a, err := p.api.get(ctx, fmt.Sprintf("projects/%d/jobs/%d", in.Project, in.Job), nil)
	if err != nil {
		return "", err
	}
	j, err := decode[wireJob](a)
	switch {
	case err != nil:
		return "", err
	case j.ID != in.Job:
		return "", malformed(a, "not the job that was asked for")
	}
	return word(j.Status), nil
}

func over(status string) bool {
	return status == "success" || status == "failed" || status == "canceled" || status == "skipped"
}
