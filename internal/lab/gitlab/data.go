// Package gitlab is the lab's GitLab: stateful on both sides, for people and for
// agents, so that cordon and a stock gitlab-runner can both be pointed at it.
//
// Shapes and semantics come from GitLab's description (runners.md, lib/api/ci) and
// from recordings of gitlab-runner 18.6.0 (facts/gitlab-gitea.md §1–2,
// facts/real-agents.md). It knows wire shapes only and no provider code; everything
// is behind one mutex, since nothing here is slow.
package gitlab

import "time"

// Data is what a scenario puts into a GitLab. Secrets are named by name; Vault makes them.
type Data struct {
	Version   string     `yaml:"version"`
	Revision  string     `yaml:"revision"`
	People    []Person   `yaml:"people"`
	Variables []Variable `yaml:"variables"` // of the instance
	Groups    []Group    `yaml:"groups"`
	Projects  []Project  `yaml:"projects"`
	Runners   []Seeded   `yaml:"runners"`
	Jobs      []SeedJob  `yaml:"jobs"`
	NewJobs   int        `yaml:"first_new_job"`    // ids of jobs that arrive later count from here
	NewRunner int        `yaml:"first_new_runner"` // ids of runners that register later count from here
}

// Person is one access token and whose it is. File is where the lab puts the token, if anywhere.
type Person struct {
	ID       int      `yaml:"id"`
	Username string   `yaml:"username"`
	Name     string   `yaml:"name"`
	Token    string   `yaml:"token"`
	File     string   `yaml:"file"`
	Scopes   []string `yaml:"scopes"`
	Admin    bool     `yaml:"admin"`
	Auditor  bool     `yaml:"auditor"`
	Projects []int    `yaml:"projects"` // maintains these
}

// Group has variables that every job of its projects sees.
type Group struct {
	ID        int        `yaml:"id"`
	Path      string     `yaml:"path"`
	Name      string     `yaml:"name"`
	Variables []Variable `yaml:"variables"`
}

// Project belongs to one group.
type Project struct {
	ID         int         `yaml:"id"`
	Path       string      `yaml:"path"`
	Name       string      `yaml:"name"`
	Group      int         `yaml:"group"`
	Variables  []Variable  `yaml:"variables"`
	DeployKeys []DeployKey `yaml:"deploy_keys"`
}

// Variable is a CI variable; its value is a secret of that name and shape.
type Variable struct {
	Key       string `yaml:"key"`
	Secret    string `yaml:"secret"`
	Shape     string `yaml:"shape"`
	Protected bool   `yaml:"protected"`
	Masked    bool   `yaml:"masked"`
	Hidden    bool   `yaml:"hidden"`
	File      bool   `yaml:"file"`
	Scope     string `yaml:"scope"`

	value string
}

// DeployKey is a public key; the private half may be planted on a host.
type DeployKey struct {
	ID      int    `yaml:"id"`
	Title   string `yaml:"title"`
	Secret  string `yaml:"secret"`
	CanPush bool   `yaml:"can_push"`

	public string
}

// Seeded is a runner that is registered when the lab starts.
type Seeded struct {
	ID          int           `yaml:"id"`
	Description string        `yaml:"description"`
	Type        string        `yaml:"type"` // instance_type, group_type, project_type
	Token       string        `yaml:"token"`
	Projects    []int         `yaml:"projects"`
	Groups      []int         `yaml:"groups"`
	Tags        []string      `yaml:"tags"`
	Untagged    bool          `yaml:"run_untagged"`
	Locked      bool          `yaml:"locked"`
	Age         time.Duration `yaml:"age"`
	Managers    []SeedManager `yaml:"managers"`
}

// SeedManager is a manager row that was there before; Seen is how long ago it last called.
type SeedManager struct {
	SystemID string        `yaml:"system_id"`
	Address  string        `yaml:"address"`
	Version  string        `yaml:"version"`
	Age      time.Duration `yaml:"age"`
	Seen     time.Duration `yaml:"seen"`
}

// SeedJob is a job that ran, runs or waits. Ago is how long ago it was created, Takes how
// long it runs or ran.
type SeedJob struct {
	ID      int           `yaml:"id"`
	Project int           `yaml:"project"`
	Name    string        `yaml:"name"`
	Stage   string        `yaml:"stage"`
	Ref     string        `yaml:"ref"`
	User    string        `yaml:"user"`
	Status  string        `yaml:"status"`
	Runner  int           `yaml:"runner"`
	Tags    []string      `yaml:"tags"`
	Ago     time.Duration `yaml:"ago"`
	Takes   time.Duration `yaml:"takes"`
	Script  []string      `yaml:"script"`
	Trace   string        `yaml:"trace"`
}
