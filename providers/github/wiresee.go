package github

import (
	"errors"
	"time"
)

// wireRun is a run of a workflow, of all its attempts: created_at stays when it is run
// again, run_attempt, run_started_at and updated_at change.
type wireRun struct {
	ID         int64     `json:"id"`
	Branch     string    `json:"head_branch"`
	SHA        string    `json:"head_sha"`
	Path       string    `json:"path"` // of the workflow's file; "dynamic/…" for those of GitHub
	Event      string    `json:"event"`
	Status     string    `json:"status"`
	Attempt    int       `json:"run_attempt"`
	Workflow   int64     `json:"workflow_id"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
	StartedAt  time.Time `json:"run_started_at"`
	Actor      wireUser  `json:"actor"`
	Triggering wireUser  `json:"triggering_actor"` // who ran it again
	Head       *struct {
		Full string `json:"full_name"`
	} `json:"head_repository"` // null: it is gone
	Referenced []struct {
		Path string `json:"path"` // OWNER/REPO/.github/workflows/FILE@REF
	} `json:"referenced_workflows"`
}

type wireUser struct {
	Login string `json:"login"`
	Type  string `json:"type"` // User, Organization, Bot
}

type wireRuns struct {
	Total *int      `json:"total_count"`
	Runs  []wireRun `json:"workflow_runs"`
}

// wireJob is one attempt of one job. The runner's fields are null until one took it, and
// the id is unique only in the scope that the runner is registered to.
type wireJob struct {
	ID          int64     `json:"id"`
	RunID       int64     `json:"run_id"`
	Attempt     int       `json:"run_attempt"`
	SHA         string    `json:"head_sha"`
	Status      string    `json:"status"`
	Conclusion  string    `json:"conclusion"`
	CreatedAt   time.Time `json:"created_at"`
	StartedAt   time.Time `json:"started_at"`
	CompletedAt time.Time `json:"completed_at"`
	Name        string    `json:"name"`
	Labels      []string  `json:"labels"`
	RunnerID    int64     `json:"runner_id"`   // 0: none
	RunnerName  string    `json:"runner_name"` // "": none
	Branch      string    `json:"head_branch"`
}

type wireJobs struct {
	Total *int      `json:"total_count"`
	Jobs  []wireJob `json:"jobs"`
}

// wireRepo is a repository in a list or alone.
type wireRepo struct {
	Full     string    `json:"full_name"`
	Branch   string    `json:"default_branch"`
	PushedAt time.Time `json:"pushed_at"`
	Archived bool      `json:"archived"`
	Owner    wireUser  `json:"owner"`
}

type wireGroupRepos struct {
	Total *int       `json:"total_count"`
	Repos []wireRepo `json:"repositories"`
}

type wireGroupOrgs struct {
	Total *int       `json:"total_count"`
	Orgs  []wireUser `json:"organizations"`
}

// wireWorkflow is a workflow, and since when it is known.
type wireWorkflow struct {
	ID        int64     `json:"id"`
	Name      string    `json:"name"`
	Path      string    `json:"path"`
	State     string    `json:"state"`
	CreatedAt time.Time `json:"created_at"`
}

type wireWorkflows struct {
	Total     *int           `json:"total_count"`
	Workflows []wireWorkflow `json:"workflows"`
}

// wireContent is a file of a repository.
type wireContent struct {
	Type     string `json:"type"`
	Encoding string `json:"encoding"`
	Content  string `json:"content"`
}

// wireCommit is a commit in a list; its message is not read.
type wireCommit struct {
	SHA    string    `json:"sha"`
	Author *wireUser `json:"author"` // null: no account of GitHub's
	Commit struct {
		Committer struct {
			Date time.Time `json:"date"`
		} `json:"committer"`
	} `json:"commit"`
}

var errShape = errors.New("a row without what it needs")

// runRows checks a page of runs. A total that is not told would hide the limit of 1,000.
func runRows(a answer) (wireRuns, error) {
	l, err := decode[wireRuns](a)
	if err != nil {
		return l, err
	}
	if l.Total == nil || *l.Total < 0 || l.Runs == nil {
		return l, malformed(a, "a list of runs without workflow_runs or total_count")
	}
	for _, r := range l.Runs {
		if r.ID <= 0 || r.CreatedAt.IsZero() {
			return l, malformed(a, errShape.Error())
		}
	}
	return l, nil
}

// jobRows checks a page of the jobs of a run.
func jobRows(a answer, run int64) (wireJobs, error) {
	l, err := decode[wireJobs](a)
	if err != nil {
		return l, err
	}
	if l.Total == nil || l.Jobs == nil {
		return l, malformed(a, "a list of jobs without jobs or total_count")
	}
	for _, j := range l.Jobs {
		if j.ID <= 0 || j.RunID != run {
			return l, malformed(a, "a job of another run, or without an id")
		}
	}
	return l, nil
}
