package gitlab

import "time"

const (
	onlineFor  = 2 * time.Hour      // ONLINE_CONTACT_TIMEOUT
	staleAfter = 7 * 24 * time.Hour // STALE_TIMEOUT
	timeFormat = time.RFC3339Nano   // what Grape writes is RFC 3339 with milliseconds
	milli      = time.Millisecond   // its precision
	dateOnly   = "2006-01-02"       // expires_at of access tokens
)

func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Truncate(milli).Format(timeFormat)
}

func (s *Server) online(contact time.Time) bool {
	return !contact.IsZero() && s.clock.Now().Sub(contact) < onlineFor
}

// status is deprecated_rest_status: stale, never contacted, else paused, online or offline.
func (s *Server) status(r *runner) string {
	now := s.clock.Now()
	switch {
	case !r.everSeen && now.Sub(r.created) > staleAfter, r.everSeen && now.Sub(r.contacted) > staleAfter:
		return "stale"
	case !r.everSeen:
		return "never_contacted"
	case r.paused:
		return "paused"
	case s.online(r.contacted):
		return "online"
	}
	return "offline"
}

func (s *Server) activity(r *runner, m *manager) string {
	for _, j := range s.jobs {
		if j.runner == r && (m == nil || j.manager == m) && (j.Status == "running" || j.Status == "canceling") {
			return "active"
		}
	}
	return "idle"
}

// basic is the list form of a runner.
func (s *Server) basic(r *runner) map[string]any {
	var online any
	if r.everSeen {
		online = s.online(r.contacted)
	}
	out := map[string]any{
		"id": r.ID, "description": r.Description, "ip_address": "", "active": !r.paused, "paused": r.paused,
		"is_shared": r.Type == "instance_type", "runner_type": r.Type, "name": "gitlab-runner",
		"online": online, "status": s.status(r), "created_at": stamp(r.created), "created_by": nil,
		"job_execution_status": s.activity(r, nil),
	}
	if r.createdBy != nil {
		out["created_by"] = userBasic(r.createdBy)
	}
	return out
}

// details is the single form; projects are those the caller may see.
func (s *Server) details(r *runner, who *Person, withProjects bool) map[string]any {
	out := s.basic(r)
	var m *manager
	for _, x := range r.managers {
		if m == nil || x.contact.After(m.contact) {
			m = x
		}
	}
	for _, k := range []string{"version", "revision", "platform", "architecture"} {
		out[k] = nil
	}
	if m != nil {
		out["version"], out["revision"], out["platform"], out["architecture"] = m.version, m.revision, m.platform, m.arch
	}
	out["tag_list"] = orEmpty(r.Tags)
	out["run_untagged"], out["locked"], out["access_level"] = r.Untagged, r.Locked, r.access
	out["maximum_timeout"] = nil
	if r.timeout > 0 {
		out["maximum_timeout"] = r.timeout
	}
	out["contacted_at"] = stamp(r.contacted)
	out["maintenance_note"] = nil
	if who.mayChange(r) && r.note != "" {
		out["maintenance_note"] = r.note
	}
	groups := []any{}
	for _, id := range r.Groups {
		if g := s.group(id); g != nil {
			groups = append(groups, map[string]any{"id": g.ID, "name": g.Name, "web_url": "http://gitlab.invalid/groups/" + g.Path})
		}
	}
	out["groups"] = groups
	if withProjects {
		out["projects"] = s.runnerProjects(r, who)
	}
	return out
}

func (s *Server) runnerProjects(r *runner, who *Person) []any {
	list := []any{}
	for _, id := range r.Projects {
		if p := s.project(id); p != nil && (who.seesAll() || who.maintains(id)) {
			list = append(list, projectBasic(p))
		}
	}
	return list
}

func (s *Server) managerShape(r *runner, m *manager) map[string]any {
	status := "offline"
	if s.online(m.contact) {
		status = "online"
	}
	return map[string]any{
		"id": m.id, "system_id": m.systemID, "version": m.version, "revision": m.revision, "platform": m.platform,
		"architecture": m.arch, "created_at": stamp(m.created), "contacted_at": stamp(m.contact),
		"ip_address": m.address, "status": status, "job_execution_status": s.activity(r, m),
	}
}

func projectBasic(p *Project) map[string]any {
	return map[string]any{
		"id": p.ID, "description": nil, "name": p.Name, "name_with_namespace": p.Name, "path": lastPart(p.Path),
		"path_with_namespace": p.Path, "created_at": "2025-02-01T09:00:00.000Z", "web_url": "http://gitlab.invalid/" + p.Path,
	}
}

func userBasic(p *Person) map[string]any {
	return map[string]any{
		"id": p.ID, "username": p.Username, "name": p.Name, "state": "active", "locked": false, "public_email": "",
		"avatar_url": nil, "web_url": "http://gitlab.invalid/" + p.Username,
	}
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func lastPart(p string) string {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i] == '/' {
			return p[i+1:]
		}
	}
	return p
}
