package github

import "cordon/internal/transport"

// readsAct are the reads of plans, their checks and observations that no other table has.
// Documented outside of the part of GitHub's description that the project keeps, under
// docs.github.com/en/rest:
//
//	/orgs/{org}/credential-authorizations     orgs/orgs, list SAML SSO authorizations
//	/orgs/{org}/personal-access-tokens        orgs/personal-access-tokens
//	/repos/{owner}/{repo}/actions/workflows/… actions/workflows
//	/repos/{owner}/{repo}/rulesets/rule-suites repos/rule-suites
var readsAct = []transport.Route{
	{Method: "GET", Pattern: "/repos/{owner}/{repo}/keys/{id}"},
	{Method: "GET", Pattern: "/repos/{owner}/{repo}/actions/runs/{id}/artifacts", Query: []string{"page", "per_page"}},
	{Method: "GET", Pattern: "/repos/{owner}/{repo}/actions/artifacts/{id}"},
	{Method: "GET", Pattern: "/app"},
	{Method: "GET", Pattern: "/orgs/{org}/installations", Query: []string{"page", "per_page"}},
	{Method: "GET", Pattern: "/orgs/{org}/credential-authorizations", Query: []string{"login", "page", "per_page"}},
	{Method: "GET", Pattern: "/orgs/{org}/personal-access-tokens", Query: []string{"page", "per_page"}},
	{Method: "GET", Pattern: "/repos/{owner}/{repo}/actions/workflows/{id}"},
	{Method: "GET", Pattern: "/repos/{owner}/{repo}/rulesets/rule-suites", Query: []string{"page", "per_page"}},
	{Method: "GET", Pattern: "/repos/{owner}/{repo}/actions/permissions"},
	{Method: "GET", Pattern: "/orgs/{org}/actions/permissions"},
	{Method: "GET", Pattern: "/orgs/{org}/actions/permissions/repositories", Query: []string{"page", "per_page"}},
	{Method: "GET", Pattern: "/orgs/{org}/actions/permissions/self-hosted-runners"},
	{Method: "GET", Pattern: "/orgs/{org}/actions/permissions/self-hosted-runners/repositories", Query: []string{"page", "per_page"}},
	{Method: "GET", Pattern: "/enterprises/{enterprise}/actions/permissions"},
	{Method: "GET", Pattern: "/enterprises/{enterprise}/actions/permissions/organizations", Query: []string{"page", "per_page"}},
}
