package ghrunner

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Job is one that a listener was given.
type Job struct {
	ID         string // the run service's
	Name       string
	Repository string
	RunID      string
	Ref, SHA   string
	Actor      string
	Event      string
	Workflow   string
	ServerURL  string
	Token      string // GITHUB_TOKEN
	Secrets    map[string]string
	Began      time.Time // lab time
}

// working is a job that this listener pretends to run.
type working struct {
	Job
	service string
	cancel  context.CancelFunc
	again   context.CancelFunc // makes the listener ask again, with another status
	done    chan struct{}
}

// renewEvery is how often a worker says that it is alive.
const renewEvery = time.Minute

// take gets the job of a message and starts it.
func (l *Listener) take(ctx context.Context, body string) {
	var m struct {
		ID      string `json:"id"`
		Service string `json:"run_service_url"`
	}
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		return
	}
	r, err := l.call(ctx, http.MethodPost, m.Service+"acquirejob", l.access, map[string]any{"jobMessageId": m.ID, "runnerOS": "Linux"})
	var in struct {
		JobID   string `json:"jobId"`
		Name    string `json:"jobDisplayName"`
		Token   string `json:"token"`
		Seconds int    `json:"seconds"`
		GitHub  struct {
			Repository string `json:"repository"`
			RunID      string `json:"run_id"`
			SHA        string `json:"sha"`
			Ref        string `json:"ref"`
			Actor      string `json:"actor"`
			Event      string `json:"event_name"`
			Server     string `json:"server_url"`
			Workflow   string `json:"workflow"`
		} `json:"github"`
		Secrets map[string]string `json:"secrets"`
	}
	if err != nil || r.status != http.StatusOK || json.Unmarshal(r.body, &in) != nil {
		l.log("ERR ", "Runner", "Caught exception from acquiring job message")
		return
	}
	g := in.GitHub
	w := &working{service: m.Service, done: make(chan struct{}), Job: Job{
		ID: in.JobID, Name: in.Name, Repository: g.Repository, RunID: g.RunID, Ref: g.Ref, SHA: g.SHA, Actor: g.Actor, Event: g.Event,
		Workflow: g.Workflow, ServerURL: g.Server, Token: in.Token, Secrets: in.Secrets, Began: l.c.Clock.Now(),
	}}
	l.log("INFO", "JobDispatcher", "Job request "+in.JobID+" received.")
	l.say(l.utc() + ": Running job: " + in.Name)
	l.host.JobStarted(w.Job)
	run, cancel := context.WithCancel(context.WithoutCancel(ctx)) // the listener's end has its own way: dropJob
	w.cancel = cancel
	l.mu.Lock()
	l.job = w
	l.mu.Unlock()
	go l.perform(run, w, time.Duration(max(in.Seconds, 1))*time.Second)
}

// perform is the worker: it renews its lock and ends when its time is over or it is
// told to. A deleted registration does not concern it: it has a token of its own.
func (l *Listener) perform(ctx context.Context, w *working, takes time.Duration) {
	defer close(w.done)
	result := "succeeded"
	for left := takes; left > 0; left -= renewEvery {
		if l.c.Clock.Wait(ctx, min(left, renewEvery)) != nil {
			result = "canceled"
			break
		}
		r, err := l.call(ctx, http.MethodPost, w.service+"renewjob", w.Token, map[string]any{"jobId": w.ID})
		if err == nil && r.status != http.StatusOK {
			result = "canceled" // the server does not want it any more
			break
		}
	}
	w.cancel()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if _, err := l.call(end, http.MethodPost, w.service+"completejob", w.Token, map[string]any{"jobId": w.ID, "conclusion": result}); err != nil {
		l.log("ERR ", "JobDispatcher", "The end of the job could not be reported.")
	}
	word := map[string]string{"succeeded": "Succeeded", "canceled": "Canceled"}[result]
	l.host.JobLog(w.Job, "["+l.utc()+" INFO JobRunner] Job result after all job steps finish: "+word)
	l.host.JobLog(w.Job, "["+l.utc()+" INFO Worker] Job completed.")
	l.say(l.utc() + ": Job " + w.Name + " completed with result: " + word)
	l.host.JobEnded(w.Job)
	l.mu.Lock()
	l.job = nil
	again := w.again
	l.mu.Unlock()
	if again != nil {
		again()
	}
}

// dropJob ends the job of a listener that ends.
func (l *Listener) dropJob() {
	l.mu.Lock()
	w := l.job
	l.mu.Unlock()
	if w != nil {
		w.cancel()
		<-w.done
	}
}
