package github

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// examples are the official ones of an answer, by their name.
func (d description) examples(t *testing.T, method, path string) map[string]json.RawMessage {
	t.Helper()
	route, _ := d.find(method, fill(path))
	if route == nil {
		t.Fatalf("%s %s is not described", method, path)
	}
	out := map[string]json.RawMessage{}
	for status, resp := range route.Operation.Responses.Map() {
		if !strings.HasPrefix(status, "2") || resp.Value.Content.Get("application/json") == nil {
			continue
		}
		for name, ex := range resp.Value.Content.Get("application/json").Examples {
			if ex.Value == nil || ex.Value.Value == nil {
				continue
			}
			b, err := json.Marshal(ex.Value.Value)
			if err != nil {
				t.Fatal(err)
			}
			out[status+" "+name] = b
		}
	}
	return out
}

// TestOfficialExamplesLoseNoFieldThatIsUsed decodes every official example of what this
// part reads and writes it again: what the design names has to be there with its value.
func TestOfficialExamplesLoseNoFieldThatIsUsed(t *testing.T) {
	d := described(t)
	for _, c := range []struct {
		method, path string
		to           func([]byte) (any, error)
		fields       []string // by dots; [] goes into a list
	}{
		{"GET", "/orgs/{org}/actions/runners", into[wireRunners], []string{"total_count", "runners[].id", "runners[].name", "runners[].os", "runners[].status", "runners[].busy", "runners[].ephemeral", "runners[].version", "runners[].labels[].name", "runners[].labels[].type"}},
		{"GET", "/orgs/{org}/actions/runners/{runner_id}", into[wireRunner], []string{"id", "name", "os", "status", "busy", "ephemeral", "version", "labels[].id", "labels[].name", "labels[].type"}},
		{"GET", "/enterprises/{enterprise}/actions/runners", into[wireRunners], []string{"total_count", "runners[].id", "runners[].version"}},
		{"GET", "/repos/{owner}/{repo}/actions/runners/{runner_id}", into[wireRunner], []string{"id", "ephemeral", "version"}},
		{"GET", "/orgs/{org}/actions/runner-groups", into[groupPage], []string{"total_count", "runner_groups[].id", "runner_groups[].name", "runner_groups[].visibility", "runner_groups[].default", "runner_groups[].inherited", "runner_groups[].allows_public_repositories", "runner_groups[].restricted_to_workflows", "runner_groups[].workflow_restrictions_read_only", "runner_groups[].selected_workflows"}},
		{"GET", "/orgs/{org}/actions/runner-groups/{runner_group_id}", into[group], []string{"id", "name", "visibility", "default", "inherited", "allows_public_repositories", "restricted_to_workflows", "workflow_restrictions_read_only", "selected_workflows", "network_configuration_id"}},
		{"GET", "/enterprises/{enterprise}/actions/runner-groups/{runner_group_id}", into[group], []string{"id", "name", "visibility", "default", "allows_public_repositories", "restricted_to_workflows", "selected_workflows"}},
		{"POST", "/orgs/{org}/actions/runner-groups", into[group], []string{"id", "visibility"}},
		{"GET", "/orgs/{org}/actions/runner-groups/{runner_group_id}/repositories", into[memberPage], []string{"total_count", "repositories[].id", "repositories[].full_name", "repositories[].pushed_at"}},
		{"GET", "/enterprises/{enterprise}/actions/runner-groups/{runner_group_id}/organizations", into[memberPage], []string{"total_count", "organizations[].id", "organizations[].login"}},
		{"GET", "/orgs/{org}/actions/runner-groups/{runner_group_id}/runners", into[wireRunners], []string{"total_count", "runners[].id", "runners[].labels[].name"}},
		{"PUT", "/orgs/{org}/actions/runners/{runner_id}/labels", into[labelPage], []string{"labels[].name", "labels[].type"}},
		{"GET", "/repos/{owner}/{repo}/actions/runs", into[wireRuns], []string{"total_count", "workflow_runs[].id", "workflow_runs[].status", "workflow_runs[].event", "workflow_runs[].head_branch", "workflow_runs[].run_attempt", "workflow_runs[].triggering_actor.login", "workflow_runs[].path", "workflow_runs[].head_sha"}},
		{"GET", "/repos/{owner}/{repo}/actions/runs/{run_id}/jobs", into[wireJobs], []string{"total_count", "jobs[].id", "jobs[].run_id", "jobs[].status", "jobs[].name", "jobs[].labels", "jobs[].runner_id", "jobs[].runner_name", "jobs[].started_at", "jobs[].completed_at", "jobs[].head_sha"}},
		{"GET", "/repos/{owner}/{repo}/keys/{key_id}", into[deployKey], []string{"id", "key", "title", "read_only", "added_by", "created_at", "last_used", "enabled"}},
		{"GET", "/repos/{owner}/{repo}/actions/caches", into[cachePage], []string{"total_count", "actions_caches[].id", "actions_caches[].ref", "actions_caches[].key", "actions_caches[].version", "actions_caches[].created_at", "actions_caches[].last_accessed_at", "actions_caches[].size_in_bytes"}},
		{"GET", "/repos/{owner}/{repo}/actions/runs/{run_id}/artifacts", into[artifactPage], []string{"total_count", "artifacts[].id", "artifacts[].name", "artifacts[].size_in_bytes", "artifacts[].expired", "artifacts[].created_at", "artifacts[].expires_at", "artifacts[].digest", "artifacts[].workflow_run.id"}},
		{"GET", "/repos/{owner}/{repo}/actions/artifacts/{artifact_id}", into[runArtifact], []string{"id", "name", "digest", "size_in_bytes"}},
		{"GET", "/orgs/{org}/installations", into[installationPage], []string{"installations[].id", "installations[].app_id", "installations[].app_slug"}},
		// what the other parts of the package read
		{"GET", "/orgs/{org}/actions/runner-groups", into[groupPage], []string{"total_count", "runner_groups[].id", "runner_groups[].name", "runner_groups[].visibility", "runner_groups[].default", "runner_groups[].inherited"}},
		{"GET", "/repos/{owner}/{repo}/actions/secrets", into[wireSecrets], []string{"total_count", "secrets[].name", "secrets[].created_at", "secrets[].updated_at"}},
		{"GET", "/repos/{owner}/{repo}/actions/organization-secrets", into[wireSecrets], []string{"secrets[].name", "secrets[].updated_at"}},
		{"GET", "/orgs/{org}/dependabot/secrets", into[wireSecrets], []string{"secrets[].name", "secrets[].updated_at", "secrets[].visibility"}},
		{"GET", "/repos/{owner}/{repo}/dependabot/secrets", into[wireSecrets], []string{"secrets[].name", "secrets[].updated_at"}},
		{"GET", "/repos/{owner}/{repo}/environments/{environment_name}/secrets", into[wireSecrets], []string{"secrets[].name", "secrets[].updated_at"}},
		{"GET", "/repos/{owner}/{repo}/actions/variables", into[wireVariables], []string{"variables[].name", "variables[].created_at", "variables[].updated_at"}},
		{"GET", "/repos/{owner}/{repo}/keys", into[[]wireKey], []string{"[].id", "[].title", "[].read_only", "[].created_at", "[].last_used", "[].added_by"}},
		{"GET", "/repos/{owner}/{repo}/actions/caches", into[wireCaches], []string{"actions_caches[].id", "actions_caches[].key", "actions_caches[].ref", "actions_caches[].created_at"}},
		{"GET", "/repos/{owner}/{repo}/actions/artifacts", into[wireArtifacts], []string{"artifacts[].id", "artifacts[].name", "artifacts[].created_at", "artifacts[].expires_at"}},
		{"GET", "/orgs/{org}/audit-log", into[[]wireAudit], []string{"[].action", "[].actor", "[].created_at", "[].@timestamp", "[].org"}},
		{"GET", "/repos/{owner}/{repo}/actions/jobs/{job_id}", into[wireJob], []string{"id", "run_id", "status", "name", "runner_id", "runner_name", "started_at"}},
		{"GET", "/repos/{owner}/{repo}/actions/runs/{run_id}", into[wireRun], []string{"id", "head_branch", "head_sha", "path", "event", "status", "run_attempt", "workflow_id", "created_at", "updated_at", "actor.login", "triggering_actor.login", "head_repository.full_name"}},
	} {
		examples := d.examples(t, c.method, c.path)
		if len(examples) == 0 {
			t.Errorf("%s %s has no official example", c.method, c.path)
		}
		for name, raw := range examples {
			v, err := c.to(raw)
			if err != nil {
				t.Errorf("%s %s: %s: %v", c.method, c.path, name, err)
				continue
			}
			again, _ := json.Marshal(v)
			for _, f := range c.fields {
				want, have := valuesAt(raw, f), valuesAt(again, f)
				if len(want) == 0 || fmt.Sprint(want) != fmt.Sprint(have) {
					t.Errorf("%s %s: %s: %s is %v, was decoded as %v", c.method, c.path, name, f, want, have)
				}
			}
		}
	}
	if len(valuesAt([]byte(`{"a":[{"b":1},{"b":2}]}`), "a[].b")) != 2 || len(valuesAt([]byte(`{"a":[]}`), "a[].b")) != 0 {
		t.Error("control: values are not found")
	}
}

// Pages whose form is only written where they are decoded.
type (
	labelPage struct {
		Labels []wireLabel `json:"labels"`
	}
	installationPage struct {
		List []appInstallation `json:"installations"`
	}
)

func into[T any](raw []byte) (any, error) { return decode[T](answer{Status: 200, Body: raw}) }

// valuesAt are the values of a field, times in one form; null and what is not there are none.
func valuesAt(raw []byte, path string) []string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	at := []any{v}
	for part := range strings.SplitSeq(path, ".") {
		name, list := strings.CutSuffix(part, "[]")
		var next []any
		for _, x := range at {
			m, _ := x.(map[string]any)
			y := m[name]
			if name == "" {
				y = x // a bare list
			}
			if l, ok := y.([]any); ok && list {
				next = append(next, l...)
			} else if y != nil {
				next = append(next, y)
			}
		}
		at = next
	}
	var out []string
	for _, x := range at {
		s := fmt.Sprint(x)
		if when, err := time.Parse(time.RFC3339, s); err == nil {
			s = when.UTC().Format(time.RFC3339)
		}
		out = append(out, s)
	}
	return out
}
