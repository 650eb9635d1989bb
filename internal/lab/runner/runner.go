// Package runner is a simulated gitlab-runner: a real HTTP client that asks for jobs
// from its host's address and reacts as gitlab-runner 18.6.0 was measured to do
// (facts/real-agents.md, recordings in testdata).
//
// One goroutine does everything on a clock that a test may let jump, so that an hour
// of silence takes no time and its order never varies. It executes nothing: a job is
// a pretended one. It imports internal/clock, internal/lab/dial and the standard library.
package runner

import (
	"context"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"cordon/internal/clock"
	"cordon/internal/lab/dial"
)

// Defaults of gitlab-runner (common/consts.go).
const (
	CheckInterval     = 3 * time.Second
	UnhealthyInterval = time.Hour
	UnhealthyLimit    = 3
	idleAfter         = 90 * time.Second // an unused connection is closed after this
)

// Host is where an agent lives: what it says and holds shows there. Calls come from
// the agent's goroutine or its HTTP client's, never after Run returned.
type Host interface {
	Log(line []byte)
	Connected(local, remote netip.AddrPort)
	Disconnected(local netip.AddrPort)
	JobStarted(id int, env []string)
	JobEnded(id int)
}

// Config is one [[runners]] entry and what surrounds it.
type Config struct {
	URL       string // of the GitLab, no trailing slash
	Token     string
	SystemID  string
	Name      string
	From      netip.Addr // where connections come from
	Builds    int        // "concurrent"; 0 means 1
	Unhealthy time.Duration
	Defiant   bool // ignores its own back-off
	Clock     clock.Clock
}

// Agent polls until its Run ends. Create with New; State is safe for concurrent use.
type Agent struct {
	c      Config
	host   Host
	client *http.Client

	lastUpdate string
	failures   int
	lastCheck  time.Time // last healthy answer or forced check
	lastCall   time.Time
	jobs       []*running
	correlate  uint64

	mu    sync.Mutex
	state State
}

// State is what a test may want to know of an agent.
type State struct {
	Polls     int       `json:"polls"`
	Last      int       `json:"last_status"` // of the last poll; 0: none yet, or no answer
	LastPoll  time.Time `json:"last_poll"`   // lab time
	Unhealthy bool      `json:"unhealthy"`
	Jobs      int       `json:"jobs"`
}

// seen is h, or nothing where there is no host.
func seen(h Host) dial.Seen {
	if h == nil {
		return nil
	}
	return h
}

// New makes an agent that has not started.
func New(c Config, h Host) *Agent {
	if c.Builds == 0 {
		c.Builds = 1
	}
	if c.Unhealthy == 0 {
		c.Unhealthy = UnhealthyInterval
	}
	return &Agent{c: c, host: h, client: dial.Client(c.From, seen(h), 1, 20*time.Second)}
}

// State is a copy.
func (a *Agent) State() State {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.state
}

// Run works until ctx ends, then gives up its jobs as a terminated gitlab-runner does
// and closes its connections.
func (a *Agent) Run(ctx context.Context) {
	defer a.client.CloseIdleConnections()
	a.lastCheck = a.c.Clock.Now()
	a.log("info", "Usage logger disabled", fields{"builds": 0, "max_builds": a.c.Builds})
	a.log("info", "Configuration loaded", fields{"builds": 0, "max_builds": a.c.Builds})
	next := a.c.Clock.Now()
	for {
		a.tick(ctx)
		next = next.Add(CheckInterval)
		now := a.c.Clock.Now()
		if next.Before(now) {
			next = now
		}
		if a.c.Clock.Wait(ctx, next.Sub(now)) != nil {
			break
		}
	}
	a.abandon(context.WithoutCancel(ctx))
}

// tick is what happens every check interval: jobs send their logs, and if there is
// room and the runner is healthy, one job is asked for.
func (a *Agent) tick(ctx context.Context) {
	for _, j := range append([]*running(nil), a.jobs...) {
		a.step(ctx, j)
	}
	if len(a.jobs) < a.c.Builds && a.healthy() && ctx.Err() == nil {
		a.poll(ctx)
	}
	if a.c.Clock.Now().Sub(a.lastCall) > idleAfter {
		a.client.CloseIdleConnections()
	}
	a.mu.Lock()
	a.state.Jobs, a.state.Unhealthy = len(a.jobs), a.failures >= UnhealthyLimit && !a.c.Defiant
	a.mu.Unlock()
}

// healthy is health_helper.go: after too many refusals nothing is asked until the
// interval since the last healthy or forced check is over.
func (a *Agent) healthy() bool {
	if a.failures < UnhealthyLimit || a.c.Defiant {
		return true
	}
	if a.c.Clock.Now().Sub(a.lastCheck) < a.c.Unhealthy {
		return false
	}
	a.log("warning", a.quoted()+" is not healthy, but check for a new job will be forced!", fields{
		"unhealthy_interval": a.c.Unhealthy.Nanoseconds(), "unhealthy_requests": a.failures, "unhealthy_requests_limit": UnhealthyLimit,
	})
	a.failures, a.lastCheck = 0, a.c.Clock.Now()
	return true
}

func (a *Agent) judge(ok bool) {
	if ok {
		a.failures, a.lastCheck = 0, a.c.Clock.Now()
		return
	}
	a.failures++
	if a.failures == UnhealthyLimit && !a.c.Defiant {
		a.log("error", a.quoted()+" is unhealthy and will be disabled for "+a.c.Unhealthy.String()+" seconds!", fields{
			"unhealthy_requests": a.failures, "unhealthy_requests_limit": UnhealthyLimit,
		})
	}
}
