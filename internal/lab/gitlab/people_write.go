package gitlab

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"cordon/internal/lab/fault"
)

func (s *Server) changeable(w http.ResponseWriter, r *http.Request, who *Person) *runner {
	x := s.runnerOf(w, r, who)
	if x != nil && !who.mayChange(x) {
		fail(w, http.StatusForbidden, "403 Forbidden - No access granted")
		return nil
	}
	return x
}

// update changes a runner. Every change ticks its queue, which wakes its pollers
// (update_runner_service.rb).
func (s *Server) update(w http.ResponseWriter, r *http.Request, who *Person) {
	x := s.changeable(w, r, who)
	if x == nil {
		return
	}
	in, err := params(r)
	if err != nil {
		fail(w, http.StatusBadRequest, "400 Bad request - "+err.Error())
		return
	}
	known := []string{"description", "paused", "active", "tag_list", "run_untagged", "locked", "access_level", "maximum_timeout", "maintenance_note"}
	any := slices.ContainsFunc(known, func(k string) bool { _, ok := in[k]; return ok })
	_, hasPaused := in["paused"]
	_, hasActive := in["active"]
	switch {
	case !any:
		answer(w, http.StatusBadRequest, map[string]string{"error": strings.Join(known, ", ") + " are missing, at least one parameter must be provided"})
		return
	case hasPaused && hasActive:
		answer(w, http.StatusBadRequest, map[string]string{"error": "active, paused are mutually exclusive"})
		return
	}
	if hasActive {
		in["paused"] = strconv.FormatBool(in["active"] != "true")
	}
	if v, ok := in["paused"]; ok {
		p, err := strconv.ParseBool(v)
		if err != nil {
			answer(w, http.StatusBadRequest, map[string]string{"error": "paused is invalid"})
			return
		}
		s.pause(x, p, who)
	}
	s.edit(x, in, who)
	x.cursor++
	answer(w, http.StatusOK, s.details(x, who, true))
}

func (s *Server) pause(x *runner, paused bool, who *Person) {
	if x.paused == paused {
		return
	}
	x.paused = paused
	effect := "runner.resume"
	if paused {
		effect = "runner.pause"
	}
	s.o.Ledger.Effect(effect, who.kind(), x.target(), "")
}

// edit sets what does not decide about containment, as one effect.
func (s *Server) edit(x *runner, in map[string]string, who *Person) {
	var set []string
	for k, v := range in {
		switch k {
		case "description":
			x.Description = v
		case "tag_list":
			x.Tags = strings.FieldsFunc(v, func(c rune) bool { return c == ',' })
		case "run_untagged":
			x.Untagged = v == "true"
		case "locked":
			x.Locked = v == "true"
		case "access_level":
			x.access = v
		case "maximum_timeout":
			x.timeout, _ = strconv.Atoi(v) // not a number: no limit
		case "maintenance_note":
			x.note = v[:min(len(v), 1024)]
		default:
			continue
		}
		set = append(set, k)
	}
	if len(set) > 0 {
		slices.Sort(set)
		s.o.Ledger.Effect("runner.edit", who.kind(), x.target(), strings.Join(set, " "))
	}
}

func (s *Server) remove(w http.ResponseWriter, r *http.Request, who *Person) {
	x := s.changeable(w, r, who)
	if x == nil {
		return
	}
	if s.o.Faults.Is(fault.Always422) {
		fail(w, http.StatusUnprocessableEntity, "422 Unprocessable Entity - runner is referenced by a locked resource")
		return
	}
	if !who.Admin && len(x.Projects) > 1 {
		fail(w, http.StatusForbidden, "403 Forbidden - Runner associated with more than one project")
		return
	}
	if v := r.Header.Get("If-Unmodified-Since"); v != "" {
		if t, err := http.ParseTime(v); err == nil && x.created.After(t) {
			fail(w, http.StatusPreconditionFailed, "412 Precondition Failed")
			return
		}
	}
	s.drop(x, who.kind())
	w.WriteHeader(http.StatusNoContent)
}

// drop takes a registration away. Its running jobs keep their own tokens and go on.
func (s *Server) drop(x *runner, actor string) {
	s.runners = slices.DeleteFunc(s.runners, func(y *runner) bool { return y == x })
	s.o.Ledger.Effect("runner.delete", actor, x.target(), "")
}

func (s *Server) reset(w http.ResponseWriter, r *http.Request, who *Person) {
	if x := s.changeable(w, r, who); x != nil {
		s.rotate(w, x, who.kind())
	}
}

// rotate gives the runner a new token. The old one is refused from now on; jobs that
// run keep theirs.
func (s *Server) rotate(w http.ResponseWriter, x *runner, actor string) {
	x.tokenSerial++
	name := fmt.Sprintf("%s-rotated-%d", x.target(), x.tokenSerial)
	v, err := s.o.Vault.Get(shapeOf(x.Type), name, "gitlab: answer of reset_authentication_token")
	if err != nil {
		fail(w, http.StatusInternalServerError, "500 Internal Server Error")
		return
	}
	x.value = v
	x.cursor++
	s.o.Ledger.Effect("runner.reset", actor, x.target(), "")
	if s.o.Faults.Once(fault.LosesReset) {
		badGateway(w)
		return
	}
	answer(w, http.StatusCreated, map[string]any{"token": v, "token_expires_at": nil})
}
