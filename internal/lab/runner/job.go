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

// send appends what is new to the job's trace and returns the HTTP status (0 where no
// answer came) and the job's status as the server says it.
func (a *Agent) send(ctx context.Context, j *running) (int, string) {
	part := j.log[j.sent:]
	span := fmt.Sprintf("%d-%d", j.sent, len(j.log)-1)
	r, err := a.call(ctx, http.MethodPatch, j.path()+"/trace", map[string]string{
		"JOB-TOKEN": j.token, "Content-Type": "text/plain", "Content-Range": span,
	}, part)
	if err != nil {
		return 0, ""
	}
	said := r.header.Get("Job-Status")
	f := fields{
		"code": r.status, "correlation_id": r.id, "job": j.id, "job-log": r.header.Get("Range"), "job-status": said,
		"runner": a.short(), "sent-log": span, "status": line(r.status), "update-interval": every(r),
	}
	if r.status != http.StatusAccepted {
		a.log("warning", "Appending trace to coordinator... job failed", f)
		return r.status, said
	}
	j.sent = len(j.log)
	a.log("info", "Appending trace to coordinator...ok", f)
	return r.status, said
}

func (a *Agent) update(ctx context.Context, j *running, state, reason string) {
	size, sum := len(j.log), ""
	if size > 0 {
		sum = j.sum()
	}
	body := fields{"token": j.token, "state": state, "checksum": sum, "info": a.info()}
	if reason != "" {
		body["failure_reason"] = reason
	}
	r, err := a.call(ctx, http.MethodPut, j.path(), nil, encode(body))
	f := fields{"bytesize": size, "checksum": sum, "correlation_id": r.id, "job": j.id, "runner": a.short()}
	a.log("info", "Updating job...", f)
	if err != nil {
		return
	}
	f["code"], f["job-status"], f["update-interval"] = r.status, r.header.Get("Job-Status"), 0
	if r.status == http.StatusOK {
		a.log("info", "Submitting job to coordinator...ok", f)
		return
	}
	f["status"] = a.said(http.MethodPut, j.path(), r.status)
	a.log("warning", "Submitting job to coordinator... job failed", f)
}

// every is the trace interval the server asks for, in nanoseconds.
func every(r reply) int64 {
	n, err := strconv.ParseInt(r.header.Get("X-GitLab-Trace-Update-Interval"), 10, 32)
	if err != nil {
		return 0
	}
	return n * int64(time.Second)
}

func (a *Agent) about(j *running, more fields) fields {
	f := fields{
		"gitlab_user_id": 0, "job": j.id, "namespace_id": 0, "organization_id": 0, "project": j.project, "project_full_path": "",
		"root_namespace_id": 0, "runner": a.short(),
	}
	for k, v := range more {
		f[k] = v
	}
	return f
}

func (a *Agent) list(j *running) fields {
	return a.about(j, fields{
		"builds": len(a.jobs), "max_builds": a.c.Builds, "queue_depth": 0, "queue_size": 0, "repo_url": j.repo,
		"runner": a.c.Name, "time_in_queue_seconds": 0,
	})
}
