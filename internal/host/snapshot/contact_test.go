package snapshot

import (
	"testing"

	"cordon/internal/untrusted"
)

func TestWhatAgentsSayAboutAskingForJobs(t *testing.T) {
	for text, want := range map[string]Contact{
		// recorded: gitlab-runner 18.6.0
		"error: Checking for jobs... forbidden runner=stub status=POST http://127.0.0.1:4020/api/v4/jobs/request: 403 Forbidden": {Refused: true},
		"info: Checking for jobs... received job=7 repo_url=https://gitlab.example.org/x.git runner=stub":                        {Answered: true},
		"info: Submitting job to coordinator...ok code=200 job=7":                                                                {Answered: true},
		"warning: Checking for jobs... failed":                                                                                   {},
		// recorded: Gitea's runner 1.0.8
		`time="2026-11-30T12:00:00Z" level=error msg="failed to fetch task" error="unauthenticated: Unauthenticated desc = unregistered runner"`: {Refused: true},
		`time="x" level=error msg="fail to invoke Declare" error="unregistered runner"`:                                                          {Refused: true, Ended: true},
		`level=error msg="failed to fetch task" error="connection refused"`:                                                                      {Called: true},
		`level=info msg="task 3 repo is acme/demo https://gitea.com http://x"`:                                                                   {Answered: true},
		// recorded: buildkite-agent 3.137.0
		`ERROR: Ping failed with unrecoverable status: 401 Unauthorized, mesage: "GET http://x/v3/ping: 401 Unauthorized"`: {Refused: true, Ended: true},
		"WARN: failed to ping: GET http://x/v3/ping: 500 Internal Server Error: boom":                                      {Called: true},
		"INFO: Waiting for instructions... agent=stub":                                                                     {Answered: true},
		// actions/runner, by its source
		"Terminal: The runner no longer exists on the server. Cleaning up local configuration.":                                                                                             {Refused: true, Ended: true},
		"Terminal: Failed to create a session. The runner registration has been deleted from the server, please re-configure.":                                                              {Refused: true, Ended: true},
		"Runner: Runner OAuth token has been revoked. Shutting down.":                                                                                                                       {Refused: true, Ended: true},
		"Terminal: 2026-11-30 12:00:00Z: Runner connect error: Registration 1 was not found. Registration was not found or is not medium trust. ClientType: x. Retrying until reconnected.": {Refused: true},
		"Terminal: 2026-11-30 12:00:00Z: Runner connect error: Name or service not known. Retrying until reconnected.":                                                                      {Called: true},
		"Terminal: A session for this runner already exists.":                                                                                                                               {Called: true, Conflict: true},
		"Terminal: Stop retry on SessionConflictException after retried for 240 seconds.":                                                                                                   {Called: true, Conflict: true, Ended: true},
		"Terminal: 2026-11-30 12:00:00Z: Listening for Jobs":                                                                                                                                {Answered: true},
		"Terminal: 2026-11-30 12:00:00Z: Running job: build":                                                                                                                                {Answered: true},
		"MessageListener: No message retrieved from session 'x' within last 30 minutes.":                                                                                                    {Answered: true},
		"Terminal: √ Connected to GitHub":                                                                                                                                                   {}, // printed before anything was asked
		"something else":                                                                                                                                                                    {},
	} {
		if got := (LogLine{Text: untrusted.Text(text)}).Contact(); got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}
