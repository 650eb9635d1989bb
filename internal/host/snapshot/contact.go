package snapshot

import (
	"regexp"
	"strings"
)

// Contact is what one line of an agent's log says about asking for jobs. The zero value
// says nothing about it. The wording is that of the agents: gitlab-runner, Gitea's and
// Buildkite's as recorded (api/agent-logs, facts/gitlab-gitea.md), GitHub's from
// actions/runner (facts/github.md §2.3).
type Contact struct {
	Answered bool // it was given an answer that only a living registration gets
	Refused  bool // it was told that it is not, or no longer, known
	Called   bool // it asked; whether and how it was answered is not said
	Ended    bool // and by that it stopped
	Conflict bool // another session uses the same identity
}

// Is reports whether the line says anything.
func (c Contact) Is() bool { return c != Contact{} }

// saying pairs a text with what it says. The first that fits counts, so that what
// refuses comes before what only mentions a call.
type saying struct {
	has  []string // all of them
	says Contact
}

var (
	answered = Contact{Answered: true}
	refused  = Contact{Refused: true}
	ended    = Contact{Refused: true, Ended: true}
	called   = Contact{Called: true}
	conflict = Contact{Called: true, Conflict: true}
)

var sayings = []saying{
	// actions/runner and its sibling of Azure Pipelines
	{[]string{"The runner no longer exists on the server"}, ended},
	{[]string{"Runner registration no longer exists"}, ended},
	{[]string{"The runner registration has been deleted from the server"}, ended},
	{[]string{"The agent registration has been deleted"}, ended},
	{[]string{"OAuth token has been revoked"}, ended},
	{[]string{"Registration was not found or is not medium trust"}, refused},
	{[]string{"Access denied. System:ServiceIdentity"}, refused},
	{[]string{"Stop retry on SessionConflictException"}, Contact{Called: true, Conflict: true, Ended: true}},
	{[]string{"A session for this runner already exists"}, conflict},
	{[]string{"A session for this agent already exists"}, conflict},
	{[]string{"connect error: ", "invalid_client"}, refused},
	{[]string{"connect error: ", "Unauthorized"}, refused},
	{[]string{"connect error: ", "Forbidden"}, refused},
	{[]string{"connect error: ", "Retrying until reconnected"}, called},
	{[]string{"Listening for Jobs"}, answered},
	{[]string{"Listening for jobs"}, answered},
	{[]string{"Runner reconnected."}, answered},
	{[]string{"Agent reconnected."}, answered},
	{[]string{"Running job: "}, answered},
	{[]string{"No message retrieved", "within last 30 minutes"}, answered},
	{[]string{"Message '", "received"}, answered},
	{[]string{"Job request ", " received."}, answered},
	{[]string{"Successfully renew job"}, answered},
	{[]string{"Listener: Session created."}, answered},
	// gitea/runner, act_runner, forgejo-runner
	{[]string{"fail to invoke Declare", "unregistered runner"}, ended},
	{[]string{"failed to fetch task", "unregistered runner"}, refused},
	{[]string{"failed to fetch task", "nauthenticated"}, refused},
	{[]string{"failed to fetch task"}, called},
	{[]string{"declare successfully"}, answered},
	// buildkite-agent
	{[]string{"Ping failed with unrecoverable status: 401"}, ended},
	{[]string{"Ping failed with unrecoverable status"}, Contact{Called: true, Ended: true}},
	{[]string{"failed to ping:", "401 Unauthorized"}, refused},
	{[]string{"failed to ping:"}, called},
	{[]string{"/v3/heartbeat:"}, called},
	{[]string{"Waiting for instructions..."}, answered},
	{[]string{"Successfully registered agent"}, answered},
	{[]string{"Agent has resumed after being paused"}, answered},
	{[]string{"Assigned job "}, answered},
	// jenkins remoting
	{[]string{"The server rejected the connection"}, refused},
}

var giteaTask = regexp.MustCompile(`\btask [0-9]{1,18} repo is `)

// Contact reads the line. 204s and the like, which say that there is no job, are logged
// by none of the agents.
func (l LogLine) Contact() Contact {
	text := string(l.Text)
	switch { // gitlab-runner: what follows its front decides
	case strings.Contains(text, "Checking for jobs"):
		switch {
		case strings.Contains(text, "forbidden"), strings.Contains(text, "403 Forbidden"), strings.Contains(text, "401 Unauthorized"):
			return refused
		case strings.Contains(text, "received"):
			return answered
		}
		return Contact{}
	case strings.Contains(text, "Submitting job to coordinator"), strings.Contains(text, "Appending trace to coordinator"):
		switch {
		case strings.Contains(text, "403"):
			return refused
		case strings.Contains(text, "ok"):
			return answered
		}
		return Contact{}
	}
	for _, s := range sayings {
		all := true
		for _, part := range s.has {
			all = all && strings.Contains(text, part)
		}
		if all {
			return s.says
		}
	}
	if giteaTask.MatchString(text) {
		return answered
	}
	return Contact{}
}

// agentLogs tell by the name of a unit or a log file which kind of agent writes there;
// the words are the names of their executables (facts/host.md §1).
var agentLogs = []struct{ prefix, agent string }{
	{"gitlab-runner", "gitlab-runner"},
	{"actions.runner.", "Runner.Listener"},
	{"Runner_", "Runner.Listener"},
	{"vsts.agent.", "Agent.Listener"},
	{"Agent_", "Agent.Listener"},
	{"act_runner", "act_runner"},
	{"act-runner", "act_runner"},
	{"gitea-runner", "act_runner"},
	{"gitea-act-runner", "act_runner"},
	{"forgejo-runner", "act_runner"},
	{"buildkite-agent", "buildkite-agent"},
	{"jenkins-", "java"},
}

// AgentOf names the kind of agent that a unit starts, or whose log has that name, ""
// where the name does not tell.
func AgentOf(unit string) string {
	for _, a := range agentLogs {
		if strings.HasPrefix(unit, a.prefix) {
			return a.agent
		}
	}
	return ""
}

// Root is the installation in whose directory the line's log lies, "" where it lies in
// none.
func (l LogLine) Root() string {
	if r := diagRoot(string(l.From)); r != "" {
		return r
	}
	r, _ := strings.CutSuffix(string(l.From), "/nohup.out")
	if r == string(l.From) {
		return ""
	}
	return r
}
