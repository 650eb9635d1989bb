package github

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// longPoll is how long the broker keeps a listener that it has nothing for.
const longPoll = 50 * time.Second

// openSession gives the runner's place to one listener. A second one is told that
// there is a first, for as long as that is heard of.
func (s *Server) openSession(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.listener(w, r)
	if x == nil {
		return
	}
	var in struct {
		OwnerName string `json:"ownerName"`
		Agent     struct {
			Version string `json:"version"`
		} `json:"agent"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		brokerError(w, http.StatusBadRequest, "BadRequest", "no session in the request")
		return
	}
	if s.online(x) && x.session.owner != in.OwnerName {
		brokerError(w, http.StatusConflict, "RunnerSessionConflict", "A session for this runner already exists.")
		return
	}
	s.serial++
	id := sum(fmt.Sprintf("%s session %d", s.o.ID, s.serial))
	x.session = &session{id: id[:8] + "-" + id[8:12] + "-4" + id[13:16] + "-8" + id[17:20] + "-" + id[20:32], owner: in.OwnerName, heard: s.clock.Now()}
	if in.Agent.Version != "" {
		x.Version = in.Agent.Version
	}
	s.audit("", verbOf(x.scope, "self_hosted_runner_online"), x.scope, x.facts())
	answer(w, http.StatusOK, map[string]any{"sessionId": x.session.id, "ownerName": in.OwnerName, "agent": map[string]any{"id": x.ID, "name": x.Name, "version": x.Version}})
}

// closeSession is how a listener says good-bye: its runner is offline at once.
func (s *Server) closeSession(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.listener(w, r)
	if x == nil {
		return
	}
	if x.session != nil {
		x.session = nil
		s.audit("", verbOf(x.scope, "self_hosted_runner_offline"), x.scope, x.facts())
		s.wake()
	}
	w.WriteHeader(http.StatusNoContent)
}

// message gives the next message, or 202 and nothing after a while. Whoever waits here
// learns at once when the runner is deleted.
func (s *Server) message(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.listener(w, r)
	if x == nil {
		return
	}
	q := r.URL.Query()
	until := s.clock.Now().Add(longPoll)
	for {
		ses := x.session
		switch {
		case !s.registered(x):
			notFound(w)
			return
		case ses == nil || ses.id != q.Get("sessionId"):
			brokerError(w, http.StatusUnauthorized, "RunnerSessionInvalid", "The session is not valid any more.")
			return
		}
		ses.heard = s.clock.Now()
		if m, ok := s.next(x, r); ok {
			answer(w, http.StatusOK, m)
			return
		}
		left := until.Sub(s.clock.Now())
		if left <= 0 {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		if !s.sleep(r.Context(), ses, left) {
			return
		}
	}
}

// sleep gives the lock away until something changes, the time is over, or the listener
// hangs up; false is the last of these.
func (s *Server) sleep(ctx context.Context, ses *session, d time.Duration) bool {
	wait, cancel := context.WithCancel(ctx)
	defer cancel()
	s.waiting[ses] = cancel
	ses.waits = true
	s.mu.Unlock()
	_ = s.clock.Wait(wait, d) // which of its ends it was shows below
	s.mu.Lock()
	delete(s.waiting, ses)
	ses.waits, ses.heard = false, s.clock.Now()
	return ctx.Err() == nil
}

// wake makes everybody who waits look again.
func (s *Server) wake() {
	for _, cancel := range s.waiting {
		cancel()
	}
}

// next is what there is to say to a listener: that its job is cancelled, or a new one.
func (s *Server) next(x *runner, r *http.Request) (map[string]any, bool) {
	message := func(kind string, body map[string]any) (map[string]any, bool) {
		s.serial++
		b, err := json.Marshal(body)
		return map[string]any{"messageId": s.serial, "messageType": kind, "body": string(b)}, err == nil
	}
	if j := x.job; j != nil {
		if j.run.cancelled && x.session.told != j {
			x.session.told = j
			return message("JobCancellation", map[string]any{"jobId": j.guid(), "timeout": "00:05:00"})
		}
		return nil, false
	}
	if r.URL.Query().Get("status") == "Busy" {
		return nil, false
	}
	j := s.pick(x)
	if j == nil || s.assign(j, x) != nil {
		return nil, false
	}
	return message("RunnerJobRequest", map[string]any{
		"id": itoa(j.ID), "runner_request_id": j.guid(), "run_service_url": "http://" + r.Host + "/_services/run/" + itoa(j.ID) + "/", "billing_owner_id": ownerOf(j.run.Repo),
	})
}

// guid is the job's id inside the run service.
func (j *job) guid() string {
	h := sum(j.target())
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-8" + h[17:20] + "-" + h[20:32]
}
