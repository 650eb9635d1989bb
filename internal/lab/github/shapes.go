package github

import (
	"hash/fnv"
	"strings"
)

// nodeID stands for the opaque ids of GraphQL.
func nodeID(kind string, id int) string { return "MDEw" + kind + itoa(id) }

// accountID is the number of an account that the scenario gives none.
func accountID(login string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.ToLower(login))) // never fails (hash.Hash)
	return int(h.Sum32()%900000) + 100000
}

// account is a user or an organization, as it hangs on other things.
func (c *call) account(login string) map[string]any {
	id, kind := accountID(login), "User"
	if o := c.s.owner(login); o != nil {
		id, kind = o.ID, o.Type
	}
	for _, p := range c.s.data.People {
		if p.Login == login {
			id = p.ID
		}
	}
	api, web := c.api()+"/users/"+login, c.web()+"/"+login
	return map[string]any{
		"login": login, "id": id, "node_id": nodeID("User", id), "avatar_url": c.web() + "/avatars/u/" + itoa(id), "gravatar_id": "",
		"url": api, "html_url": web, "followers_url": api + "/followers", "following_url": api + "/following{/other_user}",
		"gists_url": api + "/gists{/gist_id}", "starred_url": api + "/starred{/owner}{/repo}", "subscriptions_url": api + "/subscriptions",
		"organizations_url": api + "/orgs", "repos_url": api + "/repos", "events_url": api + "/events{/privacy}",
		"received_events_url": api + "/received_events", "type": kind, "site_admin": false,
	}
}

// links are the addresses that every repository has, after its own.
var links = map[string]string{
	"archive_url": "/{archive_format}{/ref}", "assignees_url": "/assignees{/user}", "blobs_url": "/git/blobs{/sha}", "branches_url": "/branches{/branch}",
	"collaborators_url": "/collaborators{/collaborator}", "comments_url": "/comments{/number}", "commits_url": "/commits{/sha}",
	"compare_url": "/compare/{base}...{head}", "contents_url": "/contents/{+path}", "contributors_url": "/contributors", "deployments_url": "/deployments",
	"downloads_url": "/downloads", "events_url": "/events", "forks_url": "/forks", "git_commits_url": "/git/commits{/sha}", "git_refs_url": "/git/refs{/sha}",
	"git_tags_url": "/git/tags{/sha}", "issue_comment_url": "/issues/comments{/number}", "issue_events_url": "/issues/events{/number}",
	"issues_url": "/issues{/number}", "keys_url": "/keys{/key_id}", "labels_url": "/labels{/name}", "languages_url": "/languages", "merges_url": "/merges",
	"milestones_url": "/milestones{/number}", "notifications_url": "/notifications{?since,all,participating}", "pulls_url": "/pulls{/number}",
	"releases_url": "/releases{/id}", "stargazers_url": "/stargazers", "statuses_url": "/statuses/{sha}", "subscribers_url": "/subscribers",
	"subscription_url": "/subscription", "tags_url": "/tags", "teams_url": "/teams", "trees_url": "/git/trees{/sha}", "hooks_url": "/hooks",
}

// repository is the minimal form, which lists and runs have.
func (c *call) repository(r *Repo) map[string]any {
	api := c.api() + "/repos/" + r.Path
	visibility := "private"
	if r.Public {
		visibility = "public"
	}
	out := map[string]any{
		"id": r.ID, "node_id": nodeID("Repository", r.ID), "name": nameOf(r.Path), "full_name": r.Path, "owner": c.account(ownerOf(r.Path)),
		"private": !r.Public, "visibility": visibility, "html_url": c.web() + "/" + r.Path, "description": nil, "fork": r.Fork, "url": api,
		"default_branch": "main", "archived": false, "disabled": false, "created_at": "2024-02-01T09:00:00Z", "updated_at": stamp(c.s.start), "pushed_at": stamp(c.s.start),
	}
	for k, rest := range links {
		out[k] = api + rest
	}
	return out
}

// wholeRepo is the full form, which the lists of policies have.
func (c *call) wholeRepo(r *Repo) map[string]any {
	out := c.repository(r)
	at := c.web() + "/" + r.Path
	for k, v := range map[string]any{
		"clone_url": at + ".git", "git_url": at + ".git", "ssh_url": at + ".git", "svn_url": at, "mirror_url": nil, "homepage": nil, "language": nil, "license": nil,
		"forks": 0, "forks_count": 0, "open_issues": 0, "open_issues_count": 0, "stargazers_count": 0, "watchers": 0, "watchers_count": 0, "size": 0,
		"has_downloads": false, "has_issues": true, "has_projects": false, "has_wiki": false, "has_pages": false,
	} {
		out[k] = v
	}
	return out
}

// head is the repository that a run's commit is from: a fork that nobody here has is
// made up from its name.
func (c *call) head(path string) map[string]any {
	if r := c.s.repo(path); r != nil {
		return c.repository(r)
	}
	return c.repository(&Repo{ID: accountID(path), Path: path, Public: true, Fork: true})
}

// workflowOf finds the workflow of a run; one that is gone leaves its number.
func (s *Server) workflowOf(r *run) Workflow {
	if repo := s.repo(r.Repo); repo != nil {
		if w := s.workflow(repo, r.Workflow); w != nil {
			return *w
		}
	}
	return Workflow{ID: r.Workflow, Name: "workflow " + itoa(r.Workflow), Path: ".github/workflows/gone.yml"}
}

// runShape is a workflow run.
func (c *call) runShape(r *run) map[string]any {
	status, conclusion := r.status()
	var end any
	if conclusion != "" {
		end = conclusion
	}
	w := c.s.workflowOf(r)
	repo := c.s.repo(r.Repo)
	from := r.Fork
	if from == "" {
		from = r.Repo
	}
	api := c.api() + "/repos/" + r.Repo
	at := api + "/actions/runs/" + itoa(r.ID)
	pulls := []any{}
	if r.Pull > 0 && r.Fork == "" { // of a fork GitHub names none
		small := map[string]any{"id": repo.ID, "url": api, "name": nameOf(r.Repo)}
		pulls = append(pulls, map[string]any{
			"id": 70000 + r.Pull, "number": r.Pull, "url": api + "/pulls/" + itoa(r.Pull),
			"head": map[string]any{"ref": r.Branch, "sha": r.SHA, "repo": small}, "base": map[string]any{"ref": "main", "sha": r.SHA, "repo": small},
		})
	}
	who := map[string]any{"name": r.Actor, "email": r.Actor + "@example.org"}
	return map[string]any{
		"id": r.ID, "name": w.Name, "node_id": nodeID("WorkflowRun", r.ID), "head_branch": r.Branch, "head_sha": r.SHA, "path": w.Path,
		"display_title": w.Name, "run_number": r.number, "run_attempt": max(r.Attempt, 1), "event": r.Event, "status": status, "conclusion": end,
		"workflow_id": w.ID, "check_suite_id": 50000 + r.ID, "check_suite_node_id": nodeID("CheckSuite", r.ID), "url": at,
		"html_url": c.web() + "/" + r.Repo + "/actions/runs/" + itoa(r.ID), "pull_requests": pulls, "created_at": stamp(r.created), "updated_at": stamp(r.updated),
		"run_started_at": stamp(r.created), "actor": c.account(r.Actor), "triggering_actor": c.account(r.Actor), "jobs_url": at + "/jobs", "logs_url": at + "/logs",
		"check_suite_url": api + "/check-suites/" + itoa(50000+r.ID), "artifacts_url": at + "/artifacts", "cancel_url": at + "/cancel", "rerun_url": at + "/rerun",
		"previous_attempt_url": nil, "workflow_url": api + "/actions/workflows/" + itoa(w.ID), "referenced_workflows": []any{},
		"head_commit": map[string]any{"id": r.SHA, "tree_id": r.SHA, "message": "Change " + r.Branch, "timestamp": stamp(r.created), "author": who, "committer": who},
		"repository":  c.repository(repo), "head_repository": c.head(from),
	}
}
