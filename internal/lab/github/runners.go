package github

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// sessionLife is how long a listener that died without a word counts as online. GitHub
// documents no delay; this is the lab's choice.
const sessionLife = 2 * time.Minute

func (s *Server) online(r *runner) bool {
	return r.session != nil && (r.session.waits || s.clock.Now().Sub(r.session.heard) < sessionLife)
}

func (s *Server) inScope(in scope) []*runner {
	var out []*runner
	for _, r := range s.runners {
		if r.scope == in {
			out = append(out, r)
		}
	}
	return out
}

func (c *call) listRunners() {
	list := c.s.inScope(c.scope)
	if name := c.r.URL.Query().Get("name"); name != "" {
		list = slices.DeleteFunc(list, func(r *runner) bool { return !strings.EqualFold(r.Name, name) })
	}
	counted(c, "runners", list, c.runnerShape)
}

// theRunner is the one of the path, or it answers.
func (c *call) theRunner() *runner {
	r := c.s.runner(c.scope, c.id("id"))
	if r == nil {
		c.missing()
	}
	return r
}

func (c *call) getRunner() {
	if r := c.theRunner(); r != nil {
		c.json(http.StatusOK, c.runnerShape(r))
	}
}

// deleteRunner takes a registration away for good. There is no force: a busy runner is
// refused. Its listener learns of it at its next call; a job that runs has a token of
// its own and goes on.
func (c *call) deleteRunner() {
	r := c.theRunner()
	if r == nil {
		return
	}
	if c.s.held(r) {
		c.refuse("Runner %q is currently running a job and cannot be deleted", r.Name)
		return
	}
	c.s.drop(r)
	c.effect("runner.delete", r.target(), r.Name)
	c.s.audit(c.who.login, verbOf(r.scope, "remove_self_hosted_runner"), r.scope, r.facts())
	c.none()
}

// drop takes a runner off the list and wakes whoever waits for its jobs.
func (s *Server) drop(r *runner) {
	s.runners = slices.DeleteFunc(s.runners, func(x *runner) bool { return x == r })
	if r.access != "" {
		s.gone = append(s.gone, r)
	}
	s.wake()
}

func (c *call) noRunners() {
	c.json(http.StatusOK, map[string]any{"total_count": 0, "runners": []any{}})
}

func (c *call) downloads() {
	c.json(http.StatusOK, []any{map[string]any{
		"os": "linux", "architecture": "x64", "filename": "actions-runner-linux-x64-" + newest + ".tar.gz",
		"download_url": c.web() + "/downloads/actions-runner-linux-x64-" + newest + ".tar.gz",
	}})
}

// newest is the version of the listener that this GitHub knows as current.
const newest = "2.336.0"

// ofRunner is {id}/labels or deprecations/{version}, which the patterns of net/http
// cannot tell apart.
func (c *call) ofRunner() {
	switch what := c.r.PathValue("what"); {
	case c.r.PathValue("id") == "deprecations":
		c.deprecations(what)
	case what == "labels":
		c.listLabels()
	default:
		c.missing()
	}
}

// deprecations tells until when a version may register and run.
func (c *call) deprecations(v string) {
	out := map[string]any{"runner_version": v, "registration_deprecates_at": nil, "runtime_deprecates_at": nil}
	if older(v, "2.329.0") {
		out["registration_deprecates_at"], out["runtime_deprecates_at"] = "2026-09-28T00:00:00Z", "2026-10-28T00:00:00Z"
	}
	c.json(http.StatusOK, out)
}
