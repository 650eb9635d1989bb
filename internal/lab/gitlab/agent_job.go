package gitlab

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// traceInterval is how often an agent is asked to send its log, in seconds.
const traceInterval = "3"

// running finds the job of the path for the holder of its token, or answers: 403 for a
// wrong token, 403 with Job-Status for a job that has ended (lib/api/ci/helpers).
func (s *Server) running(w http.ResponseWriter, r *http.Request, token string) *job {
	j := s.job(pathID(r, "id"))
	if j == nil || token == "" || j.token != token {
		fail(w, http.StatusForbidden, "403 Forbidden")
		return nil
	}
	w.Header().Set("Job-Status", j.Status)
	if finished(j.Status) {
		fail(w, http.StatusForbidden, "403 Forbidden - Job is not running")
		return nil
	}
	x := j.runner
	if x != nil && s.runner(x.ID) != x {
		x = nil // the registration is gone; the job goes on
	}
	if x != nil {
		s.heartbeat(x, j.manager)
	}
	w.Header().Set("X-GitLab-Trace-Update-Interval", traceInterval)
	return j
}

func (s *Server) updateJob(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Token   string `json:"token"`
		State   string `json:"state"`
		Failure string `json:"failure_reason"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil && err != io.EOF {
		answer(w, http.StatusBadRequest, map[string]string{"error": "body is invalid"})
		return
	}
	if h := r.Header.Get("JOB-TOKEN"); h != "" {
		in.Token = h
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.running(w, r, in.Token)
	if j == nil {
		return
	}
	switch in.State {
	case "success", "failed":
		state := in.State
		if j.Status == "canceling" {
			state = "canceled"
		} else if state == "failed" {
			j.failure = in.Failure
		}
		// the answer still says "running": the change is made after it (recorded)
		j.Status, j.finished = state, s.clock.Now()
		s.o.Ledger.Effect("job.end", "job-token", j.target(), state)
	}
	answer(w, http.StatusOK, nil)
}

// appendTrace adds to a job's log by Content-Range, as GitLab does: 202 with how
// much there is, 416 where the parts do not meet.
func (s *Server) appendTrace(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		fail(w, http.StatusRequestEntityTooLarge, "413 Payload Too Large")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.running(w, r, r.Header.Get("JOB-TOKEN"))
	if j == nil {
		return
	}
	var from, to int
	if _, err := fmt.Sscanf(strings.TrimSpace(r.Header.Get("Content-Range")), "%d-%d", &from, &to); err != nil {
		fail(w, http.StatusBadRequest, "400 Bad request - Missing header Content-Range")
		return
	}
	if from != j.logged || to < from {
		w.Header().Set("Range", fmt.Sprintf("0-%d", j.logged))
		fail(w, http.StatusRequestedRangeNotSatisfiable, "416 Range Not Satisfiable")
		return
	}
	j.logged += len(body)
	j.log = append(j.log, body[:min(len(body), maxTrace-len(j.log))]...)
	w.Header().Set("Range", fmt.Sprintf("0-%d", j.logged))
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, fmt.Sprintf("0-%d", j.logged))
}
