package gitlab

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"cordon/internal/clock"
	"cordon/internal/lab/fault"
	"cordon/internal/lab/ledger"
	"cordon/internal/lab/vault"
)

type runner struct {
	Seeded
	created     time.Time
	contacted   time.Time
	paused      bool
	access      string
	timeout     int // seconds, 0: none
	note        string
	value       string // the token itself
	tokenSerial int
	managers    []*manager
	cursor      int // grows when there is something new to ask for
	createdBy   *Person
	everSeen    bool
	registered  bool // by a registration token
}

type manager struct {
	id                int
	systemID          string
	version, revision string
	platform, arch    string
	executor, address string
	created, contact  time.Time
}

type job struct {
	SeedJob
	token      string
	created    time.Time
	started    time.Time
	finished   time.Time
	runner     *runner // stays when the registration is gone
	manager    *manager
	log        []byte
	logged     int // bytes said to have been sent; more than len(log) once the cap is reached
	failure    string
	cancelable bool // the agent understands "canceling"
}

// Server is a GitLab. Safe for concurrent use.
type Server struct {
	o     Options
	clock clock.Clock

	mu           sync.Mutex
	runners      []*runner
	jobs         []*job
	data         Data
	registration string
	nextRunner   int
	nextManager  int
}

// Options are what a server is made of; all but Faults are required.
type Options struct {
	Data   Data
	ID     string // the lab's id, said in every answer
	Clock  clock.Clock
	Ledger *ledger.Ledger
	Vault  *vault.Vault
	Faults *fault.Switch
}

// New makes a server that has what data says. URL has to be set before it answers.
func New(o Options) (*Server, error) {
	if o.Faults == nil {
		o.Faults = &fault.Switch{}
	}
	s := &Server{o: o, clock: o.Clock, data: o.Data, nextRunner: o.Data.NewRunner, nextManager: 900}
	var err error
	if s.registration, err = o.Vault.Get("gr", "registration-token", "gitlab: instance settings"); err != nil {
		return nil, err
	}
	for _, f := range []func() error{s.seedRunners, s.seedJobs, s.seedVariables} {
		if err := f(); err != nil {
			return nil, fmt.Errorf("seed the lab's GitLab: %w", err)
		}
	}
	return s, nil
}

// RegistrationToken is what lets a machine register anew.
func (s *Server) RegistrationToken() string { return s.registration }

// Handler serves /api/v4 and answers everything else with 404.
func (s *Server) Handler() http.Handler { return s.wrap(s.routes()) }

func (s *Server) project(id int) *Project {
	for i := range s.data.Projects {
		if s.data.Projects[i].ID == id {
			return &s.data.Projects[i]
		}
	}
	return nil
}

func (s *Server) group(id int) *Group {
	for i := range s.data.Groups {
		if s.data.Groups[i].ID == id {
			return &s.data.Groups[i]
		}
	}
	return nil
}

func (s *Server) runner(id int) *runner {
	for _, r := range s.runners {
		if r.ID == id {
			return r
		}
	}
	return nil
}

// byToken finds the runner that a token opens. The empty token opens nothing.
func (s *Server) byToken(token string) *runner {
	for _, r := range s.runners {
		if token != "" && r.value == token {
			return r
		}
	}
	return nil
}

func (s *Server) job(id int) *job {
	for _, j := range s.jobs {
		if j.ID == id {
			return j
		}
	}
	return nil
}

func (r *runner) target() string { return fmt.Sprintf("runner/%d", r.ID) }

func (j *job) target() string { return fmt.Sprintf("job/%d", j.ID) }

// Bounds that keep a lab that runs for days small.
const (
	maxRunners  = 1000
	maxManagers = 100
	maxJobs     = 2000
	maxTrace    = 1 << 20
	jobTimeout  = time.Hour
)
