package ghrunner

import (
	"encoding/json"
	"path"
	"time"
)

// WorkerLog is how a worker's log of _diag begins (src/Runner.Worker/Worker.cs): it
// holds the whole message of the job, with the secrets masked.
func WorkerLog(j Job, at time.Time) []string {
	line := func(from, text string) string {
		return "[" + at.UTC().Format("2006-01-02 15:04:05Z") + " INFO " + from + "] " + text
	}
	var context []any
	for _, kv := range [][2]string{
		{"repository", j.Repository}, {"run_id", j.RunID}, {"job", j.Name}, {"ref", j.Ref}, {"sha", j.SHA}, {"actor", j.Actor}, {"event_name", j.Event}, {"workflow", j.Workflow},
	} {
		context = append(context, map[string]string{"k": kv[0], "v": kv[1]})
	}
	b, err := json.MarshalIndent(map[string]any{
		"messageType": "PipelineAgentJobRequest", "jobId": j.ID, "jobDisplayName": j.Name, "jobName": j.Name,
		"variables": map[string]any{
			"system.github.job": map[string]any{"value": j.Name}, "system.github.token": map[string]any{"value": "***", "isSecret": true},
			"github_token": map[string]any{"value": "***", "isSecret": true},
		},
		"contextData": map[string]any{"github": map[string]any{"t": 2, "d": context}},
	}, " ", "  ")
	if err != nil {
		panic(err) // only maps of plain values are encoded here
	}
	return []string{
		line("Worker", "Waiting to receive the job message from the channel."), line("Worker", "Message received."),
		line("Worker", "Job message:\n "+string(b)), line("JobRunner", "Job ID "+j.ID),
	}
}

// tracked is PipelineFolder.json (src/Runner.Worker/TrackingConfig.cs).
type tracked struct {
	RepositoryName     string                `json:"repositoryName"`
	PipelineDirectory  string                `json:"pipelineDirectory"`
	WorkspaceDirectory string                `json:"workspaceDirectory"`
	Repositories       map[string]repository `json:"repositories"`
	LastRunOn          string                `json:"LastRunOn"`
}

type repository struct {
	RepositoryPath string `json:"repositoryPath"`
	LastRunOn      string `json:"LastRunOn"`
}

// Mapping is what a runner keeps about each repository that it worked for.
func Mapping(repo string, at time.Time) any {
	name := path.Base(repo)
	last := at.UTC().Format("01/02/2006 15:04:05 -07:00")
	return tracked{
		RepositoryName: repo, PipelineDirectory: name, WorkspaceDirectory: name + "/" + name, LastRunOn: last,
		Repositories: map[string]repository{repo: {name + "/" + name, last}},
	}
}
