package github

import (
	"net/http"
	"strings"
)

type handler func(*call)

// What routes need (facts/github.md §1, and GitHub's list of permissions).
var (
	anybody       = need{}
	orgRunners    = need{"admin:org", "organization_self_hosted_runners"}
	entRunners    = need{"manage_runners:enterprise", ""}
	orgAdmin      = need{"admin:org", "organization_administration"}
	orgSecrets    = need{"admin:org", "organization_secrets"}
	orgDependabot = need{"admin:org", "organization_dependabot_secrets"}
	orgVariables  = need{"admin:org", "organization_actions_variables"}
	orgPATs       = need{"", "organization_personal_access_tokens"}
	orgMembers    = need{"read:org", "members"}
	orgPackages   = need{"repo", "packages"}
	auditLog      = need{"read:audit_log", "organization_administration"}
	repoAdmin     = need{"repo", "administration"}
	actions       = need{"repo", "actions"}
	secrets       = need{"repo", "secrets"}
	dependabot    = need{"repo", "dependabot_secrets"}
	variables     = need{"repo", "actions_variables"}
	environments  = need{"repo", "environments"}
	contents      = need{"repo", "contents"}
	deployments   = need{"repo", "deployments"}
	pulls         = need{"repo", "pull_requests"}
	metadata      = need{"repo", "metadata"}
)

// routes is everything this GitHub answers: people and Apps first, then listeners.
func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	on := func(route string, n need, h handler) {
		method, path, _ := strings.Cut(route, " ")
		mux.HandleFunc(method+" /api/v3"+path, s.people(n, h))
	}
	s.accountRoutes(on)
	for _, at := range []struct {
		path   string
		runner need
		admin  need
	}{{"/enterprises/{enterprise}", entRunners, need{"admin:enterprise", ""}}, {"/orgs/{org}", orgRunners, orgAdmin}, {"/repos/{owner}/{repo}", repoAdmin, repoAdmin}} {
		s.runnerRoutes(on, at.path+"/actions", at.runner)
		if !strings.HasPrefix(at.path, "/repos") {
			s.groupRoutes(on, at.path+"/actions/runner-groups", at.runner)
		}
		on("GET "+at.path+"/actions/permissions", at.admin, (*call).getPermissions)
		on("PUT "+at.path+"/actions/permissions", at.admin, (*call).putPermissions)
	}
	on("GET /enterprises/{enterprise}/actions/permissions/organizations", need{"admin:enterprise", ""}, (*call).enabledOrgs)
	on("PUT /enterprises/{enterprise}/actions/permissions/organizations", need{"admin:enterprise", ""}, (*call).setEnabledOrgs)
	on("GET /enterprises/{enterprise}/audit-log", need{"read:audit_log", ""}, (*call).auditLog)
	s.orgRoutes(on)
	s.repoRoutes(on)
	s.runRoutes(on)
	mux.HandleFunc("GET /api/v3/app", s.withJWT((*call).ownApp))
	mux.HandleFunc("GET /api/v3/app/installations", s.withJWT((*call).ownInstallations))
	mux.HandleFunc("GET /api/v3/app/installations/{id}", s.withJWT((*call).ownInstallation))
	mux.HandleFunc("POST /api/v3/app/installations/{id}/access_tokens", s.withJWT((*call).mintInstallationToken))
	mux.HandleFunc("PUT /api/v3/app/installations/{id}/suspended", s.withJWT((*call).suspendApp))
	mux.HandleFunc("DELETE /api/v3/app/installations/{id}/suspended", s.withJWT((*call).unsuspendApp))
	mux.HandleFunc("POST /api/v3/credentials/revoke", s.revokeLeaked)
	s.listenerRoutes(mux)
	return mux
}

type register func(route string, n need, h handler)

func (s *Server) accountRoutes(on register) {
	on("GET /rate_limit", anybody, s.rateLimit)
	on("GET /meta", anybody, (*call).meta)
	on("GET /user", anybody, (*call).user)
	on("GET /user/orgs", anybody, (*call).myOrgs)
	on("GET /user/repos", anybody, (*call).myRepos)
	on("GET /installation/repositories", anybody, (*call).installedRepos)
	on("GET /orgs/{org}", anybody, (*call).getOrg)
	on("GET /users/{user}", anybody, (*call).getUser)
	on("GET /orgs/{org}/repos", metadata, (*call).ownerRepos)
	on("GET /users/{user}/repos", anybody, (*call).ownerRepos)
	on("GET /repos/{owner}/{repo}", metadata, (*call).getRepo)
	on("GET /users/{user}/packages", anybody, (*call).noPackages)
	on("GET /repositories/{id}", anybody, (*call).getRepoByID)
}

func (s *Server) runnerRoutes(on register, at string, n need) {
	on("GET "+at+"/runners", n, (*call).listRunners)
	on("GET "+at+"/runners/{id}", n, (*call).getRunner)
	on("DELETE "+at+"/runners/{id}", n, (*call).deleteRunner)
	on("GET "+at+"/runners/{id}/{what}", n, (*call).ofRunner)
	on("PUT "+at+"/runners/{id}/labels", n, (*call).setLabels)
	on("POST "+at+"/runners/{id}/labels", n, (*call).addLabels)
	on("DELETE "+at+"/runners/{id}/labels", n, (*call).clearLabels)
	on("DELETE "+at+"/runners/{id}/labels/{name}", n, (*call).deleteLabel)
	on("GET "+at+"/runners/downloads", n, (*call).downloads)
	on("POST "+at+"/runners/registration-token", n, (*call).mintRegistration)
	on("POST "+at+"/runners/remove-token", n, (*call).mintRemoval)
}

func (s *Server) groupRoutes(on register, at string, n need) {
	on("GET "+at, n, (*call).listGroups)
	on("POST "+at, n, (*call).createGroup)
	on("GET "+at+"/{gid}", n, (*call).getGroup)
	on("PATCH "+at+"/{gid}", n, (*call).updateGroup)
	on("DELETE "+at+"/{gid}", n, (*call).deleteGroup)
	on("GET "+at+"/{gid}/runners", n, (*call).groupRunners)
	on("PUT "+at+"/{gid}/runners", n, (*call).setGroupRunners)
	on("PUT "+at+"/{gid}/runners/{id}", n, (*call).moveIn)
	on("DELETE "+at+"/{gid}/runners/{id}", n, (*call).moveOut)
	on("GET "+at+"/{gid}/repositories", n, (*call).groupRepos)
	on("PUT "+at+"/{gid}/repositories", n, (*call).setGroupRepos)
	on("PUT "+at+"/{gid}/repositories/{repo_id}", n, (*call).addGroupRepo)
	on("DELETE "+at+"/{gid}/repositories/{repo_id}", n, (*call).dropGroupRepo)
	on("GET "+at+"/{gid}/organizations", n, (*call).groupOrgs)
	on("PUT "+at+"/{gid}/organizations", n, (*call).setGroupOrgs)
	on("GET "+at+"/{gid}/hosted-runners", n, (*call).noRunners)
}

func (s *Server) orgRoutes(on register) {
	const at = "/orgs/{org}"
	on("GET "+at+"/actions/permissions/repositories", orgAdmin, (*call).enabledRepos)
	on("PUT "+at+"/actions/permissions/repositories", orgAdmin, (*call).setEnabledRepos)
	on("GET "+at+"/actions/permissions/self-hosted-runners", orgAdmin, (*call).getSelfHosted)
	on("PUT "+at+"/actions/permissions/self-hosted-runners", orgAdmin, (*call).putSelfHosted)
	on("GET "+at+"/actions/permissions/self-hosted-runners/repositories", orgAdmin, (*call).selfHostedRepos)
	on("PUT "+at+"/actions/permissions/self-hosted-runners/repositories", orgAdmin, (*call).setSelfHostedRepos)
	on("GET "+at+"/actions/hosted-runners", orgRunners, (*call).noRunners)
	on("GET "+at+"/actions/secrets", orgSecrets, (*call).orgSecretList)
	on("GET "+at+"/actions/secrets/{name}/repositories", orgSecrets, (*call).secretRepos)
	on("GET "+at+"/dependabot/secrets", orgDependabot, (*call).orgDependabotList)
	on("GET "+at+"/codespaces/secrets", orgSecrets, (*call).noSecrets)
	on("GET "+at+"/actions/variables", orgVariables, (*call).orgVariableList)
	on("GET "+at+"/audit-log", auditLog, (*call).auditLog)
	on("GET "+at+"/installations", orgAdmin, (*call).orgInstallations)
	on("GET "+at+"/personal-access-tokens", orgPATs, (*call).orgPATList)
	on("POST "+at+"/personal-access-tokens/{id}", orgPATs, (*call).revokePAT)
	on("GET "+at+"/credential-authorizations", orgAdmin, (*call).authorizations)
	on("DELETE "+at+"/credential-authorizations/{id}", orgAdmin, (*call).deauthorize)
	on("GET "+at+"/teams", orgMembers, (*call).orgTeams)
	on("GET "+at+"/packages", orgPackages, (*call).packages)
	on("GET "+at+"/packages/{type}/{package}/versions", orgPackages, (*call).packageVersions)
}

func (s *Server) repoRoutes(on register) {
	const at = "/repos/{owner}/{repo}"
	on("GET "+at+"/actions/secrets", secrets, (*call).repoSecretList)
	on("GET "+at+"/actions/organization-secrets", secrets, (*call).inheritedSecrets)
	on("GET "+at+"/dependabot/secrets", dependabot, (*call).repoDependabotList)
	on("GET "+at+"/codespaces/secrets", secrets, (*call).noSecrets)
	on("GET "+at+"/actions/variables", variables, (*call).repoVariableList)
	on("GET "+at+"/actions/organization-variables", variables, (*call).inheritedVariables)
	on("GET "+at+"/environments", actions, (*call).listEnvironments)
	on("GET "+at+"/environments/{environment}/secrets", environments, (*call).environmentSecrets)
	on("GET "+at+"/environments/{environment}/variables", environments, (*call).environmentVariables)
	on("GET "+at+"/keys", repoAdmin, (*call).listKeys)
	on("GET "+at+"/keys/{id}", repoAdmin, (*call).getKey)
	on("DELETE "+at+"/keys/{id}", repoAdmin, (*call).deleteKey)
	on("GET "+at+"/actions/caches", actions, (*call).listCaches)
	on("DELETE "+at+"/actions/caches", actions, (*call).deleteCachesByKey)
	on("DELETE "+at+"/actions/caches/{id}", actions, (*call).deleteCache)
	on("GET "+at+"/actions/artifacts", actions, (*call).listArtifacts)
	on("GET "+at+"/actions/artifacts/{id}", actions, (*call).getArtifact)
	on("DELETE "+at+"/actions/artifacts/{id}", actions, (*call).deleteArtifact)
	on("GET "+at+"/releases", contents, (*call).listReleases)
	on("GET "+at+"/tags", contents, (*call).listTags)
	on("GET "+at+"/contents/{path...}", contents, (*call).getContents)
	on("GET "+at+"/commits", contents, (*call).listCommits)
	on("GET "+at+"/commits/{sha}", contents, (*call).getCommit)
	on("GET "+at+"/deployments", deployments, (*call).listDeployments)
	on("GET "+at+"/deployments/{id}/statuses", deployments, (*call).deploymentStatuses)
	on("GET "+at+"/events", metadata, (*call).events)
	on("GET "+at+"/pulls/{number}", pulls, (*call).getPull)
	on("GET "+at+"/teams", repoAdmin, (*call).repoTeams)
	on("GET "+at+"/properties/values", metadata, (*call).properties)
	on("GET "+at+"/rulesets/rule-suites", repoAdmin, func(c *call) { c.json(http.StatusOK, []any{}) })
	on("GET "+at+"/attestations/{digest}", contents, (*call).noAttestations)
}

func (s *Server) runRoutes(on register) {
	const at = "/repos/{owner}/{repo}/actions"
	on("GET "+at+"/workflows", actions, (*call).listWorkflows)
	on("GET "+at+"/workflows/{id}", actions, (*call).getWorkflow)
	on("PUT "+at+"/workflows/{id}/disable", actions, (*call).disableWorkflow)
	on("PUT "+at+"/workflows/{id}/enable", actions, (*call).enableWorkflow)
	on("GET "+at+"/workflows/{id}/runs", actions, (*call).listRuns)
	on("GET "+at+"/runs", actions, (*call).listRuns)
	on("GET "+at+"/runs/{id}", actions, (*call).getRun)
	on("GET "+at+"/runs/{id}/attempts/{n}", actions, (*call).getAttempt)
	on("GET "+at+"/runs/{id}/jobs", actions, (*call).listJobs)
	on("GET "+at+"/runs/{id}/attempts/{n}/jobs", actions, (*call).attemptJobs)
	on("GET "+at+"/runs/{id}/artifacts", actions, (*call).runArtifacts)
	on("GET "+at+"/jobs/{id}", actions, (*call).getJob)
	on("POST "+at+"/runs/{id}/cancel", actions, (*call).cancel)
	on("POST "+at+"/runs/{id}/force-cancel", actions, (*call).forceCancel)
}
