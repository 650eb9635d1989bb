package gitlab

import (
	"context"

	"cordon/internal/change"
)

// maxLinked is how many projects get links of their own in what is done by hand.
const maxLinked = 10

// planRevoke says what a person does: this build ends no credential at GitLab but the
// runner's own, which is a rotation or a removal.
func (p *Provider) planRevoke(_ context.Context, v view) ([]change.Plan, error) {
	return []change.Plan{{
		Option: "by-hand", Title: "end credentials of the projects of " + v.name + " by hand",
		Covers: "this build ends none of them at GitLab: the runner's own token is replaced by a rotation and ends with its removal",
		Manual: []string{
			"go by the exposure list: deploy tokens and deploy keys, access tokens of projects and groups, and the variables that jobs got",
			"a job's own token (CI_JOB_TOKEN) ends with its job: cancel what still runs",
			"a variable with a new value is worth nothing while the old value works at its issuer: end it there",
		},
		Limits: []string{"who may do it is a maintainer of the project or an owner of the group"},
		ByHand: p.ofProjects(v, "access tokens", "-/settings/access_tokens", "deploy tokens and keys", "-/settings/repository"),
	}}, nil
}

// planPurge says what a person does: GitLab knows which job an artifact is of, and cannot
// be asked what is in a runner's cache.
func (p *Provider) planPurge(_ context.Context, v view) ([]change.Plan, error) {
	return []change.Plan{{
		Option: "by-hand", Title: "remove caches and artifacts of the jobs on " + v.name + " by hand",
		Covers: "this build removes neither at GitLab",
		Manual: []string{
			"the button Clear runner caches on a project's page of pipelines has later jobs begin with new caches; the old ones stay where the runner keeps them, on its host or in its bucket",
			"keep the description of an artifact, and a copy where it can be had, before you remove it",
		},
		Limits: []string{"neither can be undone"},
		ByHand: p.ofProjects(v, "pipelines, with Clear runner caches", "-/pipelines", "artifacts", "-/artifacts"),
	}}, nil
}

// ofProjects are pages of the projects that the runner belongs to, in pairs of title and
// path; a runner of a group or of the instance names none.
func (p *Provider) ofProjects(v view, pages ...string) []change.Link {
	var links []change.Link
	for _, x := range v.runner.Projects[:min(len(v.runner.Projects), maxLinked)] {
		for i := 0; i+1 < len(pages); i += 2 {
			links = append(links, change.Link{Title: pages[i] + " of " + string(p.text(x.Path)), URL: p.page(escapePath(x.Path) + "/" + pages[i+1])})
		}
	}
	return links
}
