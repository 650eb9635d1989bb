package github

import (
	"context"
	"crypto/rsa"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"cordon/internal/clock"
	"cordon/internal/lab/fault"
	"cordon/internal/lab/ledger"
	"cordon/internal/lab/vault"
)

// Levels of a scope.
const (
	enterprise   = "enterprise"
	organization = "organization"
	repository   = "repository"
)

// scope is where a runner or a group is registered.
type scope struct{ level, path string }

func (s scope) String() string { return s.level + ":" + s.path }

func scopeOf(text string) (scope, error) {
	level, path, ok := strings.Cut(text, ":")
	if !ok || path == "" || level != enterprise && level != organization && level != repository {
		return scope{}, fmt.Errorf("scope %q is not enterprise:, organization: or repository: and a path", text)
	}
	return scope{level, path}, nil
}

type group struct {
	SeedGroup
	scope scope
}

func (g *group) target() string { return g.scope.String() + "/group/" + strconv.Itoa(g.ID) }

type runner struct {
	Seeded
	scope    scope
	fixed    []string // read-only labels
	clientID string
	key      string // what its listener proves itself with
	access   string // what the token service gives it
	created  time.Time
	session  *session // nil: offline
	job      *job     // nil: idle
}

func (r *runner) target() string { return r.scope.String() + "/runner/" + strconv.Itoa(r.ID) }

type run struct {
	SeedRun
	number    int
	created   time.Time
	updated   time.Time
	cancelled bool
	jobs      []*job
}

func (r *run) target() string { return "repository:" + r.Repo + "/run/" + strconv.Itoa(r.ID) }

type job struct {
	SeedJob
	run        *run
	status     string // queued, in_progress, completed
	conclusion string
	created    time.Time
	started    time.Time
	completed  time.Time
	runnerName string
	groupID    int
	groupName  string
	runnerID   int // stays when the registration is gone
	token      string
	renewed    time.Time // by its worker
}

func (j *job) target() string { return "repository:" + j.run.Repo + "/job/" + strconv.Itoa(j.ID) }

// Server is a GitHub. Safe for concurrent use.
type Server struct {
	o     Options
	clock clock.Clock

	start    time.Time // ages of the scenario count from here
	mu       sync.Mutex
	data     Data
	groups   []*group
	runners  []*runner
	gone     []*runner // deleted ones whose listeners may still come
	runs     []*run
	creds    []*cred
	keys     map[int]*rsa.PublicKey // of Apps, by id
	minted   map[string]registration
	actions  map[string]*policy // of organizations and repositories, by scope
	suspend  map[int]time.Time  // installations
	log      []auditEntry
	trouble  []*Trouble
	waiting  map[*session]context.CancelFunc
	serial   int
	nextPool int
}

// Options are what a server is made of; all but Faults, Wall and Stuck are required.
type Options struct {
	Data   Data
	ID     string // the lab's id, said in every answer
	Clock  clock.Clock
	Ledger *ledger.Ledger
	Vault  *vault.Vault
	Faults *fault.Switch
	Wall   clock.Clock // the clock that Apps sign by, which no lab makes faster; nil: Clock
	Stuck  int         // the runner that cannot be deleted under the fault busy-422
}

// New makes a server that has what data says.
func New(o Options) (*Server, error) {
	if o.Faults == nil {
		o.Faults = &fault.Switch{}
	}
	if o.Wall == nil {
		o.Wall = o.Clock
	}
	s := &Server{
		o: o, clock: o.Clock, start: o.Clock.Now(), data: o.Data, keys: map[int]*rsa.PublicKey{}, minted: map[string]registration{},
		actions: map[string]*policy{}, suspend: map[int]time.Time{}, waiting: map[*session]context.CancelFunc{}, nextPool: 1,
	}
	for _, f := range []func() error{s.seedPeople, s.seedGroups, s.seedRunners, s.seedRuns, s.seedKeys} {
		if err := f(); err != nil {
			return nil, fmt.Errorf("seed the lab's GitHub: %w", err)
		}
	}
	return s, nil
}

// Handler serves /api/v3 and /_services and answers everything else with 404.
func (s *Server) Handler() http.Handler { return s.wrap(s.routes()) }

// Bounds that keep a lab that runs for days small.
const (
	maxRunners  = 20000
	maxRuns     = 4000
	maxAudit    = 4000
	searchLimit = 1000 // results of a filtered search of runs
)
