package lab

import (
	"encoding/json"
	"net/http"
	"time"

	"cordon/internal/lab/gitlab"
)

// control is the lab's own interface, for tests and for who plays a scenario:
//
//	GET  /_lab/ledger            the last effects, oldest first
//	GET  /_lab/counters          requests by method and route, SSH connections and sessions by host
//	GET  /_lab/state             lab time, fault, hosts and their agents
//	POST /_lab/fault  {"fault"}  one fault on, the others off; "none" for none
//	POST /_lab/job    {"project","seconds","tags","name"}  queue a job; of a GitHub {"repo","labels",…}
//	POST /_lab/kill   {"host","pid"}  somebody ends an agent's process by hand
//
// and where the scenario has a GitHub:
//
//	POST /_lab/trouble  github.Trouble  limits and errors for requests to come; {} for none
//	POST /_lab/spend    {"who","remaining"}  what a credential has left of its hour
//	POST /_lab/crowd    {"scope","count"}  so many runners more, which never connect
func (l *lab) control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_lab/ledger", func(w http.ResponseWriter, _ *http.Request) { tell(w, l.ledger.Entries()) })
	mux.HandleFunc("GET /_lab/counters", func(w http.ResponseWriter, _ *http.Request) { tell(w, l.ledger.Counters()) })
	mux.HandleFunc("GET /_lab/state", func(w http.ResponseWriter, _ *http.Request) { tell(w, l.state()) })
	mux.HandleFunc("POST /_lab/fault", l.setFault)
	mux.HandleFunc("POST /_lab/job", l.addJob)
	mux.HandleFunc("POST /_lab/kill", l.kill)
	if l.github != nil {
		mux.HandleFunc("POST /_lab/trouble", l.trouble)
		mux.HandleFunc("POST /_lab/spend", l.spend)
		mux.HandleFunc("POST /_lab/crowd", l.crowd)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(gitlab.LabHeader, l.id)
		mux.ServeHTTP(w, r)
	})
}

// State is the answer of GET /_lab/state.
type State struct {
	Time  time.Time            `json:"time"`
	Fault string               `json:"fault"`
	Hosts map[string]HostState `json:"hosts"`
}

func (l *lab) state() State {
	s := State{Time: l.clock.Now(), Fault: l.faults.Name(), Hosts: map[string]HostState{}}
	for _, h := range l.hosts {
		s.Hosts[h.spec.Name] = h.state()
	}
	return s
}

func tell(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the other side is gone: nobody to tell
}

const maxControl = 64 << 10

// told reads the body of a request into v, or answers.
func told(w http.ResponseWriter, r *http.Request, v any) bool {
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxControl)).Decode(v); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return false
	}
	return true
}

func (l *lab) setFault(w http.ResponseWriter, r *http.Request) {
	var in struct{ Fault string }
	if !told(w, r, &in) {
		return
	}
	if err := l.faults.Set(in.Fault); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	tell(w, map[string]string{"fault": l.faults.Name()})
}

func (l *lab) addJob(w http.ResponseWriter, r *http.Request) {
	in := struct {
		Project, Seconds int
		Tags, Labels     []string
		Repo, Name       string
		Script           []string
	}{Seconds: 30}
	if !told(w, r, &in) {
		return
	}
	var id int
	var err error
	if l.github != nil {
		id, err = l.github.AddJob(in.Repo, in.Name, in.Labels, time.Duration(in.Seconds)*time.Second)
	} else {
		d := gitlab.SeedJob{Project: in.Project, Tags: in.Tags, Script: in.Script, Takes: time.Duration(in.Seconds) * time.Second}
		if in.Name != "" {
			d.Name, d.Stage, d.Ref, d.User = in.Name, "test", "main", "dev"
		}
		id, err = l.gitlab.AddJob(d)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	tell(w, map[string]int{"id": id})
}

func (l *lab) kill(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Host string
		PID  int
	}
	if !told(w, r, &in) {
		return
	}
	for _, h := range l.hosts {
		if h.spec.Name != in.Host {
			continue
		}
		if err := h.kill(in.PID); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		tell(w, in)
		return
	}
	http.Error(w, "no host "+in.Host, http.StatusBadRequest)
}
