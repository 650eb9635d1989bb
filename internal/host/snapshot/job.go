package snapshot

import (
	"time"

	"cordon/internal/untrusted"
)

// Job is one job that the host's own files say it ran: a GitHub runner's Worker log, a
// line of its Runner log, or the record of repositories that it keeps in its work
// directory. It is the host's word, and the owner of the host can take it back or
// invent it. Times are on the host's clock; a zero time or an empty text is one that the
// file does not say.
type Job struct {
	Root       untrusted.Text `json:"root"`                 // of the installation that ran it
	From       untrusted.Text `json:"from"`                 // the file that says so
	Source     string         `json:"source"`               // JobWorkerLog, JobRunnerLog or JobMapping
	Name       untrusted.Text `json:"name,omitempty"`       // as the provider displays it
	Repository untrusted.Text `json:"repository,omitempty"` // owner/name
	Workflow   untrusted.Text `json:"workflow,omitempty"`
	Event      untrusted.Text `json:"event,omitempty"`
	Actor      untrusted.Text `json:"actor,omitempty"`
	Ref        untrusted.Text `json:"ref,omitempty"`
	SHA        untrusted.Text `json:"sha,omitempty"`
	RunID      string         `json:"run_id,omitempty"`  // digits: the number of the run in the provider's API
	Attempt    string         `json:"attempt,omitempty"` // digits
	JobKey     untrusted.Text `json:"job_key,omitempty"` // the job's key in the workflow file
	JobID      untrusted.Text `json:"job_id,omitempty"`  // a GUID of the service, not the API's number
	Started    time.Time      `json:"started,omitzero"`
	Ended      time.Time      `json:"ended,omitzero"`
	Result     untrusted.Text `json:"result,omitempty"` // as the agent wrote it: Succeeded, Failed, Canceled
}

// Words of Job.Source.
const (
	JobWorkerLog = "worker log"     // one job each, with repository and run
	JobRunnerLog = "runner log"     // name, times and result; no repository
	JobMapping   = "work directory" // a repository that ran here, and when it did last (Started)
)
