package gitlab

import (
	"net/http"
	"slices"
)

func (s *Server) verify(w http.ResponseWriter, r *http.Request) {
	s.agent(w, r, func(in fromAgent) {
		if x, _ := s.authenticate(w, r, in); x != nil {
			answer(w, http.StatusOK, map[string]any{"id": x.ID, "token": x.value, "token_expires_at": nil})
		}
	})
}

// register takes a registration token and makes an instance runner of whoever asks.
func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	s.agent(w, r, func(in fromAgent) {
		if in.Token != s.registration {
			fail(w, http.StatusForbidden, "403 Forbidden - invalid token supplied")
			return
		}
		x := &runner{Seeded: Seeded{
			Type: "instance_type", Description: in.Description, Locked: in.Locked,
			Untagged: in.RunUntagged == nil || *in.RunUntagged, Tags: fields(in.TagList),
		}, access: "not_protected", paused: in.Paused, registered: true}
		if !s.admit(w, x) {
			return
		}
		s.o.Ledger.Effect("runner.register", "registration-token", x.target(), "from "+host(r))
		answer(w, http.StatusCreated, map[string]any{"id": x.ID, "token": x.value, "token_expires_at": nil})
	})
}

func (s *Server) resetOwn(w http.ResponseWriter, r *http.Request) {
	s.agent(w, r, func(in fromAgent) {
		if x, _ := s.authenticate(w, r, in); x != nil {
			s.rotate(w, x, "runner-token")
		}
	})
}

func (s *Server) unregister(w http.ResponseWriter, r *http.Request) {
	s.agent(w, r, func(in fromAgent) {
		x := s.byToken(in.Token)
		if x == nil {
			fail(w, http.StatusForbidden, "403 Forbidden")
			return
		}
		s.drop(x, "runner-token")
		w.WriteHeader(http.StatusNoContent)
	})
}

// unregisterManager removes one row; it comes back with the next poll.
func (s *Server) unregisterManager(w http.ResponseWriter, r *http.Request) {
	s.agent(w, r, func(in fromAgent) {
		if in.Token == "" || in.SystemID == "" {
			answer(w, http.StatusBadRequest, map[string]string{"error": "token, system_id are missing"})
			return
		}
		x := s.byToken(in.Token)
		if x == nil {
			fail(w, http.StatusForbidden, "403 Forbidden")
			return
		}
		n := len(x.managers)
		x.managers = slices.DeleteFunc(x.managers, func(m *manager) bool { return m.systemID == in.SystemID })
		if len(x.managers) == n {
			missing(w, "Runner manager")
			return
		}
		s.o.Ledger.Effect("manager.delete", "runner-token", x.target(), in.SystemID)
		w.WriteHeader(http.StatusNoContent)
	})
}
