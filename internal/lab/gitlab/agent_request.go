package gitlab

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

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
