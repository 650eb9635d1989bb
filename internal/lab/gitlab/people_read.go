package gitlab

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

func (s *Server) version(w http.ResponseWriter, _ *http.Request, _ *Person) {
	answer(w, http.StatusOK, map[string]any{"version": s.data.Version, "revision": s.data.Revision})
}

func (s *Server) metadata(w http.ResponseWriter, _ *http.Request, _ *Person) {
	answer(w, http.StatusOK, map[string]any{
		"version": s.data.Version, "revision": s.data.Revision, "enterprise": true,
		"kas": map[string]any{"enabled": false, "externalUrl": nil, "version": nil},
	})
}

func (s *Server) user(w http.ResponseWriter, _ *http.Request, who *Person) {
	out := userBasic(who)
	out["is_admin"], out["is_auditor"] = who.Admin, who.Auditor
	answer(w, http.StatusOK, out)
}

func (s *Server) ownToken(w http.ResponseWriter, _ *http.Request, who *Person) {
	now := s.clock.Now()
	answer(w, http.StatusOK, map[string]any{
		"id": 3000 + who.ID, "name": who.Token, "revoked": false, "created_at": stamp(now.Add(-30 * 24 * time.Hour)),
		"scopes": who.Scopes, "user_id": who.ID, "last_used_at": stamp(now), "active": true,
		"expires_at": now.Add(60 * 24 * time.Hour).Format(dateOnly),
	})
}

func (s *Server) listMine(w http.ResponseWriter, r *http.Request, who *Person) {
	s.list(w, r, func(x *runner) bool {
		return x.Type != "instance_type" && (who.Admin || slices.ContainsFunc(x.Projects, who.maintains))
	})
}

func (s *Server) listAll(w http.ResponseWriter, r *http.Request, who *Person) {
	if !who.seesAll() {
		fail(w, http.StatusForbidden, "403 Forbidden")
		return
	}
	s.list(w, r, func(*runner) bool { return true })
}

// listGroup: the group's own and the instance's runners, not its projects' ones.
func (s *Server) listGroup(w http.ResponseWriter, r *http.Request, who *Person) {
	g := s.groupOf(r)
	if g == nil {
		missing(w, "Group")
		return
	}
	if !who.seesAll() {
		fail(w, http.StatusForbidden, "403 Forbidden")
		return
	}
	s.list(w, r, func(x *runner) bool { return x.Type == "instance_type" || slices.Contains(x.Groups, g.ID) })
}

func (s *Server) listProject(w http.ResponseWriter, r *http.Request, who *Person) {
	p := s.projectOf(r)
	if p == nil {
		missing(w, "Project")
		return
	}
	if !who.seesAll() && !who.maintains(p.ID) {
		fail(w, http.StatusForbidden, "403 Forbidden")
		return
	}
	s.list(w, r, func(x *runner) bool {
		return x.Type == "instance_type" || slices.Contains(x.Projects, p.ID) || slices.Contains(x.Groups, p.Group)
	})
}

func (s *Server) list(w http.ResponseWriter, r *http.Request, in func(*runner) bool) {
	q := r.URL.Query()
	if v := q.Get("type"); v != "" && !slices.Contains([]string{"instance_type", "group_type", "project_type"}, v) {
		fail(w, http.StatusBadRequest, "type does not have a valid value")
		return
	}
	out := []any{}
	for _, x := range s.runners {
		if in(x) && s.matches(x, q.Get("type"), q.Get("status"), q.Get("paused"), q.Get("tag_list"), q.Get("version_prefix")) {
			out = append(out, s.basic(x))
		}
	}
	answer(w, http.StatusOK, page(w, r, out))
}

func (s *Server) matches(x *runner, kind, status, paused, tags, version string) bool {
	switch {
	case kind != "" && x.Type != kind:
		return false
	case paused != "" && x.paused != (paused == "true"):
		return false
	case status == "active" && x.paused, status == "paused" && !x.paused:
		return false
	case status == "online" && !s.online(x.contacted):
		return false
	case status == "offline" && (!x.everSeen || s.online(x.contacted)):
		return false
	case (status == "stale" || status == "never_contacted") && s.status(x) != status:
		return false
	}
	if version != "" && !slices.ContainsFunc(x.managers, func(m *manager) bool { return strings.HasPrefix(m.version, version) }) {
		return false
	}
	for _, t := range strings.Split(tags, ",") {
		if t != "" && !slices.Contains(x.Tags, t) {
			return false
		}
	}
	return true
}

// runnerOf finds the runner of the path for somebody who may see it, or answers.
func (s *Server) runnerOf(w http.ResponseWriter, r *http.Request, who *Person) *runner {
	x := s.runner(pathID(r, "id"))
	if x == nil {
		missing(w, "Runner")
		return nil
	}
	if !who.sees(x) {
		fail(w, http.StatusForbidden, "403 Forbidden - No access granted")
		return nil
	}
	return x
}

func (s *Server) getRunner(w http.ResponseWriter, r *http.Request, who *Person) {
	if x := s.runnerOf(w, r, who); x != nil {
		answer(w, http.StatusOK, s.details(x, who, r.URL.Query().Get("include_projects") != "false"))
	}
}

func (s *Server) listManagers(w http.ResponseWriter, r *http.Request, who *Person) {
	x := s.runnerOf(w, r, who)
	if x == nil {
		return
	}
	out := []any{}
	for _, m := range x.managers {
		out = append(out, s.managerShape(x, m))
	}
	answer(w, http.StatusOK, out)
}

func (s *Server) listProjectsOf(w http.ResponseWriter, r *http.Request, who *Person) {
	if x := s.runnerOf(w, r, who); x != nil {
		answer(w, http.StatusOK, page(w, r, s.runnerProjects(x, who)))
	}
}
