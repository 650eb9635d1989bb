package github

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"cordon/internal/change"
	"cordon/internal/target"
)

// States of a workflow that matter here (docs: actions/workflows; there are disabled_fork,
// disabled_inactivity and deleted too, which are nobody's doing with this call).
const (
	workflowOn  = "active"
	workflowOff = "disabled_manually"
)

// workflowSwitch disables a workflow, or enables it again. The calls are documented under
// docs.github.com/en/rest/actions/workflows and not in the part of GitHub's description
// that the project keeps.
type workflowSwitch struct {
	Repo     string `json:"repository"` // OWNER/REPO
	Workflow int64  `json:"workflow"`
	On       bool   `json:"on"`
}

// workflowBefore is what switching a workflow rested on. The path tells it from another one
// that would have its number.
type workflowBefore struct {
	State string `json:"state"`
	Path  string `json:"path"`
}

func (o workflowSwitch) about() target.Ref {
	return target.Ref{Scope: target.Scope{Level: repository, Path: o.Repo}, Kind: "workflow", ID: strconv.FormatInt(o.Workflow, 10)}
}

func workflowPath(repo string, id int64) string {
	return fmt.Sprintf("%s/actions/workflows/%d", repoPath(repo), id)
}

func (o workflowSwitch) request() request {
	word := map[bool]string{true: "/enable", false: "/disable"}[o.On]
	return request{http.MethodPut, workflowPath(o.Repo, o.Workflow) + word, nil, http.StatusNoContent, nil}
}

func (o workflowSwitch) wants() string {
	return map[bool]string{true: workflowOn, false: workflowOff}[o.On]
}

// workflowOf reads a workflow.
func (p *Provider) workflowOf(ctx context.Context, repo string, id int64) (wireWorkflow, error) {
	w, _, err := one(ctx, p.act, workflowPath(repo, id), "workflow", func(w wireWorkflow) bool { return w.ID == id && w.State != "" && w.Path != "" })
	return w, err
}

func (o workflowSwitch) compare(ctx context.Context, p *Provider, c change.Change) (string, error) {
	was, err := change.Parse[workflowBefore](c.Op, c.Before)
	if err != nil {
		return "", err
	}
	w, err := p.workflowOf(ctx, o.Repo, o.Workflow)
	switch {
	case err != nil:
		return "", err
	case w.Path != was.Path:
		return "", fmt.Errorf("%w (another workflow has this number)", change.ErrStale)
	case w.State == o.wants():
		return "the workflow is " + word(w.State) + " already", nil
	case w.State != was.State:
		return "", fmt.Errorf("%w (the workflow is %s)", change.ErrStale, word(w.State))
	}
	return "", nil
}

func (o workflowSwitch) settle(ctx context.Context, p *Provider, _ change.Change) (string, string, error) {
	w, err := p.workflowOf(ctx, o.Repo, o.Workflow)
	switch {
	case err != nil:
		return change.Unknown, err.Error(), finished(ctx, err)
	case w.State == o.wants():
		return change.Applied, fmt.Sprintf("the workflow %s of %s reads back as %s", p.text(w.Path), p.text(o.Repo), word(w.State)), nil
	}
	return change.Refused, "the workflow reads back as " + word(w.State), nil
}
