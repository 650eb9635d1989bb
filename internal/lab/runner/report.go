package runner

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

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
