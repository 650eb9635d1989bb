package github

import "time"

// SeedGroup is a runner group. A scope always has one that is Default.
type SeedGroup struct {
	ID         int      `yaml:"id"`
	Scope      string   `yaml:"scope"`
	Name       string   `yaml:"name"`
	Default    bool     `yaml:"default"`
	Visibility string   `yaml:"visibility"` // all (""), selected, private
	Repos      []string `yaml:"repos"`      // of an organization's group that is selected
	Orgs       []string `yaml:"orgs"`       // of an enterprise's group that is selected
	Public     bool     `yaml:"allows_public_repositories"`
	Workflows  []string `yaml:"selected_workflows"` // not empty: restricted to them
}

// Seeded is a runner that is registered when the lab starts. Secret names what its
// listener proves itself with; a listener of the lab has it in its tree.
type Seeded struct {
	ID        int           `yaml:"id"`
	Scope     string        `yaml:"scope"`
	Name      string        `yaml:"name"`
	OS        string        `yaml:"os"`
	Arch      string        `yaml:"arch"`
	Labels    []string      `yaml:"labels"` // custom ones
	Group     int           `yaml:"group"`  // 0: the default of its scope, none for a repository's
	Version   string        `yaml:"version"`
	Ephemeral bool          `yaml:"ephemeral"`
	Secret    string        `yaml:"secret"`
	Age       time.Duration `yaml:"age"`
}

// SeedRun is one workflow run with its jobs.
type SeedRun struct {
	ID         int           `yaml:"id"`
	Repo       string        `yaml:"repo"`
	Workflow   int           `yaml:"workflow"`
	Event      string        `yaml:"event"`
	Branch     string        `yaml:"branch"`
	SHA        string        `yaml:"sha"`
	Actor      string        `yaml:"actor"`
	Fork       string        `yaml:"fork"` // OWNER/NAME the head comes from, where that is another repository
	Pull       int           `yaml:"pull"`
	Conclusion string        `yaml:"conclusion"` // "": not completed
	Attempt    int           `yaml:"attempt"`    // 0 means 1
	Ago        time.Duration `yaml:"ago"`
	Jobs       []SeedJob     `yaml:"jobs"`
}

// SeedJob is one job of a run. Takes is how long it ran or will run.
type SeedJob struct {
	ID          int           `yaml:"id"`
	Name        string        `yaml:"name"`
	Labels      []string      `yaml:"labels"`
	Runner      int           `yaml:"runner"`
	Attempt     int           `yaml:"attempt"`     // 0: the run's
	Environment string        `yaml:"environment"` // whose secrets it gets
	After       time.Duration `yaml:"after"`       // the run began, of a later attempt
	Takes       time.Duration `yaml:"takes"`
}

// History is many finished runs of one workflow that no case is about: what is usual
// here. They are of people in turn, in working hours, one every Every back from From.
type History struct {
	Repo     string        `yaml:"repo"`
	Workflow int           `yaml:"workflow"`
	First    int           `yaml:"first"` // number of the first run
	Count    int           `yaml:"count"`
	Actors   []string      `yaml:"actors"`
	From     time.Duration `yaml:"from"` // how long ago the newest was
	Every    time.Duration `yaml:"every"`
	Labels   []string      `yaml:"labels"`
}

// runs are the history as runs. start is when the lab began.
func (h History) runs(start time.Time) []SeedRun {
	var out []SeedRun
	for i := range h.Count {
		at := start.Add(-h.From - time.Duration(i)*h.Every).UTC()
		at = time.Date(at.Year(), at.Month(), at.Day(), 9+i%8, 7*i%60, 0, 0, time.UTC)
		id := h.First + i
		out = append(out, SeedRun{
			ID: id, Repo: h.Repo, Workflow: h.Workflow, Event: "push", Branch: "main", Actor: h.Actors[i%len(h.Actors)], Conclusion: "success", Ago: start.Sub(at),
			Jobs: []SeedJob{{ID: 10 * id, Name: "build", Labels: h.Labels, Takes: 3 * time.Minute}},
		})
	}
	return out
}
