package gitlab

import (
	"fmt"
	"net/http"
)

// LengthVariable tells a simulated agent how long to pretend to work, in seconds. A
// stock gitlab-runner hands it to the script as any other variable.
const LengthVariable = "LAB_JOB_SECONDS"

// payload is the job as a runner gets it (gitlab-runner common/spec Job). Its git
// strategy is none, so that a stock runner runs the script without a repository.
func (s *Server) payload(j *job, r *http.Request) map[string]any {
	p := s.project(j.Project)
	base := "http://" + r.Host
	script := j.Script
	if len(script) == 0 {
		script = []string{"/bin/true"}
	}
	timeout := int(jobTimeout.Seconds())
	if j.runner.timeout > 0 {
		timeout = j.runner.timeout
	}
	return map[string]any{
		"id": j.ID, "token": j.token, "allow_git_fetch": true,
		"job_info": map[string]any{
			"id": j.ID, "name": j.Name, "stage": j.Stage, "project_id": p.ID, "project_name": p.Name, "project_full_path": p.Path,
			"namespace_id": p.Group, "root_namespace_id": p.Group, "organization_id": 1, "time_in_queue_seconds": 0, "project_jobs_running_on_instance_runners_count": "0",
		},
		"git_info": map[string]any{
			"repo_url": base + "/" + p.Path + ".git", "ref": j.Ref, "sha": sha(j), "before_sha": fmt.Sprintf("%040d", 0),
			"ref_type": "branch", "refspecs": []string{"+refs/heads/" + j.Ref + ":refs/remotes/origin/" + j.Ref}, "depth": 20,
			"repo_object_format": "sha1",
		},
		"runner_info": map[string]any{"timeout": timeout, "runner_session_url": ""},
		"variables":   s.jobVariables(j, base),
		"steps": []any{
			map[string]any{"name": "script", "script": script, "timeout": timeout, "when": "on_success", "allow_failure": false},
		},
		"inputs": []any{}, "hooks": []any{}, "image": nil, "services": []any{}, "artifacts": []any{}, "cache": []any{}, "credentials": []any{},
		"dependencies": []any{},
		"features": map[string]any{
			"trace_sections": true, "token_mask_prefixes": []string{"glpat-"}, "failure_reasons": []string{"runner_system_failure", "job_canceled", "script_failure"},
		},
	}
}

func (s *Server) jobVariables(j *job, base string) []any {
	p := s.project(j.Project)
	v := func(key, value string, public, masked, file bool) any {
		return map[string]any{"key": key, "value": value, "public": public, "masked": masked, "file": file, "raw": true}
	}
	out := []any{
		v("CI", "true", true, false, false),
		v("GITLAB_CI", "true", true, false, false),
		v("CI_SERVER_URL", base, true, false, false),
		v("CI_API_V4_URL", base+"/api/v4", true, false, false),
		v("CI_JOB_ID", fmt.Sprint(j.ID), true, false, false),
		v("CI_JOB_NAME", j.Name, true, false, false),
		v("CI_JOB_TOKEN", j.token, false, true, false),
		v("CI_RUNNER_SHORT_TOKEN", short(j.runner.value), true, false, false),
		v("CI_PROJECT_PATH", p.Path, true, false, false),
		v("CI_COMMIT_SHA", sha(j), true, false, false),
		v("CI_COMMIT_REF_NAME", j.Ref, true, false, false),
		v("GIT_STRATEGY", "none", true, false, false),
		v(LengthVariable, fmt.Sprint(int(j.Takes.Seconds())), true, false, false),
	}
	lists := [][]Variable{p.Variables, s.data.Variables}
	if g := s.group(p.Group); g != nil {
		lists = append(lists, g.Variables)
	}
	for _, l := range lists {
		for _, x := range l {
			if x.Protected && j.Ref != "main" {
				continue
			}
			out = append(out, v(x.Key, x.value, false, x.Masked, x.File))
		}
	}
	return out
}
