package gitlab

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
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

// request gives the next job, or 204 and the cursor to ask with. A paused runner is
// a living one that gets nothing.
func (s *Server) request(w http.ResponseWriter, r *http.Request) {
	s.agent(w, r, func(in fromAgent) {
		x, m := s.authenticate(w, r, in)
		if x == nil {
			return
		}
		j := s.pick(x)
		if j == nil {
			w.Header().Set("X-GitLab-Last-Update", fmt.Sprintf("%032x", x.ID<<16+x.cursor))
			w.WriteHeader(http.StatusNoContent)
			return
		}
		v, err := s.o.Vault.Get("glcbt", j.target()+"-token", "gitlab: answer of jobs/request")
		if err != nil {
			fail(w, http.StatusInternalServerError, "500 Internal Server Error")
			return
		}
		j.token, j.runner, j.manager = v, x, m
		j.Status, j.started = "running", s.clock.Now()
		j.cancelable = in.Info.Features["cancel_gracefully"]
		w.Header().Set("X-GitLab-Last-Update", fmt.Sprintf("%032x", x.ID<<16+x.cursor))
		s.o.Ledger.Effect("job.start", "runner-token", j.target(), x.target()+" "+m.systemID)
		answer(w, http.StatusCreated, s.payload(j, r))
	})
}

// pick finds the oldest waiting job that x may run.
func (s *Server) pick(x *runner) *job {
	if x.paused {
		return nil
	}
	for _, j := range s.jobs {
		if j.Status != "pending" {
			continue
		}
		p := s.project(j.Project)
		if x.Type == "project_type" && !slices.Contains(x.Projects, j.Project) || x.Type == "group_type" && !slices.Contains(x.Groups, p.Group) {
			continue
		}
		if len(j.Tags) == 0 && !x.Untagged || slices.ContainsFunc(j.Tags, func(t string) bool { return !slices.Contains(x.Tags, t) }) {
			continue
		}
		return j
	}
	return nil
}

// AddJob queues a job; its id and status are set here. Old finished jobs make room.
func (s *Server) AddJob(d SeedJob) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.project(d.Project) == nil {
		return 0, fmt.Errorf("queue a job: no project %d", d.Project)
	}
	if len(s.jobs) >= maxJobs {
		i := slices.IndexFunc(s.jobs, func(j *job) bool { return finished(j.Status) })
		if i < 0 {
			return 0, fmt.Errorf("queue a job: %d are waiting", len(s.jobs))
		}
		s.jobs = slices.Delete(s.jobs, i, i+1)
	}
	d.ID, d.Status = s.data.NewJobs, "pending"
	s.data.NewJobs++
	if d.Name == "" {
		d.Name, d.Stage, d.Ref, d.User = "job-"+strconv.Itoa(d.ID), "test", "main", "dev"
	}
	s.jobs = append(s.jobs, &job{SeedJob: d, created: s.clock.Now()})
	for _, x := range s.runners {
		x.cursor++
	}
	return d.ID, nil
}
