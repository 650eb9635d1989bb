package github

import (
	"net/http"
	"slices"
	"strconv"
)

func (c *call) workflowShape(w Workflow) map[string]any {
	at := c.api() + "/repos/" + c.repo.Path + "/actions/workflows/" + itoa(w.ID)
	state := w.State
	if state == "" {
		state = "active"
	}
	return map[string]any{
		"id": w.ID, "node_id": nodeID("Workflow", w.ID), "name": w.Name, "path": w.Path, "state": state, "created_at": stamp(c.s.ago(w.Age + 1000*3600e9)),
		"updated_at": stamp(c.s.ago(w.Age)), "url": at, "html_url": c.web() + "/" + c.repo.Path + "/blob/main/" + w.Path, "badge_url": c.web() + "/" + c.repo.Path + "/workflows/" + w.Name + "/badge.svg",
	}
}

func (c *call) listWorkflows() { counted(c, "workflows", c.repo.Workflows, c.workflowShape) }

// theWorkflow is the one of the path, by number or by the name of its file.
func (c *call) theWorkflow() *Workflow {
	id := c.r.PathValue("id")
	for i := range c.repo.Workflows {
		w := &c.repo.Workflows[i]
		if itoa(w.ID) == id || ".github/workflows/"+id == w.Path {
			return w
		}
	}
	c.missing()
	return nil
}

func (c *call) getWorkflow() {
	if w := c.theWorkflow(); w != nil {
		c.json(http.StatusOK, c.workflowShape(*w))
	}
}

func (c *call) disableWorkflow() { c.switchWorkflow("disabled_manually", "disable") }

func (c *call) enableWorkflow() { c.switchWorkflow("", "enable") }

func (c *call) switchWorkflow(to, verb string) {
	w := c.theWorkflow()
	if w == nil {
		return
	}
	if w.State != to {
		w.State = to
		c.effect("workflow."+verb, c.scope.String()+"/workflow/"+itoa(w.ID), w.Path)
		c.s.audit(c.who.login, "workflows."+verb+"_workflow", c.scope, map[string]any{"workflow_id": w.ID})
		c.s.wake()
	}
	c.none()
}

// listRuns gives runs newest first. A search with any filter finds a thousand at most,
// however many there are.
func (c *call) listRuns() {
	var of *Workflow
	if c.r.PathValue("id") != "" {
		if of = c.theWorkflow(); of == nil {
			return
		}
	}
	q := c.r.URL.Query()
	var list []*run
	for _, r := range c.s.runs {
		if r.Repo == c.repo.Path && (of == nil || r.Workflow == of.ID) && r.fits(q.Get) {
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, func(a, b *run) int {
		if d := b.created.Compare(a.created); d != 0 {
			return d
		}
		return b.ID - a.ID
	})
	total := len(list)
	for _, f := range []string{"actor", "branch", "check_suite_id", "created", "event", "head_sha", "status"} {
		if q.Get(f) != "" && len(list) > searchLimit {
			list = list[:searchLimit]
		}
	}
	out := []any{}
	for _, r := range page(c, list) {
		out = append(out, c.runShape(r))
	}
	c.json(http.StatusOK, map[string]any{"total_count": total, "workflow_runs": out})
}

func (r *run) fits(q func(string) string) bool {
	status, conclusion := r.status()
	for name, has := range map[string]string{"actor": r.Actor, "branch": r.Branch, "event": r.Event, "head_sha": r.SHA} {
		if q(name) != "" && q(name) != has {
			return false
		}
	}
	if want := q("status"); want != "" && want != status && want != conclusion {
		return false
	}
	return q("created") == "" || within(r.created, q("created"))
}

// theRun is the one of the path, or it answers.
func (c *call) theRun() *run {
	r := c.s.run(c.repo.Path, c.id("id"))
	if r == nil {
		c.missing()
	}
	return r
}

func (c *call) getRun() {
	if r := c.theRun(); r != nil {
		c.json(http.StatusOK, c.runShape(r))
	}
}

func (c *call) getAttempt() {
	r := c.theRun()
	if r == nil {
		return
	}
	n := c.id("n")
	if n < 1 || n > max(r.Attempt, 1) {
		c.missing()
		return
	}
	out := c.runShape(r)
	out["run_attempt"] = n
	c.json(http.StatusOK, out)
}

// listJobs gives the jobs of the latest attempt, or of all where filter says so.
func (c *call) listJobs() {
	r := c.theRun()
	if r == nil {
		return
	}
	all := c.r.URL.Query().Get("filter") == "all"
	counted(c, "jobs", slices.DeleteFunc(slices.Clone(r.jobs), func(j *job) bool { return !all && j.attempt() != max(r.Attempt, 1) }), c.jobShape)
}

func (c *call) attemptJobs() {
	r := c.theRun()
	if r == nil {
		return
	}
	list := slices.DeleteFunc(slices.Clone(r.jobs), func(j *job) bool { return strconv.Itoa(j.attempt()) != c.r.PathValue("n") })
	if len(list) == 0 {
		c.missing()
		return
	}
	counted(c, "jobs", list, c.jobShape)
}

func (c *call) getJob() {
	for _, r := range c.s.runs {
		for _, j := range r.jobs {
			if j.ID == c.id("id") && r.Repo == c.repo.Path {
				c.json(http.StatusOK, c.jobShape(j))
				return
			}
		}
	}
	c.missing()
}

// cancel asks the whole run to end: what waits ends at once, what runs is told and ends
// by itself. Who does not listen is ended by force-cancel only.
func (c *call) cancel() { c.end(false) }

func (c *call) forceCancel() { c.end(true) }

func (c *call) end(force bool) {
	r := c.theRun()
	if r == nil {
		return
	}
	if status, _ := r.status(); status == "completed" {
		c.fail(http.StatusConflict, "Cannot cancel a workflow run that is completed.")
		return
	}
	effect := "run.cancel"
	if force {
		effect = "run.force-cancel"
	}
	if !r.cancelled || force {
		c.effect(effect, r.target(), "")
		c.s.audit(c.who.login, "workflows.cancel_workflow_run", c.scope, map[string]any{"workflow_run_id": r.ID})
	}
	r.cancelled, r.updated = true, c.s.clock.Now()
	for _, j := range r.jobs {
		if j.status == "queued" || j.status == "in_progress" && force {
			c.s.finish(j, "cancelled")
		}
	}
	c.s.wake()
	c.json(http.StatusAccepted, map[string]any{})
}
