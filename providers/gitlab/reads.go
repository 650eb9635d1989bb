package gitlab

import "cordon/internal/transport"

// Reads is the table of requests that change nothing, for transport.Options. Paths
// and query keys are GitLab's (doc/api/runners.md, jobs.md, project_level_variables.md);
// what is not here needs a permit. Note what is missing: POST /runners/verify, because
// it is a heartbeat that creates a manager, and every other call that carries a
// runner's token.
func Reads() []transport.Route {
	list := []string{"page", "per_page", "tag_list", "paused"}
	pages := []string{"page", "per_page"}
	return []transport.Route{
		{Method: "GET", Pattern: "/api/v4/version"},
		{Method: "GET", Pattern: "/api/v4/user"},
		{Method: "GET", Pattern: "/api/v4/personal_access_tokens/self"},
		{Method: "GET", Pattern: "/api/v4/runners", Query: list},
		{Method: "GET", Pattern: "/api/v4/runners/all", Query: list},
		{Method: "GET", Pattern: "/api/v4/groups/{group}/runners", Query: list},
		{Method: "GET", Pattern: "/api/v4/projects/{project}/runners", Query: list},
		{Method: "GET", Pattern: "/api/v4/runners/{id}", Query: []string{"include_projects"}},
		{Method: "GET", Pattern: "/api/v4/runners/{id}/managers"},
		{Method: "GET", Pattern: "/api/v4/runners/{id}/jobs", Query: []string{"status", "order_by", "sort", "page", "per_page"}},
		{Method: "GET", Pattern: "/api/v4/projects/{project}/jobs/{job_id}"},
		{Method: "GET", Pattern: "/api/v4/projects/{project}/variables", Query: pages},
		{Method: "GET", Pattern: "/api/v4/projects/{project}/deploy_keys", Query: pages},
		{Method: "GET", Pattern: "/api/v4/groups/{group}/variables", Query: pages},
		{Method: "GET", Pattern: "/api/v4/admin/ci/variables", Query: pages},
	}
}
