package github

import "time"

// Repo is one repository.
type Repo struct {
	ID           int           `yaml:"id"`
	Path         string        `yaml:"path"` // OWNER/NAME
	Public       bool          `yaml:"public"`
	Fork         bool          `yaml:"fork"`
	Secrets      []Secret      `yaml:"secrets"`
	Dependabot   []Secret      `yaml:"dependabot"`
	Variables    []Variable    `yaml:"variables"`
	Environments []Environment `yaml:"environments"`
	Keys         []DeployKey   `yaml:"deploy_keys"`
	Workflows    []Workflow    `yaml:"workflows"`
	Files        []File        `yaml:"files"`
	Caches       []Cache       `yaml:"caches"`
	Artifacts    []Artifact    `yaml:"artifacts"`
	Releases     []Release     `yaml:"releases"`
	Deployments  []Deployment  `yaml:"deployments"`
	Commits      []Commit      `yaml:"commits"`
	Pulls        []Pull        `yaml:"pulls"`
	Team         string        `yaml:"team"`       // that owns it
	Properties   []Property    `yaml:"properties"` // custom ones
}

// Environment has secrets and variables of its own.
type Environment struct {
	ID        int        `yaml:"id"`
	Name      string     `yaml:"name"`
	Secrets   []Secret   `yaml:"secrets"`
	Variables []Variable `yaml:"variables"`
}

// DeployKey is a public key; the private half may be planted on a host.
type DeployKey struct {
	ID       int           `yaml:"id"`
	Title    string        `yaml:"title"`
	Secret   string        `yaml:"secret"`
	ReadOnly bool          `yaml:"read_only"`
	AddedBy  string        `yaml:"added_by"`
	Age      time.Duration `yaml:"age"`

	public string
}

// Workflow is one file of .github/workflows.
type Workflow struct {
	ID    int           `yaml:"id"`
	Name  string        `yaml:"name"`
	Path  string        `yaml:"path"`
	State string        `yaml:"state"` // active ("") or disabled_manually
	Age   time.Duration `yaml:"age"`
}

// File is text that the contents API gives.
type File struct {
	Path string `yaml:"path"`
	Text string `yaml:"text"`
}

// Cache is one entry of the Actions cache.
type Cache struct {
	ID      int           `yaml:"id"`
	Key     string        `yaml:"key"`
	Ref     string        `yaml:"ref"`
	Version string        `yaml:"version"`
	Size    int           `yaml:"size"` // bytes
	Ago     time.Duration `yaml:"ago"`
}

// Artifact was uploaded by a run.
type Artifact struct {
	ID   int           `yaml:"id"`
	Name string        `yaml:"name"`
	Run  int           `yaml:"run"`
	Size int           `yaml:"size"` // bytes
	Ago  time.Duration `yaml:"ago"`
}

// Release is a published one, with its tag.
type Release struct {
	ID     int           `yaml:"id"`
	Tag    string        `yaml:"tag"`
	Author string        `yaml:"author"`
	Ago    time.Duration `yaml:"ago"`
}

// Deployment went to an environment.
type Deployment struct {
	ID          int           `yaml:"id"`
	Ref         string        `yaml:"ref"`
	Environment string        `yaml:"environment"`
	Creator     string        `yaml:"creator"`
	State       string        `yaml:"state"` // of its last status; "" means success
	Ago         time.Duration `yaml:"ago"`
}

// Commit touched the files at Paths.
type Commit struct {
	SHA     string        `yaml:"sha"`
	Author  string        `yaml:"author"`
	Message string        `yaml:"message"`
	Paths   []string      `yaml:"paths"`
	Ago     time.Duration `yaml:"ago"`
}

// Pull is a pull request. Association is how GitHub calls its author here.
type Pull struct {
	Number      int    `yaml:"number"`
	Author      string `yaml:"author"`
	Association string `yaml:"association"`
	From        string `yaml:"from"` // OWNER/NAME of the head repository
	Ref         string `yaml:"ref"`
}

// Property is one value of a custom property.
type Property struct {
	Name  string `yaml:"name"`
	Value string `yaml:"value"`
}
