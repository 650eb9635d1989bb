package github

import (
	"net/http"
	"time"
)

// lockLife is how long a job counts as alive after its last renewal; a job whose
// worker vanished fails then.
const lockLife = 10 * time.Minute

func (s *Server) jobOf(r *http.Request) *job {
	id := atLeast1(r.PathValue("job"), 0)
	for _, x := range s.runs {
		for _, j := range x.jobs {
			if j.ID == id {
				return j
			}
		}
	}
	return nil
}

// acquire hands the job to the listener that it was assigned to, secrets included.
func (s *Server) acquire(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.listener(w, r)
	if x == nil {
		return
	}
	j := s.jobOf(r)
	if j == nil || x.job != j {
		answer(w, http.StatusNotFound, map[string]any{"source": "actions-run-service", "statusCode": http.StatusNotFound, "errorMessage": "no such job"})
		return
	}
	secrets, err := s.secretsOf(j)
	if err != nil {
		fail(w, http.StatusInternalServerError, "Server Error")
		return
	}
	j.renewed = s.clock.Now()
	answer(w, http.StatusOK, map[string]any{
		"messageType": "PipelineAgentJobRequest", "plan": map[string]any{"planId": j.run.target()}, "jobId": j.guid(), "jobDisplayName": j.Name,
		"github": map[string]any{
			"repository": j.run.Repo, "run_id": itoa(j.run.ID), "job": j.Name, "sha": j.run.SHA, "ref": "refs/heads/" + j.run.Branch,
			"actor": j.run.Actor, "event_name": j.run.Event, "server_url": "http://" + r.Host, "workflow": s.workflowOf(j.run).Name,
		},
		"token": j.token, "secrets": secrets, "seconds": int(j.Takes.Seconds()),
	})
}

// secretsOf are the values that a job gets. One of a fork gets none but its token.
func (s *Server) secretsOf(j *job) (map[string]string, error) {
	out := map[string]string{}
	repo := s.repo(j.run.Repo)
	if j.run.Fork != "" {
		return out, nil
	}
	lists := [][]Secret{s.inherited(repo), repo.Secrets}
	for _, e := range repo.Environments {
		if e.Name == j.Environment {
			lists = append(lists, e.Secrets)
		}
	}
	for _, list := range lists {
		for _, x := range list {
			v, err := s.value(x, "github: answer of acquirejob")
			if err != nil {
				return nil, err
			}
			out[x.Name] = v
		}
	}
	return out, nil
}

// holder finds the job of the path for the holder of its token, or answers. Whether its
// runner is still registered does not matter.
func (s *Server) holder(w http.ResponseWriter, r *http.Request) *job {
	j := s.jobOf(r)
	if j == nil || j.token == "" || bearer(r) != j.token {
		fail(w, http.StatusUnauthorized, "Bad credentials")
		return nil
	}
	if j.status == "completed" {
		answer(w, http.StatusNotFound, map[string]any{"source": "actions-run-service", "statusCode": http.StatusNotFound, "errorMessage": "the job is over"})
		return nil
	}
	return j
}

func (s *Server) renew(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.holder(w, r); j != nil {
		j.renewed = s.clock.Now()
		answer(w, http.StatusOK, map[string]any{"lockedUntil": stamp(j.renewed.Add(lockLife))})
	}
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.holder(w, r)
	if j == nil {
		return
	}
	var in struct {
		Conclusion string `json:"conclusion"`
	}
	c := &call{s: s, w: w, r: r}
	if !c.body(&in) {
		return
	}
	conclusion := map[string]string{"succeeded": "success", "failed": "failure", "canceled": "cancelled"}[in.Conclusion]
	if conclusion == "" {
		c.refuse("%q is not a conclusion", in.Conclusion)
		return
	}
	s.finish(j, conclusion)
	w.WriteHeader(http.StatusOK)
}

// sweep fails the jobs whose workers have not been heard of for too long.
func (s *Server) sweep() {
	now := s.clock.Now()
	for _, x := range s.runs {
		for _, j := range x.jobs {
			if j.status == "in_progress" && now.Sub(j.renewed) > lockLife {
				s.finish(j, "failure")
			}
		}
	}
}
