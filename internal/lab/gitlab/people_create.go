package gitlab

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// create makes a runner in the way of the web pages: the token is shown once.
func (s *Server) create(w http.ResponseWriter, r *http.Request, who *Person) {
	in, err := params(r)
	if err != nil || !slices.Contains([]string{"instance_type", "group_type", "project_type"}, in["runner_type"]) {
		answer(w, http.StatusBadRequest, map[string]string{"error": "runner_type does not have a valid value"})
		return
	}
	x := &runner{Seeded: Seeded{Type: in["runner_type"], Untagged: in["run_untagged"] != "false", Locked: in["locked"] == "true"}, created: s.clock.Now(), access: "not_protected", createdBy: who}
	switch x.Type {
	case "project_type":
		id, _ := strconv.Atoi(in["project_id"])
		if s.project(id) == nil || !who.maintains(id) {
			fail(w, http.StatusForbidden, "403 Forbidden - Insufficient permissions")
			return
		}
		x.Projects = []int{id}
	case "group_type":
		id, _ := strconv.Atoi(in["group_id"])
		if s.group(id) == nil || !who.Admin {
			fail(w, http.StatusForbidden, "403 Forbidden - Insufficient permissions")
			return
		}
		x.Groups = []int{id}
	default:
		if !who.Admin {
			fail(w, http.StatusForbidden, "403 Forbidden - Insufficient permissions")
			return
		}
	}
	x.Description, x.paused = in["description"], in["paused"] == "true"
	x.Tags = strings.FieldsFunc(in["tag_list"], func(c rune) bool { return c == ',' })
	if !s.admit(w, x) {
		return
	}
	s.o.Ledger.Effect("runner.create", who.kind(), x.target(), "")
	answer(w, http.StatusCreated, map[string]any{"id": x.ID, "token": x.value, "token_expires_at": nil})
}

// admit gives a new runner its id and token.
func (s *Server) admit(w http.ResponseWriter, x *runner) bool {
	if len(s.runners) >= maxRunners {
		fail(w, http.StatusTooManyRequests, "Retry later")
		return false
	}
	id := s.nextRunner
	v, err := s.o.Vault.Get(shapeOf(x.Type), fmt.Sprintf("runner/%d", id), "gitlab: runner registration")
	if err != nil {
		fail(w, http.StatusInternalServerError, "500 Internal Server Error")
		return false
	}
	s.nextRunner++
	x.ID, x.value, x.created = id, v, s.clock.Now()
	s.runners = append(s.runners, x)
	return true
}
