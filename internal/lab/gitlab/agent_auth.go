package gitlab

import (
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strings"
)

// fromAgent is what agents send with every runner call.
type fromAgent struct {
	Token       string `json:"token"`
	SystemID    string `json:"system_id"`
	LastUpdate  string `json:"last_update"`
	Description string `json:"description"`
	TagList     string `json:"tag_list"`
	RunUntagged *bool  `json:"run_untagged"`
	Locked      bool   `json:"locked"`
	Paused      bool   `json:"paused"`
	Info        struct {
		Name         string          `json:"name"`
		Version      string          `json:"version"`
		Revision     string          `json:"revision"`
		Platform     string          `json:"platform"`
		Architecture string          `json:"architecture"`
		Executor     string          `json:"executor"`
		Features     map[string]bool `json:"features"`
	} `json:"info"`
}

func readAgent(r *http.Request) (fromAgent, error) {
	var in fromAgent
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		// info.features and config hold more than is read here, and not only flags
		var loose struct {
			fromAgent
			Info struct {
				Name, Version, Revision, Platform, Architecture, Executor string
				Features                                                  map[string]any
			} `json:"info"`
		}
		if err := json.NewDecoder(r.Body).Decode(&loose); err != nil {
			return in, err
		}
		in = loose.fromAgent
		i := &in.Info
		i.Name, i.Version, i.Revision = loose.Info.Name, loose.Info.Version, loose.Info.Revision
		i.Platform, i.Architecture, i.Executor = loose.Info.Platform, loose.Info.Architecture, loose.Info.Executor
		i.Features = map[string]bool{}
		for k, v := range loose.Info.Features {
			if b, ok := v.(bool); ok {
				i.Features[k] = b
			}
		}
		return in, nil
	}
	p, err := params(r)
	in.Token, in.SystemID, in.Description, in.TagList = p["token"], p["system_id"], p["description"], p["tag_list"]
	return in, err
}

// agent decodes the body and holds the lock while h runs.
func (s *Server) agent(w http.ResponseWriter, r *http.Request, h func(in fromAgent)) {
	in, err := readAgent(r)
	if err != nil {
		answer(w, http.StatusBadRequest, map[string]string{"error": "body is invalid: " + err.Error()})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h(in)
}

// authenticate is authenticate_runner!: 403 for a token that opens nothing, else a
// heartbeat of the runner and of the manager, which is made if it is new.
func (s *Server) authenticate(w http.ResponseWriter, r *http.Request, in fromAgent) (*runner, *manager) {
	x := s.byToken(in.Token)
	if x == nil {
		fail(w, http.StatusForbidden, "403 Forbidden")
		return nil, nil
	}
	id := in.SystemID
	if id == "" {
		id = "<legacy>"
	}
	i := slices.IndexFunc(x.managers, func(m *manager) bool { return m.systemID == id })
	if i < 0 {
		if len(x.managers) >= maxManagers {
			fail(w, http.StatusTooManyRequests, "Retry later")
			return nil, nil
		}
		s.nextManager++
		x.managers = append(x.managers, &manager{id: s.nextManager, systemID: id, created: s.clock.Now()})
		i = len(x.managers) - 1
		s.o.Ledger.Effect("manager.appear", "runner-token", x.target(), id+" from "+host(r))
	}
	m := x.managers[i]
	m.address = host(r)
	if v := in.Info; v.Version != "" {
		m.version, m.revision, m.platform, m.arch, m.executor = v.Version, v.Revision, v.Platform, v.Architecture, v.Executor
	}
	s.heartbeat(x, m)
	return x, m
}

func (s *Server) heartbeat(x *runner, m *manager) {
	now := s.clock.Now()
	if x != nil {
		x.contacted, x.everSeen = now, true
	}
	if m != nil {
		m.contact = now
	}
}

func host(r *http.Request) string {
	h, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return h
}
