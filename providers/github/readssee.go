package github

import "cordon/internal/transport"

// readsSee are the reads of jobs, exposure, what was published, the audit log and web
// addresses. Most paths are in the part of GitHub's description that the project keeps.
// Documented elsewhere, under docs.github.com/en/rest:
//
//	/repos/{owner}/{repo}/teams, /properties/values             repos/repos, repos/custom-properties
//	/repos/{owner}/{repo}/contents/…                            repos/contents
//	/repos/{owner}/{repo}/commits                               commits/commits
//	/repos/{owner}/{repo}/environments                          deployments/environments
//	/repos/{owner}/{repo}/deployments                           deployments/deployments
//	/repos/{owner}/{repo}/releases                              releases/releases
//	/repos/{owner}/{repo}/events                                activity/events
//	/repos/{owner}/{repo}/attestations/{subject_digest}         repos/attestations
//	/repos/{owner}/{repo}/actions/workflows                     actions/workflows
//	/orgs/{org}/repos, /orgs/{org}/packages, …/versions         repos/repos, packages/packages
//	/users/{user}/packages, …/versions                          packages/packages
var readsSee = func() []transport.Route {
	var out []transport.Route
	add := func(pattern string, query ...string) {
		out = append(out, transport.Route{Method: "GET", Pattern: pattern, Query: query})
	}
	paged := func(pattern string, query ...string) { add(pattern, append(query, "page", "per_page")...) }

	const repo = "/repos/{owner}/{repo}"
	paged(repo+"/actions/runs", "created", "status", "actor", "exclude_pull_requests")
	add(repo + "/actions/runs/{id}")
	add(repo + "/actions/runs/{id}/attempts/{n}")
	paged(repo+"/actions/runs/{id}/jobs", "filter")
	add(repo + "/actions/jobs/{id}")
	paged(repo + "/actions/workflows")
	paged(repo + "/actions/secrets")
	paged(repo + "/actions/organization-secrets")
	paged(repo + "/actions/variables")
	paged(repo + "/actions/organization-variables")
	paged(repo + "/dependabot/secrets")
	paged(repo + "/environments")
	paged(repo + "/environments/{environment}/secrets")
	paged(repo + "/environments/{environment}/variables")
	paged(repo + "/keys")
	paged(repo+"/actions/caches", "sort", "direction")
	paged(repo + "/actions/artifacts")
	add(repo + "/actions/permissions/artifact-and-log-retention")
	paged(repo + "/teams")
	add(repo + "/properties/values")
	add(repo+"/contents/.github/workflows/{file}", "ref")
	add(repo + "/contents/.github/CODEOWNERS")
	add(repo + "/contents/CODEOWNERS")
	add(repo + "/contents/docs/CODEOWNERS")
	paged(repo+"/commits", "path", "sha", "since")
	paged(repo + "/deployments")
	paged(repo + "/releases")
	paged(repo + "/events")
	add(repo+"/attestations/{digest}", "per_page")

	paged("/orgs/{org}/repos", "type", "sort", "direction")
	paged("/orgs/{org}/actions/runner-groups/{id}/repositories")
	paged("/enterprises/{enterprise}/actions/runner-groups/{id}/organizations")
	paged("/orgs/{org}/dependabot/secrets")
	for _, owner := range []string{"/orgs/{org}", "/users/{user}"} {
		paged(owner+"/packages", "package_type")
		paged(owner + "/packages/{type}/{name}/versions")
	}
	for _, at := range []string{"/orgs/{org}", "/enterprises/{enterprise}"} {
		add(at+"/audit-log", "phrase", "include", "order", "after", "per_page")
	}
	return out
}()
