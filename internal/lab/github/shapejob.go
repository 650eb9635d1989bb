package github

import "strconv"

func itoa(n int) string { return strconv.Itoa(n) }

func (c *call) jobShape(j *job) map[string]any {
	api := c.api() + "/repos/" + j.run.Repo
	at := api + "/actions/jobs/" + itoa(j.ID)
	out := map[string]any{
		"id": j.ID, "run_id": j.run.ID, "run_url": api + "/actions/runs/" + itoa(j.run.ID), "run_attempt": j.attempt(), "node_id": nodeID("CheckRun", j.ID),
		"head_sha": j.run.SHA, "head_branch": j.run.Branch, "url": at, "html_url": c.web() + "/" + j.run.Repo + "/actions/runs/" + itoa(j.run.ID) + "/job/" + itoa(j.ID),
		"status": j.status, "conclusion": nil, "created_at": stamp(j.created), "started_at": stamp(j.created), "completed_at": stamp(j.completed),
		"name": j.Name, "workflow_name": c.s.workflowOf(j.run).Name, "steps": []any{}, "check_run_url": api + "/check-runs/" + itoa(j.ID), "labels": orEmpty(j.Labels),
		"runner_id": nil, "runner_name": nil, "runner_group_id": nil, "runner_group_name": nil,
	}
	if j.conclusion != "" {
		out["conclusion"] = j.conclusion
	}
	if !j.started.IsZero() {
		out["started_at"] = stamp(j.started)
		out["steps"] = c.steps(j)
	}
	if j.runnerID > 0 {
		out["runner_id"], out["runner_name"] = j.runnerID, j.runnerName
		if j.groupID > 0 {
			out["runner_group_id"], out["runner_group_name"] = j.groupID, j.groupName
		}
	}
	return out
}

// steps are the two that every job has.
func (c *call) steps(j *job) []any {
	step := func(n int, name string, from, to any, done bool) any {
		status, end := "in_progress", any(nil)
		if done {
			status, end = "completed", "success"
		}
		return map[string]any{"name": name, "status": status, "conclusion": end, "number": n, "started_at": from, "completed_at": to}
	}
	return []any{
		step(1, "Set up job", stamp(j.started), stamp(j.started), true),
		step(2, "Run make", stamp(j.started), stamp(j.completed), !j.completed.IsZero()),
	}
}

// attempt of the run that the job belongs to: the last one where the scenario says none.
func (j *job) attempt() int {
	if j.Attempt > 0 {
		return j.Attempt
	}
	return max(j.run.Attempt, 1)
}

func (c *call) runnerShape(r *runner) map[string]any {
	status := "offline"
	if c.s.online(r) {
		status = "online"
	}
	out := map[string]any{
		"id": r.ID, "name": r.Name, "os": r.OS, "status": status, "busy": c.s.busy(r), "labels": labelShapes(r), "ephemeral": r.Ephemeral, "version": nil,
	}
	if r.Version != "" {
		out["version"] = r.Version
	}
	if r.Group > 0 {
		out["runner_group_id"] = r.Group
	}
	return out
}

// labelShapes lists the read-only ones first. Ids of custom labels are their place.
func labelShapes(r *runner) []any {
	out := []any{}
	for i, l := range r.fixed {
		out = append(out, map[string]any{"id": i + 1, "name": l, "type": "read-only"})
	}
	for i, l := range r.Labels {
		out = append(out, map[string]any{"id": 20 + i, "name": l, "type": "custom"})
	}
	return out
}

func (c *call) groupShape(g *group, inherited bool) map[string]any {
	at := c.api() + "/" + prefix(g.scope) + "/actions/runner-groups/" + itoa(g.ID)
	out := map[string]any{
		"id": g.ID, "name": g.Name, "visibility": g.visibility(), "default": g.Default, "runners_url": at + "/runners",
		"allows_public_repositories": g.Public, "workflow_restrictions_read_only": inherited, "restricted_to_workflows": len(g.Workflows) > 0,
		"selected_workflows": orEmpty(g.Workflows),
	}
	if g.scope.level == enterprise && !inherited {
		out["selected_organizations_url"] = at + "/organizations"
		return out
	}
	out["inherited"], out["hosted_runners_url"] = inherited, at+"/hosted-runners"
	if inherited {
		out["inherited_allows_public_repositories"] = g.Public
	}
	if g.visibility() == "selected" {
		out["selected_repositories_url"] = at + "/repositories"
	}
	return out
}

func (g *group) visibility() string {
	if g.Visibility == "" {
		return "all"
	}
	return g.Visibility
}

func prefix(s scope) string {
	return map[string]string{enterprise: "enterprises/", organization: "orgs/", repository: "repos/"}[s.level] + s.path
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
