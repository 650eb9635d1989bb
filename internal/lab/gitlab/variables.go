package gitlab

import "net/http"

// GitLab gives variables in clear to those who may list them, except hidden ones;
// cordon has to drop the values itself, so they are here.
func variables(list []Variable) []any {
	out := []any{}
	for _, v := range list {
		kind, scope := "env_var", v.Scope
		if v.File {
			kind = "file"
		}
		if scope == "" {
			scope = "*"
		}
		var value any = v.value
		if v.Hidden {
			value = nil
		}
		out = append(out, map[string]any{
			"variable_type": kind, "key": v.Key, "value": value, "hidden": v.Hidden, "protected": v.Protected,
			"masked": v.Masked, "raw": true, "environment_scope": scope, "description": nil,
		})
	}
	return out
}

func (s *Server) projectVariables(w http.ResponseWriter, r *http.Request, who *Person) {
	p := s.projectOf(r)
	switch {
	case p == nil:
		missing(w, "Project")
	case !who.seesAll() && !who.maintains(p.ID):
		fail(w, http.StatusForbidden, "403 Forbidden")
	default:
		answer(w, http.StatusOK, page(w, r, variables(p.Variables)))
	}
}

func (s *Server) groupVariables(w http.ResponseWriter, r *http.Request, who *Person) {
	g := s.groupOf(r)
	switch {
	case g == nil:
		missing(w, "Group")
	case !who.seesAll():
		fail(w, http.StatusForbidden, "403 Forbidden")
	default:
		answer(w, http.StatusOK, page(w, r, variables(g.Variables)))
	}
}

func (s *Server) instanceVariables(w http.ResponseWriter, r *http.Request, who *Person) {
	if !who.Admin {
		fail(w, http.StatusForbidden, "403 Forbidden")
		return
	}
	answer(w, http.StatusOK, page(w, r, variables(s.data.Variables)))
}

func (s *Server) deployKeys(w http.ResponseWriter, r *http.Request, who *Person) {
	p := s.projectOf(r)
	if p == nil {
		missing(w, "Project")
		return
	}
	if !who.seesAll() && !who.maintains(p.ID) {
		fail(w, http.StatusForbidden, "403 Forbidden")
		return
	}
	out := []any{}
	for _, k := range p.DeployKeys {
		out = append(out, map[string]any{
			"id": k.ID, "title": k.Title, "key": k.public, "created_at": "2025-03-01T10:00:00.000Z", "expires_at": nil, "can_push": k.CanPush,
		})
	}
	answer(w, http.StatusOK, page(w, r, out))
}
