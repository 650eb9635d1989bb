package gitlab

import "fmt"

func (s *Server) jobShape(j *job, who *Person) map[string]any {
	p := s.project(j.Project)
	out := map[string]any{
		"id": j.ID, "status": j.Status, "stage": j.Stage, "name": j.Name, "ref": j.Ref, "tag": false, "coverage": nil,
		"allow_failure": false, "created_at": stamp(j.created), "started_at": stamp(j.started), "finished_at": stamp(j.finished),
		"erased_at": nil, "duration": nil, "queued_duration": nil, "tag_list": orEmpty(j.Tags), "archived": false,
		"user":      map[string]any{"id": 70, "username": j.User, "name": j.User, "state": "active", "web_url": "http://gitlab.invalid/" + j.User},
		"commit":    commit(j),
		"pipeline":  map[string]any{"id": 5000 + j.ID, "project_id": j.Project, "sha": sha(j), "ref": j.Ref, "status": j.Status, "source": "push", "web_url": fmt.Sprintf("http://gitlab.invalid/%s/-/pipelines/%d", p.Path, 5000+j.ID)},
		"web_url":   fmt.Sprintf("http://gitlab.invalid/%s/-/jobs/%d", p.Path, j.ID),
		"project":   map[string]any{"ci_job_token_scope_enabled": false},
		"artifacts": []any{}, "artifacts_expire_at": nil, "runner": nil, "runner_manager": nil,
	}
	if !j.started.IsZero() {
		end := j.finished
		if end.IsZero() {
			end = s.clock.Now()
		}
		out["duration"], out["queued_duration"] = end.Sub(j.started).Seconds(), j.started.Sub(j.created).Seconds()
	}
	if j.failure != "" {
		out["failure_reason"] = j.failure
	}
	if j.runner != nil && s.runner(j.runner.ID) == j.runner {
		out["runner"] = s.basic(j.runner)
		if j.manager != nil {
			out["runner_manager"] = s.managerShape(j.runner, j.manager)
		}
	}
	return out
}

func commit(j *job) map[string]any {
	id := sha(j)
	return map[string]any{
		"id": id, "short_id": id[:8], "title": "Build " + j.Ref, "message": "Build " + j.Ref + "\n", "parent_ids": []string{},
		"author_name": j.User, "author_email": j.User + "@example.org", "authored_date": stamp(j.created),
		"committer_name": j.User, "committer_email": j.User + "@example.org", "committed_date": stamp(j.created), "created_at": stamp(j.created),
	}
}

// sha is a commit id that belongs to the job's branch in this lab.
func sha(j *job) string { return fmt.Sprintf("%08x%032x", 0x5eed0000+j.Project, j.ID) }
