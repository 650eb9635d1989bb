// Package ghrunner is a simulated GitHub runner: a real HTTP client that holds a
// session at the broker, waits for messages there and reacts as actions/runner does
// (src/Runner.Listener: BrokerMessageListener.cs, Runner.cs, Program.cs;
// facts/github.md §2.3), which depends on how old it is.
//
// What it is, it reads from its directory, so that a copy of the files is the runner
// and a wiped directory is none. It executes nothing: a job is a pretended one. It
// imports internal/clock, internal/lab/dial, golang-jwt and the standard library.
package ghrunner

import (
	"context"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"cordon/internal/clock"
	"cordon/internal/lab/dial"
)

// Return codes (src/Runner.Common/Constants.cs).
const (
	ExitOK         = 0
	ExitTerminated = 1
	ExitConflict   = 5
)

// Host is where a listener lives: what it says and holds shows there. Log is a line of
// _diag/Runner_*.log, Say one of its terminal.
type Host interface {
	dial.Seen
	Log(line string)
	Say(line string)
	JobStarted(j Job)
	JobLog(j Job, line string)
	JobEnded(j Job)
}

// Config is one listener.
type Config struct {
	Dir     string // its directory, as this process sees it
	Version string
	Machine string // name of the host
	PID     int
	From    netip.Addr // where connections come from
	Clock   clock.Clock
}

// Listener polls until its Run ends. Create with New; State is safe for concurrent use.
type Listener struct {
	c      Config
	host   Host
	client *http.Client
	files  files

	access  string
	session string
	failed  bool // the last attempt to connect did

	mu    sync.Mutex
	state State
	job   *working
}

// State is what a test may want to know of a listener.
type State struct {
	Polls     int
	Last      int       // status of the last request to the broker; 0: none yet, or no answer
	LastPoll  time.Time // lab time
	Unhealthy bool      // it has no session
	Jobs      int
}

// New makes a listener that has not started.
func New(c Config, h Host) *Listener {
	return &Listener{c: c, host: h, client: dial.Client(c.From, h, 4, 2*time.Minute)}
}

// State is a copy.
func (l *Listener) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.state
	if l.job != nil {
		s.Jobs = 1
	}
	s.Unhealthy = l.session == ""
	return s
}

// Run works until ctx ends or it ends by itself, and returns its exit code. At the end
// of ctx it gives up its job and its session as a terminated listener does.
func (l *Listener) Run(ctx context.Context) int {
	defer l.client.CloseIdleConnections()
	l.log("INFO", "Listener", "Runner is built for Linux (X64) - linux-x64.")
	l.log("INFO", "Listener", "Version: "+l.c.Version)
	f, err := readFiles(l.c.Dir)
	if err != nil {
		l.complain("Runner is not configured.")
		return ExitTerminated
	}
	l.files = f
	l.log("INFO", "ConfigurationStore", "Read setting file: "+strconv.Itoa(f.agent.AgentID)+" "+f.agent.AgentName)
	code := l.work(ctx)
	l.say("Exiting...")
	l.log("INFO", "Listener", "Runner execution has finished with return code "+strconv.Itoa(code))
	return code
}

func (l *Listener) work(ctx context.Context) int {
	if code, ok := l.connect(ctx); !ok {
		return code
	}
	l.say("Current runner version: '" + l.c.Version + "'")
	l.say(l.utc() + ": Listening for Jobs")
	code := l.listen(ctx)
	l.dropJob()
	bye, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if l.session != "" {
		l.log("INFO", "Runner", "Deleting Runner Session...")
		_, _ = l.call(bye, http.MethodDelete, l.files.agent.ServerURLV2+"session", l.access, nil) // the process is about to be gone
	}
	return code
}

// generation is how it takes a deletion (facts/github.md §2.3).
func (l *Listener) generation() string {
	switch {
	case older(l.c.Version, "2.321.0"):
		return "old" // retries for ever
	case older(l.c.Version, "2.336.0"):
		return "middle" // ends with an error
	}
	return "new" // wipes itself and ends well
}

func older(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		m, _ := strconv.Atoi(x[i]) // not a number: 0
		n, _ := strconv.Atoi(y[i])
		if m != n {
			return m < n
		}
	}
	return false
}
