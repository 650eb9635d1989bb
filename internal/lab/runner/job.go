package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// lengthVariable says how many seconds a pretended job takes.
const lengthVariable = "LAB_JOB_SECONDS"

// running is a job that this agent pretends to run.
type running struct {
	id, project int
	token       string
	repo        string
	started     time.Time
	takes       time.Duration
	log         []byte
	sent        int
}

func (j *running) path() string { return "/api/v4/jobs/" + strconv.Itoa(j.id) }

func (j *running) say(text string) { j.log = append(j.log, text+"\n"...) }

func (j *running) sum() string { return fmt.Sprintf("crc32:%08x", crc32.ChecksumIEEE(j.log)) }

// take starts the job of a 201.
func (a *Agent) take(ctx context.Context, r reply) {
	var p struct {
		ID      int    `json:"id"`
		Token   string `json:"token"`
		JobInfo struct {
			ProjectID int `json:"project_id"`
		} `json:"job_info"`
		GitInfo struct {
			RepoURL string `json:"repo_url"`
		} `json:"git_info"`
		Variables []struct{ Key, Value string } `json:"variables"`
	}
	if err := json.Unmarshal(r.body, &p); err != nil {
		a.log("warning", "Checking for jobs... failed", fields{"correlation_id": r.id, "runner": a.short(), "status": "couldn't decode response: " + err.Error()})
		return
	}
	j := &running{id: p.ID, project: p.JobInfo.ProjectID, token: p.Token, repo: p.GitInfo.RepoURL, started: a.c.Clock.Now(), takes: CheckInterval}
	var env []string
	for _, v := range p.Variables {
		env = append(env, v.Key+"="+v.Value)
		if n, err := strconv.Atoi(v.Value); v.Key == lengthVariable && err == nil && n > 0 {
			j.takes = time.Duration(n) * time.Second
		}
	}
	a.jobs = append(a.jobs, j)
	a.log("info", "Checking for jobs... received", fields{"correlation_id": r.id, "job": j.id, "repo_url": j.repo, "runner": a.short()})
	a.update(ctx, j, "running", "")
	a.log("info", "Added job to processing list", a.list(j))
	a.host.JobStarted(j.id, env)
	j.say("Running with gitlab-runner 18.6.0 (5a021a1c)")
	j.say("  on " + a.c.Name + " " + a.short() + ", system ID: " + a.c.SystemID)
}

// step is one trace interval of a job.
func (a *Agent) step(ctx context.Context, j *running) {
	if a.c.Clock.Now().Sub(j.started) >= j.takes {
		j.say("Job succeeded")
		a.log("info", "Job succeeded", a.about(j, fields{"duration_s": a.c.Clock.Now().Sub(j.started).Seconds(), "job-status": "success"}))
		a.send(ctx, j)
		a.finish(ctx, j, "success", "")
		return
	}
	j.say("$ /bin/true # step at " + a.c.Clock.Now().Format(time.RFC3339))
	switch status, said := a.send(ctx, j); {
	case status == http.StatusForbidden:
		a.refused(ctx, j)
	case said == "canceling" || said == "canceled":
		a.canceled(ctx, j)
	}
}

// refused: the server does not want to hear of the job any more. The job's own
// context is gone by then, so what comes after the script fails too (recorded).
func (a *Agent) refused(ctx context.Context, j *running) {
	a.log("warning", "after_script failed, but job will continue unaffected: context canceled", a.about(j, nil))
	a.log("warning", "Error while executing file based variables removal script", a.about(j, fields{"error": "context canceled"}))
	a.canceled(ctx, j)
}

func (a *Agent) canceled(ctx context.Context, j *running) {
	j.say("ERROR: Job failed: canceled")
	a.log("warning", "Job failed: canceled", a.about(j, fields{
		"duration_s": a.c.Clock.Now().Sub(j.started).Seconds(), "error": "canceled", "exit_code": 0,
		"failure_reason": "job_canceled", "job-status": "failed",
	}))
	a.send(ctx, j)
	a.finish(ctx, j, "failed", "job_canceled")
}

func (a *Agent) finish(ctx context.Context, j *running, state, reason string) {
	a.update(ctx, j, state, reason)
	a.jobs = slices.DeleteFunc(a.jobs, func(x *running) bool { return x == j })
	a.host.JobEnded(j.id)
	a.log("info", "Removed job from processing list", a.list(j))
}

// abandon is what SIGTERM does to running jobs. The time is real and short: the
// process is about to be gone.
func (a *Agent) abandon(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	for _, j := range append([]*running(nil), a.jobs...) {
		j.say("ERROR: Job failed (system failure): aborted: terminated")
		a.send(ctx, j)
		a.finish(ctx, j, "failed", "runner_system_failure")
	}
}
